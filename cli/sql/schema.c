#include "schema/schema.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "schema/columns_json.h"

/* Prints the comment at the top of tables.sql, which belongs to no table. */
static void print_preface(void) {
    const char *text = embedded_text("tables.sql");
    const char *end = strstr(text, "\n\n");
    printf("%.*s\n\n", (int)(end - text), text);
}

static int print_rows(struct db *db, sqlite3_stmt *row, int64_t *printed, struct error *err) {
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        printf("%s;\n\n", db_text(row, 0));
        ++*printed;
    }
    return code;
}

static int print_all(struct db *db, struct error *err) {
    int64_t printed = 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/schema_command/texts"), err);
    if (!row) return -1;
    print_preface();
    return print_rows(db, row, &printed, err);
}

static int unknown(struct db *db, const char *name, struct error *err) {
    struct nearest nearest = {.word = name};
    sqlite3_stmt *row = db_prepare(db, "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')", err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        nearest_offer(&nearest, db_text(row, 0));
    if (code < 0) return -1;
    if (*nearest.found)
        return error_usage(err, "%s: no table or view '%s'; did you mean %s?", db->path, name, nearest.found);
    return error_usage(err, "%s: no table or view '%s'", db->path, name);
}

/* A table with its indexes, or a view with its triggers. */
static int print_one(struct db *db, const char *name, struct error *err) {
    int64_t printed = 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/schema_command/text"), err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    if (print_rows(db, row, &printed, err)) return -1;
    return printed ? 0 : unknown(db, name, err);
}

static int print_json(struct db *db, struct error *err) {
    struct buffer json = {0};
    int code = columns_json(db, &json, err);
    if (code == 0) fwrite(buffer_text(&json), 1, json.size, stdout);
    buffer_free(&json);
    return code;
}

struct schema_options {
    const char *db;
    bool json;
};

static const struct option_row output_rows[] = {
    {"json", .type = OPTION_SWITCH, .offset = offsetof(struct schema_options, json),
     .help = "Print a JSON array: each table and view with its columns, their units and meanings."},
    {0},
};
const struct option_group schema_options[] = {
    {"Output", output_rows, 0}, CLI_WAREHOUSE_OR_STORE(schema_options, db), CLI_OPTIONS_END};

int command_schema(int argc, char **argv, struct error *err) {
    struct schema_options options = {0};
    struct db db;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    /* Without a warehouse, the schema of a new one is printed: what is fetched from a store has it too. */
    bool is_new = cli_is_store(options.db) || (!options.db && access(cli_database(NULL), F_OK) != 0);
    const char *path = is_new ? ":memory:" : cli_database(options.db);
    if (!is_new && cli_check_owner(options.db, err)) return -1;
    if (db_open(&db, path, is_new ? DB_WRITE : DB_READ, err)) return -1;
    pager_start();
    if (options.json) {
        int listed = argc > 1 ? error_usage(err, "--json lists all tables and views") : print_json(&db, err);
        db_close(&db, err);
        return listed;
    }
    int code = argc > 1 ? 0 : print_all(&db, err);
    for (int i = 1; i < argc && code == 0; i++)
        code = print_one(&db, argv[i], err);
    db_close(&db, err);
    return code;
}
