#ifndef SCHEMA_FACTS_NEEDS_H
#define SCHEMA_FACTS_NEEDS_H

/* Which tables a run has rows in. Most runs have few kinds of profiles, and compiling the statements of facts took 165 of the 226 million
 * instructions of recording `true`: a statement of schema/facts is left out where what it reads is empty. It says so itself:
 *
 *     -- Needs wait_use_facts                      without rows of the run in this table it makes none
 *     -- Needs site_details or leaks               without rows in both
 *     -- Needs io                                  of several lines each must hold
 *
 * A table of the file counts by the rows of the run, a temporary one that the statements themselves made by all of its rows. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schema/db.h"

/* What facts are made of, but for the tables whose triggers also concern run_totals (tables.sql). */
struct facts_source {
    const char *table;
    const char *owners; /* the table of what a row belongs to: profiles or processes */
    const char *owner;  /* the column that says which: profile_id or process_id */
};
extern const struct facts_source facts_sources[]; /* the last has no table */

/* Whether `sql`, one statement with its comments, can make rows of the run. */
int facts_needs_met(struct db *db, const char *sql, int64_t run_id, bool *met, struct error *err);

/* The condition by which the rows of a run are found in a table of facts, from the text behind its CREATE TABLE: by its first column, which is
 * run_id or profile_id. NULL: it has names of all runs. */
const char *facts_condition(const char *definition);

#endif
