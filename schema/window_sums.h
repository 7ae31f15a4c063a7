/* window_sums.h: a statement that sums the rows of many windows by key, in memory. SQLite sorts what it groups, which takes twice as long as
 * reading it.
 *
 * Such a statement of schema/facts is `INSERT INTO a temporary table SELECT ...`, with `-- Summed in memory` in a comment before it. The columns
 * of the SELECT are those of the table, in order: first the keys, integers or texts, then values named `sum` or `max`. No value is NULL; a key
 * that is, is 0.
 *
 * A statement that has `profiles.id > :after` is of rows of `locks`, and can go on from the sums of the seal before (window_sums_keep). */
#ifndef CLEAR_SCHEMA_WINDOW_SUMS_H
#define CLEAR_SCHEMA_WINDOW_SUMS_H

#include "schema/db.h"

bool window_sums_are_meant(const char *sql);
/* Fills the table for the run :run. A sum beyond 64 bits is SQLite's error "integer overflow". */
int window_sums_fill(struct db *db, const char *sql, int64_t run_id, struct error *err);

/* facts_keep_sums (facts.h) */
void window_sums_keep(struct db *db, int64_t run_id);
void window_sums_forget(struct db *db); /* those that are kept, and keeps no others */
void window_sums_free(struct db *db);   /* at db_close */

#endif
