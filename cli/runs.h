/* runs.h: prints the list of runs: for `clear runs` and the prompt of `clear report`. */
#ifndef CLEAR_CLI_RUNS_H
#define CLEAR_CLI_RUNS_H

#include <stdbool.h>

#include "query/runs/run_set.h"
#include "schema/db.h"

struct runs_shown {
    const struct run_set *only; /* NULL: all runs of the warehouse */
    int64_t last;               /* the newest of them alone; 0: all of them */
    const char *search, *kind;  /* those with this text in label, command, source or tags; with that kind; NULL: all */
    int64_t before;             /* those that are older than this run; 0: all */
    bool is_json;               /* an array, with all columns */
    const char *since, *until;  /* those that started on this day (UTC, YYYY-MM-DD) or later, or earlier; NULL: all */
};

/* On standard output, newest first. On a terminal the table has its width: columns that matter less are left out, and
 * long texts are cut. 0, or -1 with the error set. */
int runs_print(struct db *db, const struct runs_shown *shown, struct error *err);

#endif
