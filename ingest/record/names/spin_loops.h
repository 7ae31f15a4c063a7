/* spin_loops.h: which CPU samples of a run were taken in loops that only ask memory again, and which sleeps (ingest/symbols/spin_loop.h), and who stores to what
 * they ask for: the rows of the table spin_loops. */
#ifndef CLEAR_INGEST_RECORD_NAMES_SPIN_LOOPS_H
#define CLEAR_INGEST_RECORD_NAMES_SPIN_LOOPS_H

#include "schema/db.h"

/* In the open transaction, when all rows of the run are written and before it is sealed, where the programs that ran still are. A file that
 * cannot be read, or is of another build, has no rows. */
int spin_loops_insert(struct db *db, int64_t run_id, struct error *err);

#endif
