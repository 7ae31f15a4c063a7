#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "query/ask.h"
#include "query/table.h"

struct query {
    const char *db, *file;
    struct table_options table;
    int64_t timeout_ns;
};

static int read_options(int argc, char **argv, struct query *query, struct error *err) {
    enum { DB = CLI_LONG, FORMAT, JSON, HUMAN, NO_HEADER, TIMEOUT };
    static const struct option longs[] = {
        {"db", required_argument, NULL, DB},           {"file", required_argument, NULL, 'f'},
        {"format", required_argument, NULL, FORMAT},   {"json", no_argument, NULL, JSON},
        {"human", no_argument, NULL, HUMAN},           {"no-header", no_argument, NULL, NO_HEADER},
        {"timeout", required_argument, NULL, TIMEOUT}, {0}};
    int option, code = 0;
    while (code == 0 && (option = cli_option(argc, argv, "f:", longs, err)) != CLI_END) {
        switch (option) {
        case DB: query->db = optarg; break;
        case 'f': query->file = optarg; break;
        case FORMAT: code = table_format_of(optarg, &query->table.format, err); break;
        case JSON: query->table.format = TABLE_JSON; break;
        case HUMAN: query->table.human = true; break;
        case NO_HEADER: query->table.no_header = true; break;
        case TIMEOUT: code = cli_duration("--timeout", optarg, 0, INT64_MAX / 2, &query->timeout_ns, err); break;
        default: return -1;
        }
    }
    return code;
}

/* A whole file, or standard input for "-"; NULL with the error set. */
static char *read_text(const char *path, struct error *err) {
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    struct buffer text = {0};
    char block[4096];
    size_t size;
    while (file && (size = fread(block, 1, sizeof block, file)) > 0)
        buffer_add(&text, block, size);
    if (!file || ferror(file))
        error_fail(err, "%s: %s", is_input ? "standard input" : path, strerror(errno));
    else if (memchr(buffer_text(&text), '\0', text.size))
        error_usage(err, "%s: is no text", is_input ? "standard input" : path);
    if (file && !is_input) fclose(file);
    if (err->status == ERROR_NONE) return buffer_take(&text);
    buffer_free(&text);
    return NULL;
}

/* The SQL from -f, from standard input, or from the first argument; `*rest` is the first argument after it. */
static char *read_sql(const struct query *query, int argc, char **argv, int *rest, struct error *err) {
    *rest = optind;
    if (query->file) return read_text(query->file, err);
    if (optind >= argc) {
        error_usage(err, "no SQL given");
        return NULL;
    }
    const char *sql = argv[(*rest)++];
    return strcmp(sql, "-") == 0 ? read_text(sql, err) : xstrdup(sql);
}

static int answer(struct db *db, const struct query *query, const char *sql, char **arguments, size_t count,
                  struct error *err) {
    struct ask ask;
    ask_open(&ask, db, query->timeout_ns, true);
    sqlite3_stmt *statement = ask_prepare(&ask, sql, err);
    if (!statement) ask_print_place(&ask, sql, stderr);
    int code = statement ? ask_bind(&ask, statement, arguments, count, err) : -1;
    if (code == 0) code = table_print(stdout, db, statement, ask_step, &query->table, err);
    sqlite3_finalize(statement);
    ask_close(&ask);
    return code;
}

int command_query(int argc, char **argv, struct error *err) {
    struct query query = {.timeout_ns = (int64_t)ASK_TIMEOUT_S * 1000000000};
    struct db db;
    int rest;
    if (read_options(argc, argv, &query, err) < 0) return -1;
    char *sql = read_sql(&query, argc, argv, &rest, err);
    if (!sql) return -1;
    size_t count = (size_t)(argc - rest);
    int code = target_open(&db, query.db, "run=", (const char **)(argv + rest), count, err);
    if (code == 0) {
        code = answer(&db, &query, sql, argv + rest, count, err);
        db_close(&db, err);
    }
    free(sql);
    return code;
}
