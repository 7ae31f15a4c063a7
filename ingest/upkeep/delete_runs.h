/* delete_runs.h: deletes runs with everything that hangs on them. Names and stacks stay (ingest/upkeep/gc.c).
 *
 * Foreign keys are enforced by hand: rows go from the leaves to the run, by the schema's list of references. SQLite's own cascade looks
 * through all profiles for each process, because few need an index for it. */
#ifndef CLEAR_INGEST_UPKEEP_DELETE_RUNS_H
#define CLEAR_INGEST_UPKEEP_DELETE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db.h"

struct deleted {
    int64_t runs, rows;
    int64_t bytes; /* of pages of the file that became free */
};

/* Around the calls of runs_delete and names_sweep, and not within a transaction: SQLite would look up each deleted row in all tables. */
int upkeep_begin(struct db *db, struct error *err);
void upkeep_end(struct db *db);

/* Deletes the runs with those ids in one transaction, and adds to *deleted what that was. With `is_trial` the transaction is rolled back:
 * it tells what would be freed. */
int runs_delete(struct db *db, const int64_t *ids, size_t count, bool is_trial, struct deleted *deleted,
                struct error *err);

/* What is known of a run whose end was not stored. */
enum recorder_state {
    RECORDER_DONE,    /* the run is over */
    RECORDER_GONE,    /* it wrote nothing for a day: it was killed */
    RECORDER_UNKNOWN, /* it wrote something in the last day, and may be that of another user or machine */
    RECORDER_RUNS     /* it is a recorder of this user, and lives */
};
int recorder_state(struct db *db, int64_t run_id, enum recorder_state *state, struct error *err);

/* The runs that are, or may be, recorded now: RECORDER_UNKNOWN and RECORDER_RUNS. free() *ids. */
int runs_being_recorded(struct db *db, int64_t **ids, size_t *count, struct error *err);

#endif
