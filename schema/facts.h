/* facts.h: facts are sums of what a run recorded, in tables *_facts with a row for each subject (a lock, a site, a thread, ...) of each run.
 * The diagnoses (schema/doctor) judge them and read nothing else of size.
 *
 * A file schema/facts/NAME.sql has the definitions of its tables, and behind a line `-- Fill` the statements that fill them for the run
 * :run, linear in the rows that they read. The first column of a table is run_id or profile_id. What several of them read is summed once, into a table that they make with CREATE TEMP TABLE IF NOT
 * EXISTS and empty. No threshold is applied there: rules may change afterwards. Facts can always be made again, so a table of another
 * definition is dropped and made anew with the views (schema.h).
 *
 * A run is sealed when it ends, is read, merged, pulled or recovered: its facts are made in that transaction (run_end_unsealed: in the next one),
 * and a row of `seals` says by which definition. While it is recorded it is sealed again every few seconds. */
#ifndef CLEAR_SCHEMA_FACTS_H
#define CLEAR_SCHEMA_FACTS_H

#include <stdbool.h>

#include "schema/db.h"

/* Drops the tables of facts in the file and makes those of this clear, empty; no run is sealed then. In a new file they are there, from
 * tables.sql. In the caller's transaction. */
int facts_make_tables(struct db *db, bool new_file, struct error *err);
int facts_tables_are_current(struct db *db, bool *current,
                             struct error *err); /* whether those in the file are this clear's */
/* Which definition this clear has: a hash of schema/facts. */
int64_t facts_definition(void);

bool facts_is_derived(const char *table); /* of a table of clear: sealing makes its rows */

/* Makes the facts of a run, in place of those that it had, and seals it. */
int facts_seal(struct db *db, int64_t run_id, struct error *err);

/* The run is not sealed any more: whoever opens the file next seals it. */
int facts_unseal(struct db *db, int64_t run_id, struct error *err);

/* For a recorder: the connection keeps the sums of the windows of locks and waits of this run, as large as lock_use_facts and wait_use_facts, so
 * that each seal reads only the windows that came after the one before. The rows of a profile must not change behind a seal, unless one of the
 * profiles is removed or gets another time, as folded windows do: then all are read again. */
void facts_keep_sums(struct db *db, int64_t run_id);

/* Whether each run is sealed by this clear's definition; those that are not are shown without findings. */
int facts_are_current(struct db *db, bool *current, struct error *err);
/* Seals the runs that are not, in transactions of some tenths of a second each, so that whoever is interrupted goes on from there. Not in a
 * transaction. */
int facts_seal_pending(struct db *db, struct error *err);

/* Which functions of some stacks are the run's own code: call_locations, a temporary table of this connection, then has the locations of the stacks of
 * `trace_ids`, a JSON array. Its column own is the position of the innermost such function in the location; NULL: none. */
int facts_find_own(struct db *db, int64_t run_id, const char *trace_ids, struct error *err);

/* Called by facts_seal_pending before each run. NULL: nobody is told. For the whole process. */
typedef void facts_progress(int64_t done, int64_t total);
void facts_show_progress(facts_progress *show);

/* For this connection only: empty temporary tables that hide those of the file, where temporary views read them (schema_shadow_views); and
 * the facts of a run in them. For runs that are not sealed in a file that cannot be written, and for a part of a run, of which temporary
 * tables hide `profiles` and what else is a part of it. */
int facts_shadow_tables(struct db *db, struct error *err);
int facts_shadow_run(struct db *db, int64_t run_id, struct error *err);

#endif
