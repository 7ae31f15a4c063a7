/* sources.h: what a report is about: targets (runs, sets of runs, files, URLs) minus bases, loaded once for
 * any number of reports. */
#ifndef CLEAR_CLI_REPORT_SOURCES_H
#define CLEAR_CLI_REPORT_SOURCES_H

#include "cli/name_addresses.h"
#include "cli/run_or_file.h"
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

/* Start with a zeroed struct, set what was asked for, then open, then load. It must not move once it is open. */
struct report_target {
    const char *db, *kind; /* the values of --db and --kind, or NULL */
    struct report_overrides overrides;
    struct address_naming naming;
    struct fetch_options fetch; /* of URLs */
    struct word_list targets,
        bases;                    /* no target: the latest run. A program before the targets is an override, and names
                                          * their addresses */
    const char *type;             /* the only sample type that is needed (profile_load); NULL: all */
    struct timespan_request span; /* that part of each run */
    struct timespan_request base_span; /* and of each base; none is asked for: the same part */
    bool is_diff;                      /* of the bases */
    bool normalize;                    /* to the total of the bases */

    struct targets open;             /* of report_target_open: the warehouses */
    struct run_list runs, base_runs; /* likewise: the runs of `targets` and `bases`, of the open warehouses */
    char *chosen;                    /* of report_target_load: the kind that was loaded */
    bool
        opens_on_telling; /* without --kind: the one that has most to say (query/runs/telling_kind.h), else the first */
    struct buffer why;    /* of report_target_load: why that kind, or that type; empty: it is the first
                                      */
    const char *telling_type;  /* likewise: the sample type that goes with it; NULL: the kind's own */
    struct buffer other_kinds; /* likewise: "cpu, lock"; empty where --kind was given */
    char *base_title;          /* likewise: of the bases; NULL: there is none */
    char *title;               /* likewise: of the targets, for pictures */
    struct sources sources;
};

/* Finds the runs, and reads the files and URLs among the words into a private warehouse. report_target_close it in
 * any case. */
int report_target_open(struct report_target *target, struct error *err);
/* The warehouse of the runs, or if there are only files, the private one that they were read into. */
struct db *report_target_db(struct report_target *target);
/* Adds the runs of that warehouse. */
void report_target_runs(struct report_target *target, struct run_set *runs);
/* Loads the targets minus the bases, ready for report_write, and their sources into target->sources. On failure there
 * is nothing to free. */
int report_target_load(struct report_target *target, struct profile *profile, struct error *err);
/* The report of query/report/report_runs.h on the targets, where report_runs_wanted(options); nothing need be loaded. */
int report_target_write_runs(struct report_target *target, const struct report_format *format,
                             const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                             struct error *err);
/* Closes the warehouse alone, where nothing more is asked of it. */
int report_target_close_db(struct report_target *target, struct error *err);
void report_target_close(struct report_target *target);

#endif
