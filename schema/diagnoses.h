/* diagnoses.h: the diagnoses that users make, as part of the view `doctor`.
 *
 * A view named doctor_* in the file, with the columns run_id, section, code, severity, subject, evidence, trace_ids and
 * advice as in schema/doctor, and any others, is a diagnosis. The view `doctor` is stock SQL and cannot ask which
 * there are, so clear makes it anew when it opens a file whose doctor_* views are others than its `doctor` joins: in
 * the file, or, where that cannot be written, as a temporary view of the connection. A column `weight` of theirs sorts
 * them among findings of the same severity; without one they come last.
 *
 * What cannot be joined never breaks the doctor: a view that lacks a column, cannot be prepared, reads `doctor` itself, or
 * fails or gives no proper rows for the run that is asked about, is left out and named. Not under the guard of
 * query/sql/ask.h.
 *
 * One view that fails when it runs (malformed JSON, an integer that overflows) would take the whole union with it in any SQLite shell,
 * which has no way to go on after an error. So each is run over the whole file, for at most some tenths of a second, when it is met
 * first and whenever a clear that wrote to the file closes it; one that fails is kept out of the file's `doctor`, by the
 * table `meta`, until it no longer does. What a shell itself makes fail, by rows that it writes, the next clear mends. */
#ifndef CLEAR_SCHEMA_DIAGNOSES_H
#define CLEAR_SCHEMA_DIAGNOSES_H

#include "schema/db.h"

/* Told of each view that is left out, and why, in words without a full stop. */
typedef void diagnosis_left_out(void *context, const char *view, const char *why);

/* The views of the diagnoses that users made are in the file's `doctor`, and no others. The file's own views must be
 * those of this clear. */
int diagnoses_are_joined(struct db *db, bool *joined, struct error *err);
/* Makes `doctor` so: in the file, in the caller's transaction, or for this connection alone. */
int diagnoses_join(struct db *db, struct error *err);
int diagnoses_join_temporarily(struct db *db, struct error *err);
/* After rows were written: tries each again, and makes `doctor` anew where others fail now than before. Not in a transaction. */
int diagnoses_renew(struct db *db, struct error *err);

/* Asks every diagnosis of a user about one run. Those that fail are left out of this connection's `doctor` from here on. */
int diagnoses_check(struct db *db, int64_t run_id, diagnosis_left_out *left_out, void *context, struct error *err);

#endif
