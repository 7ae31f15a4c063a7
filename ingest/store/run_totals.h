/* run_totals.h: the totals of a run, kept in the table of that name when the run is over. */
#ifndef CLEAR_INGEST_STORE_RUN_TOTALS_H
#define CLEAR_INGEST_STORE_RUN_TOTALS_H

#include "schema/db.h"

/* Sums the rows of the run, in the open transaction. Call it after the last of them is written. Where a sum exceeds 64 bits nothing is
 * kept: the view run_summary then reports the error to whoever asks for that sum. */
int run_totals_keep(struct db *db, int64_t run_id, struct error *err);

#endif
