/* run_or_file.h: opens what a command reads: the warehouse, or files that the user named instead of runs.
 *
 * * A name that begins with "/", "./" or "../", "-" (standard input) and a URL (ingest/read/fetch.h) are files. Any
 * other name is a run if the warehouse has one of that name (query/runs/select.h), else the file or the directory
 * NAME.profile/ that exists. Files are read into a private warehouse, which is removed when the command ends; the
 * warehouse of --db is not written and need not exist. */
#ifndef CLEAR_CLI_RUN_OR_FILE_H
#define CLEAR_CLI_RUN_OR_FILE_H

#include "ingest/read/fetch.h"
#include "query/runs/run_set.h"
#include "schema/db.h"

/* Opens `db` for reading: the warehouse, or a private one with the files among `names`. Names that do not begin with
 * `prefix` ("" or "run=") are ignored, and so is NULL. A name that is a file is replaced by the number of the run
 * that it was read into (with the prefix; the text lives as long as the process), so that select_run finds it. Runs
 * and files together are a usage error. If db->is_private, db->path is the first file. `option` is the value of --db.
 * db_close it. */
int target_open(struct db *db, const char *option, const char *prefix, const char **names, size_t count,
                struct error *err);

/* Whether it is an ELF file: before the profiles it is the program that they are of, as in pprof. */
bool run_or_file_is_program(const char *name);

/* Runs and files together. Two warehouses may be open: the one of --db, and a private one with the files; each is
 * opened when a word needs it. Start with a zeroed struct with `option`; it must not move while a run_list names its
 * warehouses. */
struct targets {
    const char *option;                /* the value of --db, or NULL */
    const struct fetch_options *fetch; /* how URLs are fetched; NULL: the defaults */
    struct db warehouse, files;        /* `handle` is NULL if it is not open */
};

/* Adds the runs of a word to `runs` (zeroed at first; run_list_free it): a run, a file, a set of runs
 * (query/runs/run_set.h), or several of these separated by commas. 0, or -1 with the error set. */
int targets_add(struct targets *targets, const char *word, struct run_list *runs, struct error *err);
/* 1: the word is a file; 0: it is a run; -1: the error is set. */
int targets_is_file(struct targets *targets, const char *word, struct error *err);
int targets_close(struct targets *targets, struct error *err);

#endif
