#include "cli/sql/shell_setup.h"

#include <stdlib.h>
#include <string.h>

#include "query/sql/saved.h"
#include "schema/schema.h"

/* The name of a query as an SQL name: hot_sites for hot-sites. free() it. */
static char *view_name(const char *name) {
    char *view = xstrdup(name);
    for (char *at = view; *at; at++)
        if (*at == '-') *at = '_';
    return view;
}

/* 1: the warehouse has a table or view of that name, which a temporary one would hide. */
static int is_taken(struct db *db, const char *view, struct error *err) {
    sqlite3_stmt *row =
        db_prepare(db, "SELECT count(*) FROM main.sqlite_schema WHERE name = :name COLLATE NOCASE", err);
    if (!row) return -1;
    db_bind_text(row, ":name", view);
    if (db_step(db, row, err) != 1) return -1;
    int taken = sqlite3_column_int(row, 0) > 0;
    sqlite3_reset(row);
    return taken;
}

/* The SQL of a saved query with its defaults in the place of its parameters, as SQLite itself writes them; NULL where a
 * parameter has none, or the SQL is wrong. sqlite3_free it. */
static char *filled_in(struct db *db, const struct saved_query *query) {
    struct ask ask;
    struct error ignored = {0};
    char *sql = NULL;
    ask_open(&ask, db, 0, false);
    sqlite3_stmt *statement = ask_prepare(&ask, query->sql, &ignored);
    if (statement && saved_bind(&ask, statement, query, NULL, 0, &ignored) == 0) sql = sqlite3_expanded_sql(statement);
    sqlite3_finalize(statement);
    ask_close(&ask);
    return sql;
}

/* Letters, digits, _ and -: a name that needs no quotes, neither in SQL nor on a terminal. */
static bool is_plain_name(const char *name) {
    return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

/* Makes the view in our own connection, which takes one statement and no more. add_definitions gives it to the
 * shell's. */
static int add_query(struct shell_setup *setup, const struct saved_query *query, struct error *err) {
    if (!is_plain_name(query->name)) return 0;
    char *view = view_name(query->name);
    int code = is_taken(setup->db, view, err);
    char *sql = code == 0 ? filled_in(setup->db, query) : NULL;
    if (sql) {
        char *definition = xasprintf("\"%s\" AS\n%s", view, sql);
        code = db_create_temp_view(setup->db, definition, err);
        free(definition);
        buffer_add_text(&setup->views, " ");
        buffer_add_text(&setup->views, view);
    }
    sqlite3_free(sql);
    free(view);
    return code < 0 ? -1 : 0;
}

static int add_queries(struct shell_setup *setup, struct error *err) {
    sqlite3_stmt *row = db_prepare(setup->db, "SELECT name FROM queries ORDER BY name", err);
    struct saved_query query;
    int code = -1;
    while (row && (code = db_step(setup->db, row, err)) == 1) {
        if (saved_find(setup->db, db_text(row, 0), &query, err)) return -1;
        code = add_query(setup, &query, err);
        queries_free(&query);
        if (code) return -1;
    }
    return code;
}

/* Statements that the query makes of our temporary tables and views (schema/config.h): the shell's connection needs
 * its own. */
static int add_definitions(struct shell_setup *setup, const char *query, struct error *err) {
    sqlite3_stmt *row = db_prepare(setup->db, query, err);
    int code = -1;
    while (row && (code = db_step(setup->db, row, err)) == 1) {
        char *statement = xasprintf("%s%s", db_text(row, 0), db_text(row, 1));
        setup->statements = xrealloc(setup->statements, (setup->count + 1) * sizeof *setup->statements);
        setup->statements[setup->count++] = arena_text(&setup->texts, statement, strlen(statement));
        free(statement);
    }
    return code;
}

int shell_setup_make(struct shell_setup *setup, struct error *err) {
    return add_queries(setup, err) || add_definitions(setup, embedded_text("shell/rules.sql"), err) ||
                   add_definitions(setup, embedded_text("shell/views.sql"), err)
               ? -1
               : 0;
}

void shell_setup_free(struct shell_setup *setup) {
    buffer_free(&setup->views);
    free(setup->statements);
    arena_free(&setup->texts);
}
