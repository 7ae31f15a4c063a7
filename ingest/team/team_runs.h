/* team_runs.h: the runs of a store that a set names. A set is one word, nearly as for a file (query/runs/run_set.h); a store has no
 * numbers for runs:
 *   all              every run of the project
 *   latest           the newest by start
 *   UUID             the run whose uuid begins with it (8 or more characters)
 *   KEY=VALUE, NAME  the newest with that tag, with that label
 *   all:NAME         every run with that label; with that tag if NAME is KEY=VALUE
 *   tag:KEY=VALUE    every run with that tag
 *   last=N           the N newest of the runs before it in the same word; of all runs if nothing is before it
 *   SET,SET,...      all of these together */
#ifndef CLEAR_INGEST_TEAM_TEAM_RUNS_H
#define CLEAR_INGEST_TEAM_TEAM_RUNS_H

#include "ingest/team/pull.h"

struct team_runs {
    struct team_run_item {
        struct team_run_name name;
        int64_t started_ns;
    } * items; /* oldest first */
    size_t count;
};

/* No run is a usage error. team_runs_free it, whatever it returns. */
int team_runs_find(struct team_runs *runs, struct team *team, const char *set, struct error *err);
/* The same in a transaction, whose project is not moved. */
int team_runs_find_here(struct team_runs *runs, struct team *team, const char *set, struct error *err);
/* Those with the command of the newest run of the project. No run is a usage error. */
int team_runs_alike(struct team_runs *runs, struct team *team, struct error *err);
/* How many runs the project has. */
int team_runs_count(struct team *team, int64_t *count, struct error *err);
void team_runs_free(struct team_runs *runs);

#endif
