/* diagnoses.h: makes the diagnoses of users part of the view `doctor`.
 *
 * A diagnosis of a user is a view named doctor_* in the file, with the columns run_id, section, code, severity, subject, evidence,
 * trace_ids and advice as in schema/doctor, and any others. The view `doctor` is stock SQL and cannot find these views itself. So
 * clear makes it again when it opens a file whose doctor_* views are not those that `doctor` joins: in the file, or, if that cannot
 * be written, as a temporary view of the connection. A column `weight` sorts a user's findings among those of the same severity;
 * without one they come last.
 *
 * A bad diagnosis never breaks the doctor. A view that lacks a column, cannot be prepared, reads `doctor` itself, or fails or returns
 * invalid rows for the run in question, is left out, and its name is reported. Do not call these functions between ask_open and
 * ask_close (query/sql/ask.h).
 *
 * A view that fails when it runs (malformed JSON, integer overflow) would make the whole union fail in any SQLite shell. So clear runs
 * each one over the whole file, for at most some tenths of a second: when it first sees the view, and whenever it closes a file that
 * it wrote to. A view that fails is kept out of the file's `doctor`, and remembered in the table `meta`, until it works again. If rows
 * that a shell writes make a view fail, the next clear repairs `doctor`. */
#ifndef CLEAR_SCHEMA_DIAGNOSES_H
#define CLEAR_SCHEMA_DIAGNOSES_H

#include "base/buffer.h"
#include "schema/db.h"

/* Called for each view that is left out, with the reason, which has no full stop. */
typedef void diagnosis_left_out(void *context, const char *view, const char *why);

/* *joined: the file's `doctor` joins the diagnoses of users that work, and no others. The other views in the file must be those of this
 * clear. */
int diagnoses_are_joined(struct db *db, bool *joined, struct error *err);
/* Makes `doctor` again: in the file, in the caller's transaction; or for this connection only. */
int diagnoses_join(struct db *db, struct error *err);
int diagnoses_join_temporarily(struct db *db, struct error *err);
/* After rows were written: tries each diagnosis again, and makes `doctor` again if other ones fail now. Not in a transaction. */
int diagnoses_renew(struct db *db, struct error *err);

/* Runs every diagnosis of a user for one run. Those that fail are left out of this connection's `doctor` from now on. */
int diagnoses_check(struct db *db, int64_t run_id, diagnosis_left_out *left_out, void *context, struct error *err);

/* Adds to `sql` what stands behind FROM to read the findings of one run: a table `doctor` with the columns of the view. It is the view's
 * select without the sections that the run has no facts of, whose compilation took half of the instructions of `clear doctor`; the view itself
 * where diagnoses of users are joined, or the view is not clear's. */
int diagnoses_of_run(struct db *db, int64_t run_id, struct buffer *sql, struct error *err);

#endif
