#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "cli/run_or_file.h"
#include "query/sql/saved.h"

struct query_command {
    const char *db, *file, *save, *description, *forget;
    bool list, is_remote;
    struct answer_options answer;
};

#define AT(member) offsetof(struct query_command, member)

static int take_format(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct query_command *query = into;
    (void)row;
    return table_format_of(text, &query->answer.table.format, err);
}

static int take_json(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)text;
    return take_format(into, row, "json", err);
}

static const struct option_row input_rows[] = {
    {"file", .letter = 'f', .type = OPTION_TEXT, .offset = AT(file), .argument = "FILE", .words = "<file>",
     .help = "Read the SQL from FILE. `-` is standard input."},
    {"timeout", .type = OPTION_DURATION, .offset = AT(answer.timeout_ns), .max = INT64_MAX / 2, .argument = "TIME",
     .help = "Stop a query that takes longer than TIME (`5`, `250ms`, `2m`). Default: 30 seconds. 0: no limit."},
    {0},
};

static int take_most(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct query_command *query = into;
    (void)row;
    return cli_bytes("--max-output", text, 0, INT64_MAX / 2, &query->answer.table.bytes_max, err);
}

static const struct option_row output_rows[] = {
    {"format", .type = OPTION_TAKE, .take = take_format, .argument = "FORMAT",
     .words = "table csv json jsonl arrays markdown",
     .help = "`table` (default), `csv` (RFC 4180), `json`, `jsonl` or `ndjson` (one object a line), `arrays` (a line "
             "with the "
             "columns, an array for each row, a last line that counts them) or `markdown`."},
    {"json", .type = OPTION_TAKE, .take = take_json, .help = "Same as `--format json`."},
    {"human", .type = OPTION_SWITCH, .offset = AT(answer.table.human),
     .help = "In tables: print columns named _bytes and _ns with units, and separate thousands."},
    {"rows", .type = OPTION_COUNT, .offset = AT(answer.table.rows_max), .max = INT64_MAX, .argument = "N",
     .help = "Print the first N rows. Default: all."},
    {"max-output", .type = OPTION_TAKE, .take = take_most, .argument = "SIZE",
     .help = "Stop after SIZE of output (`100M`, `2GiB`). Default: 1 GiB. 0: no limit."},
    {"no-header", .type = OPTION_SWITCH, .offset = AT(answer.table.no_header),
     .help = "Print `table` and `csv` without column names."},
    {0},
};

static const struct option_row saved_rows[] = {
    {"list", .type = OPTION_SWITCH, .offset = AT(list), .help = "List the saved queries with their parameters."},
    {"save", .type = OPTION_TEXT, .offset = AT(save), .argument = "NAME",
     .help = "Save the SQL in the warehouse as @NAME. Each NAME=VALUE becomes the default of a parameter."},
    {"description", .type = OPTION_TEXT, .offset = AT(description), .argument = "TEXT",
     .help = "With `--save`: one line that `--list` shows."},
    {"forget", .type = OPTION_TEXT, .offset = AT(forget), .argument = "NAME", .words = "<query>",
     .help = "Delete a saved query."},
    {0},
};

static const struct option_row store_rows[] = {
    {"remote", .type = OPTION_SWITCH, .offset = AT(is_remote),
     .help =
         "Let the team's store of `--db` answer, or `$CLEAR_STORE`, and fetch no runs. The SQL is PostgreSQL's; views "
         "and columns are those of a file."},
    {0},
};

const struct option_group query_options[] = {{"Query", input_rows, 0},
                                             {"Output", output_rows, 0},
                                             {"Saved queries", saved_rows, 0},
                                             {"Store", store_rows, 0},
                                             CLI_WAREHOUSE_OR_STORE(query_command, db),
                                             CLI_OPTIONS_END};
#undef AT

static int read_options(int *argc, char **argv, struct query_command *query, struct error *err) {
    if (cli_options(argc, argv, query, err) < 0) return -1;
    if ((query->list || query->forget) && (query->file || query->save || (query->list && query->forget)))
        return error_usage(err, "--list, --forget, --save and SQL exclude each other");
    if (query->is_remote && (query->list || query->forget || query->save))
        return error_usage(err, "saved queries are kept in a file: no --list, --save or --forget with --remote");
    if (query->description && !query->save) return error_usage(err, "--description needs --save NAME");
    return query->list || query->forget ? cli_at_most(0, *argc, argv, err) : 0;
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
        error_usage(err, "%s: is not text", is_input ? "standard input" : path);
    if (file && !is_input) fclose(file);
    if (err->status == ERROR_NONE) return buffer_take(&text);
    buffer_free(&text);
    return NULL;
}

/* The SQL from -f, from standard input, or from the first argument, which may be the name of a saved query; `*rest` is
 * the first argument after it. */
static char *read_sql(const struct query_command *query, int argc, char **argv, int *rest, struct error *err) {
    *rest = 1;
    if (query->file) return read_text(query->file, err);
    if (argc < 2) {
        error_usage(err, "no SQL: give a SELECT, @SAVED, -f FILE, or - for standard input");
        return NULL;
    }
    const char *sql = argv[(*rest)++];
    return strcmp(sql, "-") == 0 ? read_text(sql, err) : xstrdup(sql);
}

static int save(struct db *db, const struct query_command *query, const char *sql, char **arguments, size_t count,
                struct error *err) {
    const char *description = query->description ? query->description : "saved by clear query --save";
    if (strchr(description, '\n')) return error_usage(err, "--description must be one line");
    if (*sql == '@') return error_usage(err, "--save needs SQL, not the name of a saved query");
    return saved_save(db, query->save, description, sql, arguments, count, err);
}

/* What needs no SQL. */
static int manage(struct query_command *query, struct error *err) {
    struct db db;
    query->answer.is_of_no_run = true;
    pager_start();
    if (cli_open(&db, query->db, query->forget ? DB_WRITE : DB_READ, err)) return -1;
    int code = query->forget ? saved_forget(&db, query->forget, err)
                             : answer_sql(&db, &query->answer, saved_list_sql(), NULL, 0, err);
    return db_close(&db, err) ? -1 : code;
}

/* --save needs a warehouse that exists. */
/* With run=FILE among `arguments`, the query runs on those files. */
static int open_existing(struct db *db, const struct query_command *query, char **arguments, size_t count,
                         struct error *err) {
    if (!query->save) return target_open(db, query->db, "run=", (const char **)arguments, count, err);
    if (cli_open(db, query->db, DB_READ, err)) return -1;
    return db_close(db, err) || cli_open(db, query->db, DB_WRITE, err) ? -1 : 0;
}

/* The rows that the team's store has. */
static int ask_store(struct query_command *query, const char *sql, char **arguments, size_t count, struct error *err) {
    const char *variable = query->db ? NULL : getenv("CLEAR_STORE");
    const char *address = cli_is_store(query->db) ? cli_database(query->db) : variable;
    if (!address || !*address)
        return error_usage(err, "give the address of the store: --db postgresql://HOST/DATABASE, or $CLEAR_STORE");
    pager_start();
    return answer_remote(address, cli_project(), &query->answer, sql, arguments, count, err);
}

int command_query(int argc, char **argv, struct error *err) {
    struct query_command query = {
        .answer = {.timeout_ns = (int64_t)ASK_TIMEOUT_S * 1000000000, .table.bytes_max = 1 << 30}};
    struct db db;
    int rest;
    if (read_options(&argc, argv, &query, err) < 0) return -1;
    if (query.list || query.forget) return manage(&query, err);
    char *sql = read_sql(&query, argc, argv, &rest, err);
    if (!sql) return -1;
    if (query.is_remote && *sql == '@' && !query.file) {
        free(sql);
        return error_usage(err, "saved queries are written for a file: give the SQL, or clear pull the runs");
    }
    size_t count = (size_t)(argc - rest);
    if (query.is_remote) {
        int remote = ask_store(&query, sql, argv + rest, count, err);
        free(sql);
        return remote;
    }
    int code = open_existing(&db, &query, argv + rest, count, err);
    if (code == 0) {
        if (!query.save) pager_start();
        if (query.save)
            code = save(&db, &query, sql, argv + rest, count, err);
        else if (*sql == '@' && !query.file)
            code = answer_saved(&db, &query.answer, sql + 1, argv + rest, count, err);
        else
            code = answer_sql(&db, &query.answer, sql, argv + rest, count, err);
        if (db_close(&db, err)) code = -1;
    }
    free(sql);
    return code;
}
