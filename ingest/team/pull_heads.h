/* pull_heads.h: what lists of many runs show, without the runs: of each run the rows of `runs`, its tags, pin, processes, profiles and totals. The
 * other tables have no rows of such a run, so only views that need no more are true of it. */
#ifndef CLEAR_INGEST_TEAM_PULL_HEADS_H
#define CLEAR_INGEST_TEAM_PULL_HEADS_H

#include "ingest/team/team_runs.h"

/* With `are_wanted`, the database has no pins, processes and profiles, but a temporary view `series` of the figures that the store keeps in rows:
 * all but those of functions, sites and findings. With `of`, what these allocated too. */
struct head_figures {
    bool are_wanted;
    const char *name; /* NULL: all */
    const char *of;   /* a pattern of functions or sites, `name` being a figure of allocations; NULL: none of these */
};

/* Into a private database, the oldest first; runs that are there already are left alone. */
int pull_heads(struct team *team, struct db *db, const struct team_runs *runs, const struct head_figures *figures,
               struct error *err);

#endif
