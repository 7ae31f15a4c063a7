/* ask.h: runs SQL from a user or from a stranger so that it can do no harm: one statement, read-only, with limits on its time and
 * on the size of one value (64 MiB). Ctrl-C can stop it. What is refused is a usage error, what fails while it runs a failure.
 *
 * The database should be open with DB_READ. In addition an authorizer refuses every write, ATTACH, PRAGMAs that set something, and
 * functions that reach outside the database (load_extension, readfile, writefile, edit and others). */
#ifndef CLEAR_QUERY_SQL_ASK_H
#define CLEAR_QUERY_SQL_ASK_H

#include <stdint.h>
#include <stdio.h>

#include "schema/db.h"

enum { ASK_TIMEOUT_S = 30 }; /* the default limit */

/* From ask_open to ask_close the connection runs guarded statements only. The time limit counts from ask_open; `timeout_ns` 0: no
 * limit. With `interruptible`, SIGINT stops the statement instead of the process, and a single function that takes a second longer
 * than the limit ends the process with a message and status 1. One guard per process at a time. */
struct ask {
    struct db *db;
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    int64_t timeout_ns;
    char refused[160]; /* the last thing that the authorizer refused */
    bool is_stopped;   /* while a statement was prepared, by the limit or by Ctrl-C */
    bool has_alarm;    /* SIGALRM is ours */
    int value_bytes,
        pattern_bytes; /* the connection's own limits for one value and a pattern, which ask_close restores */
    int offset;        /* byte offset in the SQL of the last error of ask_prepare; -1: unknown */
};
void ask_open(struct ask *ask, struct db *db, int64_t timeout_ns, bool interruptible);
void ask_close(struct ask *ask);

/* The one statement of `sql`; the caller calls sqlite3_finalize. NULL: a usage error with SQLite's message and its position. */
sqlite3_stmt *ask_prepare(struct ask *ask, const char *sql, struct error *err);
/* Prints the line of `sql` with the last error of ask_prepare, and a caret below the position. Prints nothing if SQLite does not
 * know the position. */
void ask_print_place(const struct ask *ask, const char *sql, FILE *out);

/* The usage error of wrong SQL: its place (ask->offset), the message, and `more`, which may be empty. */
void ask_wrong_sql(const struct ask *ask, const char *sql, const char *message, const char *more, struct error *err);

/* Binds the parameters (:name, @name or $name) from `arguments`, each NAME=VALUE: as a number if VALUE is one, else as text.
 * "run" is special: its value is the name of a run (query/runs/select.h), and its id is bound; without a value the latest run.
 * Missing and unused arguments are usage errors. */
int ask_bind(struct ask *ask, sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err);

/* The parts of ask_bind, for parameters with declared types (query/sql/saved.h). ask_argument: the VALUE of that name, or NULL.
 * ask_check_arguments: refuses arguments that are not NAME=VALUE or that the statement does not have, and parameters without a
 * name. ask_bind_value: binds one parameter; `value` NULL: none was given. */
const char *ask_argument(char *const *arguments, size_t count, const char *name);
int ask_check_arguments(sqlite3_stmt *statement, char *const *arguments, size_t count, struct error *err);
int ask_bind_value(struct ask *ask, sqlite3_stmt *statement, int index, const char *value, struct error *err);
/* select_run, which may have to fetch the run from a store. */
int ask_select_run(struct ask *ask, const char *name, int64_t *run_id, struct error *err);

/* As db_step, for a guarded statement; reports the time limit and Ctrl-C. */
int ask_step(struct db *db, sqlite3_stmt *statement, struct error *err);

#endif
