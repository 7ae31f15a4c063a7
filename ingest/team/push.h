/* push.h: runs of a file, into a team's store: one transaction a run. A run that the store has, by its uuid or by the hash of the file that
 * it was read from, is left alone, so that to push again is safe, whenever the last push ended. */
#ifndef CLEAR_INGEST_TEAM_PUSH_H
#define CLEAR_INGEST_TEAM_PUSH_H

#include "ingest/read/warehouse/source_names.h"
#include "ingest/team/push_names.h"

struct push {
    struct team *team; /* open; the caller's */
    struct db *db;     /* the file; may be open for reading alone */
    struct push_names names;
    struct run_uses uses;
    int64_t bytes;           /* of rows that were sent */
    bool has_stored;         /* a run, of which the planner of the server may be told */
    int64_t swept;           /* how often names were deleted in the store, as of the first transaction; -1: not known */
    struct team_month month; /* the latest that the store has partitions of; empty: not known */
};

enum push_outcome {
    PUSH_STORED,
    PUSH_KNOWN,     /* it was there */
    PUSH_RECORDING, /* it is being recorded: its end is missing */
    PUSH_LOST,      /* the recorder was killed, and clear recover has the end to store */
    PUSH_OUTCOMES,
};

void push_begin(struct push *push, struct team *team, struct db *db);
void push_end(struct push *push);
int push_run(struct push *push, int64_t run_id, enum push_outcome *outcome, struct error *err);
/* Whether the run that failed last waited in vain for others in the store, or the server went away in the middle, so that it may be tried again later. It may
 * be in the store already: whether a COMMIT that was sent was done, is not known. */
bool push_gave_up(const struct push *push);

#endif
