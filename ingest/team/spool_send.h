/* spool_send.h: sends the runs of a spool, the oldest first. */
#ifndef CLEAR_INGEST_TEAM_SPOOL_SEND_H
#define CLEAR_INGEST_TEAM_SPOOL_SEND_H

#include "ingest/team/push.h"
#include "ingest/team/spool.h"

struct spool_sent {
    int64_t counts[PUSH_OUTCOMES]; /* runs */
    int64_t bytes;                 /* of rows */
};

/* `address`, `project`: of the entries to send; NULL: all. An entry goes once the store has its run, or the warehouse has it no more.
 * A store that does not answer is not asked for its other runs; what fails is the first error, after all that could be sent. */
int spool_send(struct db *db, const char *address, const char *project, struct spool_sent *sent, struct error *err);

/* The id of the run with that uuid; 0: there is none. */
int spool_find_run(struct db *db, const char *uuid, int64_t *id, struct error *err);

#endif
