/* db.h: SQLite as the rest of clear uses it: open, prepare, bind, step, nested transactions, one-liners.
 *
 * Every value is bound; no SQL is put together by printf (make check-layers looks for it). Statements are cached by
 * their text, so preparing the same literal again costs a look-up; a cached statement is the db's, never finalize it.
 * Errors name the file and what SQLite said; SQLite's own log is hooked so that "busy" names the statement. */
#ifndef CLEAR_SCHEMA_DB_H
#define CLEAR_SCHEMA_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct db {
    sqlite3 *handle;
    char *path;
    struct map statements; /* SQL text -> sqlite3_stmt* as an integer */
    struct {
        const char *sql; /* where the caller's literal stands */
        sqlite3_stmt *statement;
    } recent[64]; /* a statement that is asked for again and again is found without hashing its text */
    struct bulk_source *bulk_source; /* of schema/bulk.c; NULL until it is needed */
    int depth;                       /* open transactions, the outer one included */
    bool writable;
    bool is_private; /* of db_open_private: no other process can open it, and nothing of it stays */
};

enum db_mode {
    DB_READ,  /* must exist and be a warehouse; opened read-only */
    DB_WRITE, /* made where it does not exist; an older one is migrated in one transaction; WAL until db_close */
};

/* Opens a warehouse. Fails with one clear line for a missing, unreadable, foreign, newer or unwritable file. An older
 * file is migrated even for DB_READ, if it can be written. */
int db_open(struct db *db, const char *path, enum db_mode mode, struct error *err);
/* An empty warehouse of this process alone: a temporary file without a name (in $SQLITE_TMPDIR, $TMPDIR or /var/tmp) which
 * is made when it outgrows the cache, so that its size is not bounded by memory. `name` is what messages call it. */
int db_open_private(struct db *db, const char *name, struct error *err);
/* Ends WAL mode (the closed warehouse is one file) and closes. Safe on a zeroed or failed db. */
int db_close(struct db *db, struct error *err);

/* A statement that is reset and without bindings, or NULL with the error set. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct error *err);
/* Bind by name (":run"); a name that the statement lacks is a bug in clear. Text is copied. NULL text binds NULL. */
void db_bind_int(sqlite3_stmt *statement, const char *name, int64_t value);
void db_bind_real(sqlite3_stmt *statement, const char *name, double value);
void db_bind_text(sqlite3_stmt *statement, const char *name, const char *text);
void db_bind_null(sqlite3_stmt *statement, const char *name);
/* 1: a row is there, 0: done (the statement is reset), -1: the error is set (and the statement reset). */
int db_step(struct db *db, sqlite3_stmt *statement, struct error *err);
/* Steps a statement that returns no rows. */
int db_run(struct db *db, sqlite3_stmt *statement, struct error *err);
/* Text of a column, never NULL. Good until the next step. */
const char *db_text(sqlite3_stmt *statement, int column);

/* Runs SQL without parameters, several statements allowed. */
int db_exec(struct db *db, const char *sql, struct error *err);
/* Makes a temporary view: `text` is what follows "CREATE TEMP VIEW ". It may come from a file that somebody else made: a text
 * that goes on after its first statement is refused, and nothing of it runs. */
int db_create_temp_view(struct db *db, const char *text, struct error *err);
/* First column of the first row of SQL without parameters; `otherwise` where there is no row. */
int db_int(struct db *db, const char *sql, int64_t otherwise, int64_t *value, struct error *err);

/* Transactions nest: the outer one is BEGIN IMMEDIATE, inner ones are savepoints. Every db_begin is met by one
 * db_commit or db_rollback. A db_commit that fails has rolled back: do not call db_rollback after it. db_rollback keeps
 * an error that is already set, and does nothing where no transaction is open. After SQLite itself undid everything
 * (full disk), every step fails until the outermost db_rollback. */
int db_begin(struct db *db, struct error *err);
int db_commit(struct db *db, struct error *err);
void db_rollback(struct db *db);

/* Sets the error from SQLite's last one on this connection; returns -1. */
int db_error(struct db *db, const char *doing, struct error *err);

#endif
