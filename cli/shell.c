#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "query/sql/saved.h"
#include "schema/schema.h"

/* What the shell's own connection gets before it asks: SQL statements, each an argument of its own to sqlite3.
 * Nothing from the warehouse is read as a script, where a line that begins with a dot would be a command of the
 * shell. */
struct setup {
    struct db *db;
    const char **statements;
    size_t count;
    struct arena texts;
    struct buffer views; /* names of the views made of saved queries */
};

/* ---- what the shell gets ---- */

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
static int add_query(struct setup *setup, const struct saved_query *query, struct error *err) {
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

static int add_queries(struct setup *setup, struct error *err) {
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
static int add_definitions(struct setup *setup, const char *query, struct error *err) {
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

/* ---- the greeting ---- */

static int print_banner(struct setup *setup, struct error *err) {
    int64_t runs, newest;
    if (db_int(setup->db, "SELECT count(*) FROM runs", 0, &runs, err) ||
        db_int(setup->db, "SELECT run_id FROM run_order WHERE place = 1", 0, &newest, err))
        return -1;
    printf("%s, read-only: %s runs", setup->db->path, units_count(runs).text);
    if (runs) printf(", the latest is %lld", (long long)newest);
    printf(
        "\nviews: run_summary heap lock_use cell_use channel_use cpu_use hardware frames stacks site_history doctor\n"
        "saved queries, for the latest run:%s\n"
        "example: SELECT * FROM run_summary;    columns: .schema heap    leave: .quit\n\n",
        buffer_text(&setup->views));
    return 0;
}

/* ---- the command ---- */

static int make_setup(struct setup *setup, struct error *err) {
    if (add_queries(setup, err) || add_definitions(setup, embedded_text("shell/rules.sql"), err) ||
        add_definitions(setup, embedded_text("shell/views.sql"), err))
        return -1;
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? print_banner(setup, err) : 0;
}

/* Never returns where it succeeds. The shell's safe mode refuses what reaches out of the warehouse: .shell, .open,
 * .output, ATTACH, readfile(). */
static int start(const char *path, const struct setup *setup, char **sql, int count, struct error *err) {
    const char *mode = isatty(STDOUT_FILENO) ? "-box" : "-column";
    /* sqlite3 3.40 knows no "--": a name that looks like an option is given as a path. */
    char *file_name = xasprintf("%s%s", *path == '-' ? "./" : "", path);
    const char *fixed[] = {"sqlite3", "-safe", "-readonly", "-header", mode};
    size_t size = sizeof fixed / sizeof *fixed;
    const char **words = xcalloc(size + 2 * setup->count + (size_t)count + 2, sizeof *words);
    memcpy(words, fixed, sizeof fixed);
    for (size_t i = 0; i < setup->count; i++) {
        words[size++] = "-cmd";
        words[size++] = setup->statements[i];
    }
    words[size++] = file_name;
    memcpy(words + size, sql, (size_t)count * sizeof *words);
    fflush(stdout);
    execvp("sqlite3", (char **)(uintptr_t)words);
    error_fail(err,
               errno == ENOENT ? "sqlite3 is not in PATH; install it with: apt-get install sqlite3" : "sqlite3: %s",
               strerror(errno));
    free(words);
    free(file_name);
    return -1;
}

struct shell_options {
    const char *db;
};
const struct option_group shell_options[] = {CLI_WAREHOUSE(shell_options, db), CLI_OPTIONS_END};

int command_shell(int argc, char **argv, struct error *err) {
    struct shell_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    struct setup setup = {.db = &db};
    int code = cli_open(&db, options.db, DB_READ, err);
    if (code == 0) {
        code = make_setup(&setup, err);
        db_close(&db, err);
    }
    if (code == 0) code = start(cli_database(options.db), &setup, argv + 1, argc - 1, err);
    buffer_free(&setup.views);
    free(setup.statements);
    arena_free(&setup.texts);
    return code;
}
