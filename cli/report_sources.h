/* report_target.h: what a report is about: targets (runs, sets of runs, files, URLs) less bases, loaded once for any number
 * of reports. */
#ifndef CLEAR_CLI_REPORT_SOURCES_H
#define CLEAR_CLI_REPORT_SOURCES_H

#include "query/code/source_files.h"
#include "query/report/report_runs.h"
#include "query/runs/run_set.h"
#include "schema/db.h"

/* A list of words from the command line; the words are not its own. */
struct word_list {
    const char **items; /* NULL after the last one */
    size_t count;
};
void word_list_add(struct word_list *words, const char *word);

struct target_name;

/* Zeroed, then filled with what was asked for, then opened, then loaded. */
struct report_target {
    const char *db, *kind; /* asked for; each may be NULL */
    struct report_overrides overrides;
    struct word_list targets, bases; /* no target: the latest run. A program before the targets is an override */
    const char *type;                /* the one sample type that is needed (profile_load_type); NULL: all */
    bool is_diff;                    /* of the bases */
    bool normalize;                  /* to the total of the bases */

    struct db handle; /* of report_target_open: the warehouse, or a private one that the files were read into */
    struct db files;  /* the private one where there are runs and files; else its `handle` is NULL */
    struct target_name *names; /* of report_target_open: what the targets, then the bases, turned out to be */
    char *chosen;              /* of report_target_load: the kind that was loaded */
    char *title;               /* likewise: of the targets, for pictures */
    struct sources sources;
};

/* Opens the warehouse, or reads the files among the words: those words become the numbers of their runs. The profile of a
 * URL is asked for here. report_target_close it, whatever comes of it. */
int report_target_open(struct report_target *target, struct error *err);
/* Adds the runs of `words` (target->targets, target->bases); none is the latest one. The set has those of `handle` alone, the
 * list all. */
int report_target_list(struct report_target *target, const struct word_list *words, struct run_list *runs,
                       struct error *err);
int report_target_runs(struct report_target *target, const struct word_list *words, struct run_set *runs,
                       struct error *err);
/* The targets less the bases, ready for report_write, and their sources into target->sources. On failure there is nothing
 * to free. */
int report_target_load(struct report_target *target, struct profile *profile, struct error *err);
/* The report of query/report/report_runs.h on the targets, where report_runs_wanted(options); nothing need be loaded. */
int report_target_write_runs(struct report_target *target, const struct report_format *format,
                             const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                             struct error *err);
/* Closes the warehouse alone, where nothing more is asked of it. */
int report_target_close_db(struct report_target *target, struct error *err);
void report_target_close(struct report_target *target);

#endif
