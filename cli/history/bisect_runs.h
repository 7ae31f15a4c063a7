/* bisect_runs.h: the runs of each commit, stored ones and new ones, with their values of the figure that is searched by. */
#ifndef CLEAR_CLI_HISTORY_BISECT_RUNS_H
#define CLEAR_CLI_HISTORY_BISECT_RUNS_H

#include <stdint.h>

#include "cli/history/bisect_git.h"
#include "query/history/side_test.h"
#include "schema/db.h"

struct bisect_commit {
    char *hash;
    struct side_values values;
    int64_t *runs; /* ids, one for each value */
};

struct bisect_runs {
    const char *figure, *of; /* as of run_value (query/history/run_values.h) */
    struct bisect_commit **commits;
    size_t count;
};

/* The commit of that hash; made if it is not there. */
struct bisect_commit *bisect_runs_commit(struct bisect_runs *runs, const char *hash);
/* It, or NULL if it has no runs. */
struct bisect_commit *bisect_runs_find(const struct bisect_runs *runs, const char *hash);

struct bisect_stored {
    const char *command; /* as in the table runs */
    const char *host;    /* only of this one; NULL: of any */
    const char *search;  /* only with this value of the tag `bisect`; NULL: any */
    bool takes_failed;   /* runs whose program failed too */
};
/* Adds the stored runs of the command that have a tag git_commit or commit with one of these commits, whole or at least seven
 * characters of it. Runs that are not over or do not have the figure are left out. */
int bisect_runs_load(struct bisect_runs *runs, struct db *db, const struct bisect_stored *stored,
                     const struct bisect_commits *range, struct error *err);
/* Adds a run. 1: it was added; 0: it does not have the figure; -1: the error is set. */
int bisect_runs_add(struct bisect_runs *runs, struct db *db, const char *hash, int64_t run_id, struct error *err);
void bisect_runs_free(struct bisect_runs *runs);

#endif
