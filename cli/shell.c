#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "query/sql/saved.h"
#include "schema/schema.h"

/* Everything that the shell's connection gets before it asks, as SQL in a file that has no name. */
struct script {
    struct db *db;
    FILE *file;
    struct buffer views; /* names of the views made of saved queries */
};

/* ---- what the shell gets ---- */

/* The name of a query as SQL likes it: hot_sites for hot-sites. free() it. */
static char *view_name(const char *name) {
    char *view = xstrdup(name);
    for (char *at = view; *at; at++)
        if (*at == '-') *at = '_';
    return view;
}

/* 1: the file itself has a table or view of that name, which a temporary one would hide. */
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

static int add_query(struct script *script, const struct saved_query *query, struct error *err) {
    char *view = view_name(query->name);
    int code = is_taken(script->db, view, err);
    char *sql = code == 0 ? filled_in(script->db, query) : NULL;
    if (sql) {
        fprintf(script->file, "CREATE TEMP VIEW \"%s\" AS\n-- %s\n%s\n;\n", view, query->description, sql);
        buffer_add_text(&script->views, " ");
        buffer_add_text(&script->views, view);
    }
    sqlite3_free(sql);
    free(view);
    return code < 0 ? -1 : 0;
}

static int add_queries(struct script *script, struct error *err) {
    sqlite3_stmt *row = db_prepare(script->db, "SELECT name FROM queries ORDER BY name", err);
    struct saved_query query;
    int code = -1;
    while (row && (code = db_step(script->db, row, err)) == 1) {
        if (saved_find(script->db, db_text(row, 0), &query, err)) return -1;
        code = add_query(script, &query, err);
        queries_free(&query);
        if (code) return -1;
    }
    return code;
}

/* The configuration's temporary tables and views (schema/config.h) are ours; the shell's connection needs its own. */
static int add_temporary(struct script *script, const char *query, struct error *err) {
    sqlite3_stmt *row = db_prepare(script->db, query, err);
    int code = -1;
    while (row && (code = db_step(script->db, row, err)) == 1)
        fprintf(script->file, "%s%s;\n", db_text(row, 0), db_text(row, 1));
    return code;
}

static int add_config(struct script *script, struct error *err) {
    int code = add_temporary(script, embedded_text("shell/rules.sql"), err);
    return code ? code : add_temporary(script, embedded_text("shell/views.sql"), err);
}

/* ---- the greeting ---- */

static int greet(struct script *script, struct error *err) {
    int64_t runs, newest;
    if (db_int(script->db, "SELECT count(*) FROM runs", 0, &runs, err) ||
        db_int(script->db, "SELECT id FROM runs ORDER BY started_ns DESC, id DESC LIMIT 1", 0, &newest, err))
        return -1;
    printf("%s, read-only: %s runs", script->db->path, units_count(runs).text);
    if (runs) printf(", the latest is %lld", (long long)newest);
    printf(
        "\nviews: run_summary heap lock_use cell_use channel_use cpu_use hardware frames stacks site_history doctor\n"
        "saved queries, for the latest run:%s\n"
        "example: SELECT * FROM run_summary;    columns: .schema heap    leave: .quit\n\n",
        buffer_text(&script->views));
    return 0;
}

/* ---- the command ---- */

static int write_script(struct script *script, struct error *err) {
    if (add_config(script, err) || add_queries(script, err)) return -1;
    if (fflush(script->file) || ferror(script->file)) return error_fail(err, "the shell's script: %s", strerror(errno));
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? greet(script, err) : 0;
}

/* Never returns where it succeeds. */
static int start(const char *path, int file, char **sql, int count, struct error *err) {
    char *script = xasprintf(".read /dev/fd/%d", file);
    const char *mode = isatty(STDOUT_FILENO) ? "-box" : "-column";
    /* sqlite3 3.40 knows no "--": a name that looks like an option is given as a path. */
    char *file_name = xasprintf("%s%s", *path == '-' ? "./" : "", path);
    const char *fixed[] = {"sqlite3", "-readonly", "-header", mode, "-cmd", script, file_name};
    size_t size = sizeof fixed / sizeof *fixed;
    const char **words = xcalloc(size + (size_t)count + 1, sizeof *words);
    memcpy(words, fixed, sizeof fixed);
    memcpy(words + size, sql, (size_t)count * sizeof *words);
    fflush(stdout);
    execvp("sqlite3", (char **)(uintptr_t)words);
    error_fail(err, errno == ENOENT ? "sqlite3 is not in PATH; install it with: apt-get install sqlite3" : "sqlite3: %s",
               strerror(errno));
    free(words);
    free(file_name);
    free(script);
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
    int file = memfd_create("clear-shell", 0); /* without CLOEXEC: sqlite3 reads it */
    struct script script = {.db = &db, .file = file < 0 ? NULL : fdopen(file, "w")};
    if (!script.file) return error_fail(err, "the shell's script: %s", strerror(errno));
    int code = cli_open(&db, options.db, DB_READ, err);
    if (code == 0) {
        code = write_script(&script, err);
        db_close(&db, err);
    }
    if (code == 0) code = start(cli_database(options.db), file, argv + 1, argc - 1, err);
    buffer_free(&script.views);
    fclose(script.file);
    return code;
}
