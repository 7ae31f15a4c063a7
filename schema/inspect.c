#include "schema/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* ---- tables ---- */

static const char create_table[] = "CREATE TABLE ";

/* "CREATE TABLE runs (" or, after a migration that renamed it, "CREATE TABLE "runs" (". */
static bool creates_table(const char *sql, const char *name, size_t size) {
    if (strncmp(sql, create_table, strlen(create_table)) != 0) return false;
    const char *at = sql + strlen(create_table);
    bool is_quoted = *at == '"';
    at += is_quoted;
    if (strncmp(at, name, size) != 0) return false;
    at += size;
    return is_quoted ? *at == '"' : *at == ' ' || *at == '(';
}

static int check_table(struct db *db, const char *name, size_t size, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/table.sql"), err);
    if (!row) return -1;
    char *table = xasprintf("%.*s", (int)size, name);
    db_bind_text(row, ":name", table);
    free(table);
    int code = db_step(db, row, err);
    bool is_good = code == 1 && creates_table(db_text(row, 0), name, size);
    sqlite3_reset(row);
    if (code < 0 || is_good) return code < 0 ? -1 : 0;
    return error_fail(err, "%s: is damaged, or not made by clear: %.*s is not a table of its own", db->path, (int)size,
                      name);
}

/* A computed column runs an expression of the file where a value is read. */
static int check_columns(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/computed_column.sql"), err);
    int code = row ? db_step(db, row, err) : -1;
    if (code == 1)
        error_fail(err, "%s: is damaged, or not made by clear: %s has a computed column", db->path, db_text(row, 0));
    if (row) sqlite3_reset(row);
    return code ? -1 : 0;
}

int inspect_tables(struct db *db, struct error *err) {
    const char *at = embedded_text("tables.sql");
    while ((at = strstr(at, "\nCREATE TABLE "))) {
        const char *name = at + 1 + strlen(create_table);
        if (check_table(db, name, strcspn(name, " ("), err)) return -1;
        at = name;
    }
    return check_columns(db, err);
}

/* ---- views ---- */

/* SQLite stores a view from CREATE up to its semicolon. */
static bool is_text_of(const char *stored, const char *own) {
    static const char create[] = "CREATE VIEW ";
    if (strncmp(stored, create, strlen(create)) != 0) return false;
    stored += strlen(create);
    size_t size = strlen(stored);
    return strncmp(own, stored, size) == 0 && (own[size] == ';' || !own[size]);
}

int inspect_views(struct db *db, bool *own, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'", err);
    char *sites = schema_sites_text();
    size_t same = 0;
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        const char *name = db_text(row, 0);
        const char *text = strcmp(name, "sites") == 0 ? sites : schema_view_text(name);
        same += text && is_text_of(db_text(row, 1), text);
    }
    free(sites);
    *own = same == schema_view_count() + 1;
    return code;
}
