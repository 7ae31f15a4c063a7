/* pull.h: runs of a team's store, into a file: one transaction a run. A run that the file has, by its uuid or by the hash of the file that it
 * was read from, is left alone. An export of a pulled run has the same bytes as one of the file that it was pushed from. */
#ifndef CLEAR_INGEST_TEAM_PULL_H
#define CLEAR_INGEST_TEAM_PULL_H

#include "ingest/team/pull_names.h"

struct pull {
    struct team *team; /* open; the caller's */
    struct db *db;     /* writable; the caller's */
    struct row_writer store;
    struct pull_names names;
    bool is_passed_on; /* the file is merged into another, where the run is sealed: not here */
};

/* A run of a store. */
struct team_run_name {
    char uuid[37];
    struct team_month month;
};

int pull_begin(struct pull *pull, struct team *team, struct db *db, struct error *err);
void pull_end(struct pull *pull);
/* *run_id: its id in the file; *is_known: it was there. */
int pull_run(struct pull *pull, const struct team_run_name *run, int64_t *run_id, bool *is_known, struct error *err);

#endif
