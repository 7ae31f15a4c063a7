/* run_or_file.h: opens what a command reads: the warehouse, or files that the user named instead of runs.
 *
 * "/...", "./...", "../...", "-" (standard input) and URLs (ingest/read/fetch.h) are files. Any other name is a run of the warehouse where one is
 * called so (query/runs/select.h), else the file or the directory NAME.profile/ that exists. Files are read into a private
 * warehouse that goes with the command; the one of --db is then not written, and need not exist. */
#ifndef CLEAR_CLI_RUN_OR_FILE_H
#define CLEAR_CLI_RUN_OR_FILE_H

#include "ingest/read/fetch.h"
#include "query/runs/run_set.h"
#include "schema/db.h"

/* How URLs among the names are fetched; a command that has options for it sets them before target_open. */
extern struct fetch_options target_fetch;

/* Opens for reading what `names` are about: each names a run or a file, behind `prefix` ("" or "run="); names without the
 * prefix are passed over, and so is NULL. A name that turns out to be a file is replaced by the number of the run that
 * it became (with the prefix; the text lives as long as the process), so that select_run finds it. Runs and files at
 * once are a usage error. Where db->is_private, db->path is the first file. `option` is that of --db. */
int target_open(struct db *db, const char *option, const char *prefix, const char **names, size_t count,
                struct error *err);

/* What a name turned out to be. */
struct target_name {
    const char *name;
    int64_t file_run; /* the run of `files` that a file was read into; 0: `name` is for run_set_add, in `db` */
};

/* The same without a prefix, but runs and files may stand side by side: `db` is then the warehouse, and `files` (zeroed
 * otherwise) a private one. */
int target_open_both(struct db *db, struct db *files, const char *option, struct target_name *names, size_t count,
                     struct error *err);

/* Runs and files at once, several a word. Two warehouses are then open: the one of --db, and a private one with the files;
 * each is there only where something needed it. A zeroed struct with `option`, that of --db, is an empty one. */
struct targets {
    const char *option;
    struct db warehouse, files; /* `handle` is NULL where none is open */
};

/* Adds what a word names to `runs` (zeroed at first; run_list_free it): a run, a file, a set of runs
 * (query/runs/run_set.h), or several of these with commas between them. */
int targets_add(struct targets *targets, const char *word, struct run_list *runs, struct error *err);
void targets_close(struct targets *targets);

#endif
