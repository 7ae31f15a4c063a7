/* source_rows.h: the tables `sources` and `source_texts`: transpiled code and its sources, kept with the run. */
#ifndef CLEAR_INGEST_SYMBOLS_SOURCE_ROWS_H
#define CLEAR_INGEST_SYMBOLS_SOURCE_ROWS_H

#include <stdint.h>

#include "ingest/symbols/source_map.h"
#include "schema/db.h"

#define SOURCE_ROLE     "source"     /* what a person wrote */
#define TRANSPILED_ROLE "transpiled" /* what a compiler made of it for another compiler */

/* Puts a text of the run; replaces one of the same path. UTF-8. */
int sources_put(struct db *db, int64_t run_id, const char *path, const char *role, const char *text, struct error *err);

/* The id of a text in source_texts, where it is put if it is new. */
int64_t sources_put_text(struct db *db, const char *text, struct error *err);

/* Stores transpiled files that are new since the last call, and their sources. In the caller's transaction. */
int sources_store(struct source_map *map, struct db *db, int64_t run_id, struct error *err);
/* That transaction was rolled back: the next call stores all files again. */
void sources_rolled_back(struct source_map *map);

/* For a mapping whose code was resolved in an earlier run, so that its files were not read now: takes the texts of the
 * latest run with that mapping, which are those that its lines come from. */
int sources_inherit(struct db *db, int64_t run_id, int64_t mapping_id, struct error *err);

#endif
