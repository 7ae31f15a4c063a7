/* sources.h: the tables `sources` and `source_texts`: what a run's code was made of, kept with the run. */
#ifndef CLEAR_INGEST_SYMBOLS_SOURCE_ROWS_H
#define CLEAR_INGEST_SYMBOLS_SOURCE_ROWS_H

#include <stdint.h>

#include "ingest/symbols/source_map.h"
#include "schema/db.h"

#define SOURCE_ROLE     "source"     /* what a person wrote */
#define TRANSPILED_ROLE "transpiled" /* what a compiler made of it for another compiler */

/* A text of the run, in place of one of that path that it may have. Text is UTF-8. */
int sources_put(struct db *db, int64_t run_id, const char *path, const char *role, const char *text, struct error *err);

/* The transpiler's output that was met since the last time, and its sources. In the caller's transaction. */
int sources_store(struct source_map *map, struct db *db, int64_t run_id, struct error *err);
/* That transaction was rolled back: all of it is to be stored again. */
void sources_rolled_back(struct source_map *map);

/* The mapping's code was resolved in an earlier run, and its files were not looked at again: takes the texts that the latest
 * run with that mapping has, which are those that the lines were worked out from. */
int sources_inherit(struct db *db, int64_t run_id, int64_t mapping_id, struct error *err);

#endif
