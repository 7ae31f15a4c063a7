/* ask.h: SQL that a person (or a stranger) wrote, run so that it can do no harm: one statement, which may only read,
 * with limits on its time and on the size of one value (64 MiB), and which Ctrl-C stops.
 *
 * The database should be open with DB_READ; an authorizer refuses, besides every write, ATTACH, PRAGMAs that set
 * something, and functions that reach out of the database (load_extension, readfile, writefile, edit, ...). */
#ifndef CLEAR_QUERY_SQL_ASK_H
#define CLEAR_QUERY_SQL_ASK_H

#include <stdint.h>
#include <stdio.h>

#include "schema/db.h"

enum { ASK_TIMEOUT_S = 30 }; /* the default limit */

/* From here on, db runs guarded statements only, until ask_close. The clock starts here. `timeout_ns` 0 is no limit.
 * With `interruptible`, SIGINT stops the statement instead of the process. One guard a process at a time. */
struct ask {
    struct db *db;
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0 for none */
    int64_t timeout_ns;
    char refused[160]; /* what the authorizer refused last */
    int value_bytes;   /* the connection's own limit of one value, given back by ask_close */
    int offset;        /* byte of the SQL that the last error of ask_prepare is about, or -1 */
};
void ask_open(struct ask *ask, struct db *db, int64_t timeout_ns, bool interruptible);
void ask_close(struct ask *ask);

/* The one statement of `sql`; sqlite3_finalize it. NULL: a usage error that says what SQLite said, and where. */
sqlite3_stmt *ask_prepare(struct ask *ask, const char *sql, struct error *err);
/* Prints the line of `sql` that the last error of ask_prepare is about, and a caret below the place. Nothing where
 * SQLite does not know the place. */
void ask_print_place(const struct ask *ask, const char *sql, FILE *out);

/* Binds the parameters (:name, @name or $name) from `arguments`, each NAME=VALUE: a number where VALUE is one, else text.
 * "run" is special: its value names a run (query/runs/select.h) and binds the run's id, the latest where none is given.
 * Missing and left-over arguments are usage errors. */
int ask_bind(struct ask *ask, sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err);

/* The pieces of it, for parameters that have declared types (query/sql/saved.h). The VALUE of that name, NULL where there is
 * none; refusing arguments that are no NAME=VALUE or that the statement lacks, and parameters without a name; binding one
 * parameter, where `value` is NULL for none given. */
const char *ask_argument(char *const *arguments, size_t count, const char *name);
int ask_check_arguments(sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err);
int ask_bind_value(struct ask *ask, sqlite3_stmt *statement, int index, const char *value, struct error *err);

/* As db_step, for a statement under the guard; knows time-out and Ctrl-C. */
int ask_step(struct db *db, sqlite3_stmt *statement, struct error *err);

#endif
