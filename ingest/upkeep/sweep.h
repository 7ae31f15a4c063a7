/* sweep.h: deletes names and stacks that nothing uses: site keys, objects, stacks, label sets, source texts, locations with their lines,
 * functions, mappings. What uses them is read from the foreign keys of the schema (ingest/upkeep/references.h).
 *
 * A program that writes keeps ids in memory. A recorder has an unfinished run, so nothing is swept while there is one; whoever reads files
 * looks at PRAGMA data_version at the start of each transaction (store_refresh of ingest/store/store.h). */
#ifndef CLEAR_INGEST_UPKEEP_SWEEP_H
#define CLEAR_INGEST_UPKEEP_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/db.h"

struct swept {
    int64_t rows;     /* deleted */
    bool is_recorded; /* nothing was done, because a run is being recorded */
};

/* In one transaction, between upkeep_begin and upkeep_end (ingest/upkeep/delete_runs.h). */
int names_sweep(struct db *db, struct swept *swept, struct error *err);

#endif
