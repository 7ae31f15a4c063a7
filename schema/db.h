/* db.h: SQLite for the rest of clear: open a warehouse, prepare, bind, step, nested transactions.
 *
 * Every value is bound; no SQL is composed by printf (make check-layers checks it). Statements are cached by their text, so
 * preparing the same literal again costs a look-up. The db owns the statements: never finalize one. Errors name the file and
 * repeat SQLite's message; SQLite's log is hooked, so that "busy" names the statement. One thread per connection. */
#ifndef CLEAR_SCHEMA_DB_H
#define CLEAR_SCHEMA_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct db;

/* Where the rows of a private warehouse come from when they are first needed: a team's store (ingest/team/team_reader.h). */
struct db_source {
    /* Makes every run here that `set` names there: a run or a set (query/runs/run_set.h); NULL or "" is the latest. No run is a usage
     * error. */
    int (*want)(struct db_source *source, struct db *db, const char *set, struct error *err);
    /* Lists of many runs: how many there are, and every run there with the command of the newest. */
    int (*count)(struct db_source *source, int64_t *runs, struct error *err);
    int (*want_alike)(struct db_source *source, struct db *db, struct error *err);
    void (*close)(struct db_source *source); /* at db_close */
    const char *project;                     /* of the store, for messages */
};

struct db {
    sqlite3 *handle;
    char *path;            /* as it was named, for messages and for other commands */
    char *file;            /* what it leads to, without links (base/owner.h); NULL: of db_open_private */
    struct map statements; /* SQL text -> sqlite3_stmt* as an integer */
    struct {
        const char *sql; /* address of the caller's literal */
        sqlite3_stmt *statement;
    } recent[64];                    /* finds a statement that is used often without hashing its text */
    struct bulk_source *bulk_source; /* of schema/bulk.c; NULL before its first use */
    bool takes_rows;                 /* of schema/bulk.c */
    struct kept_sums *kept_sums;     /* of schema/window_sums.c; NULL before its first use */
    bool has_stack_steps;            /* of schema/stack_steps.c */
    int64_t deadline_ns;             /* of db_limit, CLOCK_MONOTONIC; 0: none */
    int patience_ms;                 /* of db_set_patience */
    int64_t waiting_since_ns;        /* CLOCK_MONOTONIC: of the present wait for a lock */
    bool has_looked;                 /* once: who has the lock */
    int lock_failure;                /* the errno of a file on which locks do not work; 0: none was found */
    int value_bytes;                 /* the limit of a value outside db_limit */
    int depth;                       /* open transactions, with the outer one */
    bool writable;
    bool was_locked;          /* at the latest error */
    struct db_source *source; /* of what is not here yet; NULL: all is here */
    bool was_current;         /* db_open for reading: nothing had to be brought up to date, and nobody wrote */
    bool has_made_file;       /* by db_open: it was not there before */
    bool has_entered_wal;     /* by db_open for writing */
    bool has_rollback;        /* it could not: the file system has no memory that processes share */
    bool has_stored;          /* since db_open, the settings of clear.yaml apart */
    int64_t
        version_made; /* PRAGMA data_version after db_open: another value says that another process has stored something */
    bool is_inspected, has_own_views; /* the schema was looked at (schema.c); its views are clear's own */
    bool is_as_made;                  /* all of it is clear's own, as in a new file */
    int64_t inspected_version;        /* PRAGMA schema_version then */
    bool is_private; /* from db_open_private: no other process can open it, and it ends with this one */
};

enum db_mode {
    DB_READ, /* must exist and be a warehouse; opened read-only */
    DB_SOURCE, /* the same for a stranger's file that is copied from: nothing is written to it, an older one is copied into a temporary
                * file and migrated there; its views are not those of clear, and are not to be used; a value may have 64 MiB, and
                * all reading together may take 30 s and 2 s for each MiB */
    DB_WRITE, /* made if it does not exist; an older one is migrated in one transaction; WAL mode until db_close */
};

/* Opens a warehouse. A missing, unreadable, foreign, newer or unwritable file is a failure with one line that says so. An older file
 * is migrated for DB_READ too, if it can be written. A link of another user is followed for DB_SOURCE only; a -journal, -wal or -shm beside
 * the file is taken only from a user who might have written to the file (schema/companions.h). */
int db_open(struct db *db, const char *path, enum db_mode mode, struct error *err);
/* The same for a caller that waits so long for locks, from here on (db_set_patience). */
int db_open_within(struct db *db, const char *path, enum db_mode mode, int patience_ms, struct error *err);
/* Opens an empty warehouse of this process only: a temporary file without a name (schema/companions.h), which is made when
 * the cache is full, so that memory does not limit its size. Where no such file can be made it is in memory. `name` is its name in messages. */
int db_open_private(struct db *db, const char *name, struct error *err);
/* Opens a database in memory without any table, for SQL that asks none, such as functions of JSON. */
int db_open_bare(struct db *db, const char *name, struct error *err);
/* For questions that visit pages many times: up to 64 MiB of the file stay in memory instead of 2 MiB. A report that reads each row once
 * needs none of it. Where it fails, only speed is lost. */
void db_cache_more(struct db *db);
/* Opens for reading, in another thread, the file of a warehouse that is open for writing here: what db_open looks at in a file was looked at. No
 * run of it is sealed by that, as db_open would. Close it before the other one. */
int db_open_beside(struct db *db, const struct db *writer, struct error *err);
/* Ends WAL mode (a closed warehouse is one file) and closes. Waits for nobody: where others have the file open, the last one that closes it
 * leaves one file. A zeroed db, or one that failed to open, is allowed. */
int db_close(struct db *db, struct error *err);
/* *to, which is closed, becomes *from, which is a closed one then. Not in a transaction. */
void db_move(struct db *to, struct db *from);
/* After a failure, before db_close: removes the file again if db_open made it and nothing was stored in it since, here or by another
 * process. */
void db_take_back(struct db *db);

/* Before runs are chosen by name: see struct db_source. Does nothing for a file. */
int db_want(struct db *db, const char *set, struct error *err);
/* Before all runs with the command of the newest are looked at, unless some were wanted by name. */
int db_want_alike(struct db *db, struct error *err);
/* How many runs there are, here or where they come from. */
int db_count_runs(struct db *db, int64_t *runs, struct error *err);

/* How long a statement waits while another process has the file locked: 10 s at first. db->was_locked says that it did so in
 * vain, also after a db_open that failed. A file on which locks do not work is not waited for, and a failure of another kind. */
void db_set_patience(struct db *db, int ms);
/* Whom a connection tells that it waits, once, within half a second, if it may wait for more than a second: the path, db_locked_by, and how
 * long it waits at most. NULL at first: nobody. For the whole process. */
typedef void db_tell(const char *path, const char *locked_by, int patience_ms);
void db_on_wait(db_tell *tell);
/* "another process (python3, pid 4711)": who has the file locked, as far as that can be seen. free() it. */
char *db_locked_by(const char *path);

/* A statement that is reset and has no bindings, or NULL with the error set. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct error *err);
/* Bind by name (":run"); a name that is not in the statement is a bug. Text is copied. NULL text binds NULL. */
void db_bind_int(sqlite3_stmt *statement, const char *name, int64_t value);
void db_bind_real(sqlite3_stmt *statement, const char *name, double value);
void db_bind_text(sqlite3_stmt *statement, const char *name, const char *text);
/* 1: there is a row, 0: done, -1: the error is set. The statement is reset in the last two cases. */
int db_step(struct db *db, sqlite3_stmt *statement, struct error *err);
/* Steps a statement that returns no rows. */
int db_run(struct db *db, sqlite3_stmt *statement, struct error *err);
/* Text of a column, never NULL. Valid until the next step. */
const char *db_text(sqlite3_stmt *statement, int column);

/* Runs SQL without parameters; several statements are allowed. */
int db_exec(struct db *db, const char *sql, struct error *err);

/* Lets rows of sqlite_schema be written, or forbids it again, after which SQLite reads the schema anew. A row that is wrong makes the file one
 * that SQLite calls malformed: for texts of clear's own, in the transaction that makes a new file. `err` may be NULL. */
int db_write_schema(struct db *db, bool allowed, struct error *err);
/* Makes a temporary view: `text` is what follows "CREATE TEMP VIEW ". It may come from a stranger's file: a text with a second
 * statement is refused, and nothing of it runs. */
int db_create_temp_view(struct db *db, const char *text, struct error *err);
/* Makes the view of which `text` is the whole definition, from a stranger's file too: anything else than one CREATE VIEW is refused. */
int db_create_view(struct db *db, const char *text, struct error *err);
/* First column of the first row of SQL without parameters; `otherwise` if there is no row. */
int db_int(struct db *db, const char *sql, int64_t otherwise, int64_t *value, struct error *err);

/* From here to db_unlimit, everything together may take so long, a value may have 64 MiB, and functions that reach outside the
 * database are refused: for views of a stranger's file. A statement that takes longer fails; SQLite does not look at the clock while it prepares one. Not
 * between ask_open and ask_close (query/sql/ask.h), and not nested. */
void db_limit(struct db *db, int64_t ns);
void db_unlimit(struct db *db);
/* False for a function that reaches outside the database (load_extension, readfile). */
bool db_allows_function(const char *name);
/* On from db_open on: views may call the functions that db_allows_function allows. Whoever sets an authorizer of its own asks it too, and calls
 * this at its end. */
void db_guard(struct db *db);

/* Transactions nest: the outer one is BEGIN IMMEDIATE, inner ones are savepoints. Each db_begin needs one db_commit or db_rollback. A
 * db_commit that fails has rolled back: do not call db_rollback after it. db_rollback keeps an error that is already set, and does
 * nothing without a transaction. After SQLite itself rolled back (full disk), every step fails until the outermost
 * db_rollback. */
int db_begin(struct db *db, struct error *err);
/* -1 with the error set where the file that is open has another name by now, or none: what is written to it is lost. */
int db_check_place(struct db *db, struct error *err);
int db_commit(struct db *db, struct error *err);
void db_rollback(struct db *db);

/* Sets the error from SQLite's last one on this connection; returns -1. */
int db_error(struct db *db, const char *doing, struct error *err);

#endif
