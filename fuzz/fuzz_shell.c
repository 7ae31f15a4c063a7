/* What `clear shell` hands to sqlite3, made of the saved queries of a stranger's warehouse. Each statement must be one statement that
 * makes something temporary, whatever the names and the SQL are. The input is records: the byte 0x1e, the name, a line end, the
 * parameters as JSON, a line end, the SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/sql/shell_setup.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"

enum { MARK = 0x1e };

static char path[] = "/dev/shm/fuzz-shell.XXXXXX";
static struct db db;

static void end(void) {
    struct error ignored = {0};
    db_close(&db, &ignored);
    unlink(path);
}

/* Without WAL, so that another connection sees what is written. */
static void start(void) {
    struct error err = {0};
    if (db.handle) return;
    int file = mkstemp(path);
    if (file < 0) bug("%s cannot be made", path);
    close(file);
    if (db_open(&db, path, DB_WRITE, &err) != 0 || db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, path, DB_WRITE, &err) != 0) bug("%s", err.message);
    if (db_exec(&db, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; DELETE FROM queries", &err) != 0)
        bug("%s", err.message);
    atexit(end);
}

/* A row of `queries`, which the table may refuse. */
static void add_query(const char *name, const char *params, const char *sql) {
    struct error err = {0};
    sqlite3_stmt *row = db_prepare(&db,
                                   "INSERT OR IGNORE INTO queries(name, description, params, sql, export)"
                                   " VALUES (:name, '', :params, :sql, '{}')",
                                   &err);
    if (!row) bug("%s", err.message);
    db_bind_text(row, ":name", name);
    db_bind_text(row, ":params", params);
    db_bind_text(row, ":sql", sql);
    (void)db_run(&db, row, &err);
}

static void add_queries(char *text) {
    for (char *record; (record = strsep(&text, (char[]){MARK, '\0'}));) {
        const char *name = strsep(&record, "\n"), *params = strsep(&record, "\n");
        if (params && record) add_query(name, *params ? params : "[]", record);
    }
}

/* Only reading, and what is temporary. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *view) {
    (void)context;
    (void)first;
    (void)second;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_TABLE: return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE: return database && strcmp(database, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static void check_statement(sqlite3 *shell, const char *sql) {
    static const char *const starts[] = {"CREATE TEMP VIEW ", "CREATE TEMP TABLE ", "UPDATE temp.rules ", NULL};
    const char *const *known = starts, *tail = sql;
    sqlite3_stmt *statement = NULL, *more = NULL;
    while (*known && strncmp(sql, *known, strlen(*known)) != 0)
        known++;
    if (!*known) bug("no statement of ours: %s", sql);
    int code = sqlite3_prepare_v2(shell, sql, -1, &statement, &tail);
    if (code == SQLITE_AUTH) bug("it does more: %s", sql);
    if (code == SQLITE_OK && (sqlite3_prepare_v2(shell, tail, -1, &more, &tail) != SQLITE_OK || more))
        bug("a second statement: %s", sql);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) bug("it has rows: %s", sql);
    sqlite3_finalize(statement);
}

static void check_setup(const struct shell_setup *setup) {
    sqlite3 *shell;
    if (sqlite3_open_v2(path, &shell, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) bug("%s cannot be opened", path);
    sqlite3_set_authorizer(shell, authorize, NULL);
    for (size_t i = 0; i < setup->count; i++)
        check_statement(shell, setup->statements[i]);
    sqlite3_close(shell);
}

static void drop_views(void) {
    struct error err = {0};
    for (;;) {
        sqlite3_stmt *row = db_prepare(
            &db, "SELECT 'DROP VIEW temp.\"' || name || '\"' FROM temp.sqlite_schema WHERE type = 'view'", &err);
        if (!row || db_step(&db, row, &err) != 1) break;
        char *drop = xstrdup(db_text(row, 0));
        sqlite3_reset(row);
        if (db_exec(&db, drop, &err) != 0) bug("%s", err.message);
        free(drop);
    }
    if (err.status != ERROR_NONE) bug("%s", err.message);
    if (db_exec(&db, "DELETE FROM queries", &err) != 0) bug("%s", err.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct shell_setup setup = {.db = &db};
    struct error err = {0};
    start();
    char *text = xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    add_queries(text);
    free(text);
    if (shell_setup_make(&setup, &err) == 0) {
        check_setup(&setup);
        replay_taken++;
    } else if (err.status == ERROR_NONE || !*err.message) {
        bug("failed without an error");
    }
    shell_setup_free(&setup);
    drop_views();
    return 0;
}
