/* run_seal.h: what is summed from the rows of a run when they are complete: its totals (run_totals) and its facts (schema/facts.h). */
#ifndef CLEAR_INGEST_WRITER_RUN_SEAL_H
#define CLEAR_INGEST_WRITER_RUN_SEAL_H

#include "schema/db.h"

/* In the open transaction. Call it after the last row of the run is written. Where a sum exceeds 64 bits no totals are kept: the view
 * run_summary then reports the error to whoever asks for that sum. */
int run_seal(struct db *db, int64_t run_id, struct error *err);

#endif
