#include "schema/bulk.h"

#include <stdlib.h>

/* The rows that the next statement reads. SQLite owns it until the connection is closed. */
struct bulk_source {
    const struct bulk *bulk; /* NULL: no insert is running, and the table is empty */
};
struct memory_table {
    sqlite3_vtab base; /* first member, as SQLite requires */
    const struct bulk_source *source;
};
struct bulk_cursor {
    sqlite3_vtab_cursor base;
    const struct bulk *bulk;
    size_t row, count;
};

static int connect(sqlite3 *handle, void *source, int argc, const char *const *argv, sqlite3_vtab **result,
                   char **why) {
    (void)argc, (void)argv, (void)why;
    int code = sqlite3_declare_vtab(
        handle, "CREATE TABLE memory_rows(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, "
                "c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31)");
    if (code != SQLITE_OK) return code;
    struct memory_table *table = xcalloc(1, sizeof *table);
    table->source = source;
    *result = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
    free(table);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->estimatedCost = 1; /* there is only one plan */
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result) {
    (void)table;
    struct bulk_cursor *cursor = xcalloc(1, sizeof *cursor);
    *result = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    free(cursor);
    return SQLITE_OK;
}

static int rewind_cursor(sqlite3_vtab_cursor *base, int plan_number, const char *plan_text, int argc,
                         sqlite3_value **argv) {
    (void)plan_number, (void)plan_text, (void)argc, (void)argv;
    struct bulk_cursor *cursor = (struct bulk_cursor *)base;
    cursor->bulk = ((const struct memory_table *)base->pVtab)->source->bulk;
    cursor->count = cursor->bulk ? cursor->bulk->count : 0;
    cursor->row = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    ((struct bulk_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const struct bulk_cursor *cursor = (const struct bulk_cursor *)base;
    return cursor->row >= cursor->count;
}

static int give_value(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
    const struct bulk_cursor *cursor = (const struct bulk_cursor *)base;
    cursor->bulk->value(result, cursor->bulk->rows, cursor->row, column);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((const struct bulk_cursor *)cursor)->row;
    return SQLITE_OK;
}

/* Without xCreate the module is an eponymous table only: no table of the file can use it. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xDisconnect = disconnect,
    .xBestIndex = plan,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = rewind_cursor,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = give_value,
    .xRowid = give_rowid,
};

static int make_source(struct db *db, struct error *err) {
    if (db->bulk_source) return 0;
    struct bulk_source *source = xcalloc(1, sizeof *source);
    /* SQLite frees the source, also after a failure. */
    if (sqlite3_create_module_v2(db->handle, "memory_rows", &module, source, free) != SQLITE_OK)
        return db_error(db, "preparing to insert rows", err);
    db->bulk_source = source;
    return 0;
}

int bulk_insert(struct db *db, const char *sql, const struct bulk *bulk, struct error *err) {
    if (bulk->count == 0) return 0;
    if (make_source(db, err) != 0) return -1;
    sqlite3_stmt *insert = db_prepare(db, sql, err);
    if (!insert) return -1;
    db->bulk_source->bulk = bulk;
    int code = db_run(db, insert, err);
    db->bulk_source->bulk = NULL;
    return code;
}

/* ---- into memory -------------------------------------------------------------------------------------------------- */

static const char type_of_taker[] = "bulk_taker";

struct bulk_taker {
    bulk_take *take;
    void *context;
    struct error *error;
    bool failed;
};

/* The step of take_row(:into, the columns of a row). */
static void take_row(sqlite3_context *result, int argc, sqlite3_value **argv) {
    struct bulk_taker *taker = argc ? sqlite3_value_pointer(argv[0], type_of_taker) : NULL;
    if (!taker || taker->failed || taker->take(taker->context, argv + 1, taker->error) == 0) return;
    taker->failed = true;
    sqlite3_result_error(result, "", 0); /* ends the statement; the message is the taker's */
}

static void end_rows(sqlite3_context *result) {
    sqlite3_result_null(result);
}

sqlite3_stmt *bulk_prepare(struct db *db, const char *sql, struct error *err) {
    if (!db->takes_rows && sqlite3_create_function(db->handle, "take_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                                   NULL, take_row, end_rows) != SQLITE_OK) {
        db_error(db, "preparing to read rows", err);
        return NULL;
    }
    db->takes_rows = true;
    return db_prepare(db, sql, err);
}

int bulk_read(struct db *db, sqlite3_stmt *statement, bulk_take *take, void *context, struct error *err) {
    struct bulk_taker taker = {.take = take, .context = context, .error = err};
    struct error ended = {0};
    sqlite3_bind_pointer(statement, sqlite3_bind_parameter_index(statement, ":into"), &taker, type_of_taker, NULL);
    int code = db_step(db, statement, &ended);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (code >= 0) return 0;
    if (!taker.failed) *err = ended;
    return -1;
}
