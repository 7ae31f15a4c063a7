#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/run_or_file.h"
#include "query/sql/saved.h"

struct query {
    const char *db, *file, *save, *description, *forget;
    bool list;
    struct answer_options answer;
};

enum { DB = CLI_LONG, FORMAT, JSON, HUMAN, NO_HEADER, TIMEOUT, LIST, SAVE, DESCRIPTION, FORGET };

static int take_option(struct query *query, int option, struct error *err) {
    switch (option) {
    case DB: query->db = optarg; return 0;
    case 'f': query->file = optarg; return 0;
    case FORMAT: return table_format_of(optarg, &query->answer.table.format, err);
    case JSON: query->answer.table.format = TABLE_JSON; return 0;
    case HUMAN: query->answer.table.human = true; return 0;
    case NO_HEADER: query->answer.table.no_header = true; return 0;
    case TIMEOUT: return cli_duration("--timeout", optarg, 0, INT64_MAX / 2, &query->answer.timeout_ns, err);
    case LIST: query->list = true; return 0;
    case SAVE: query->save = optarg; return 0;
    case DESCRIPTION: query->description = optarg; return 0;
    case FORGET: query->forget = optarg; return 0;
    default: return -1;
    }
}

static int read_options(int argc, char **argv, struct query *query, struct error *err) {
    static const struct option longs[] = {
        {"db", required_argument, NULL, DB},           {"file", required_argument, NULL, 'f'},
        {"format", required_argument, NULL, FORMAT},   {"json", no_argument, NULL, JSON},
        {"human", no_argument, NULL, HUMAN},           {"no-header", no_argument, NULL, NO_HEADER},
        {"timeout", required_argument, NULL, TIMEOUT}, {"list", no_argument, NULL, LIST},
        {"save", required_argument, NULL, SAVE},       {"description", required_argument, NULL, DESCRIPTION},
        {"forget", required_argument, NULL, FORGET},   {0}};
    int option;
    while ((option = cli_option(argc, argv, "f:", longs, err)) != CLI_END)
        if (take_option(query, option, err) < 0) return -1;
    if ((query->list || query->forget) && (query->file || query->save || (query->list && query->forget)))
        return error_usage(err, "--list, --forget, --save and SQL: one at a time");
    if (query->description && !query->save) return error_usage(err, "--description belongs to --save");
    return query->list || query->forget ? cli_no_more(argc, argv, err) : 0;
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

/* The SQL from -f, from standard input, or from the first argument, which may be the name of a saved query; `*rest` is
 * the first argument after it. */
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

static int save(struct db *db, const struct query *query, const char *sql, char **arguments, size_t count,
                struct error *err) {
    const char *description = query->description ? query->description : "saved by clear query --save";
    if (strchr(description, '\n')) return error_usage(err, "--description: one line is wanted");
    if (*sql == '@') return error_usage(err, "--save wants SQL, not the name of a query that is saved");
    return saved_save(db, query->save, description, sql, arguments, count, err);
}

/* What needs no SQL. */
static int manage(const struct query *query, struct error *err) {
    struct db db;
    if (cli_open(&db, query->db, query->forget ? DB_WRITE : DB_READ, err)) return -1;
    int code = query->forget ? saved_forget(&db, query->forget, err)
                             : answer_sql(&db, &query->answer, saved_list_sql(), NULL, 0, err);
    return db_close(&db, err) ? -1 : code;
}

/* A write must not make a warehouse, as profile does: there is nothing to ask in it. */
/* `arguments` that say run=FILE are answered from those files. */
static int open_existing(struct db *db, const struct query *query, char **arguments, size_t count, struct error *err) {
    if (!query->save) return target_open(db, query->db, "run=", (const char **)arguments, count, err);
    if (cli_open(db, query->db, DB_READ, err)) return -1;
    return db_close(db, err) || cli_open(db, query->db, DB_WRITE, err) ? -1 : 0;
}

int command_query(int argc, char **argv, struct error *err) {
    struct query query = {.answer.timeout_ns = (int64_t)ASK_TIMEOUT_S * 1000000000};
    struct db db;
    int rest;
    if (read_options(argc, argv, &query, err) < 0) return -1;
    if (query.list || query.forget) return manage(&query, err);
    char *sql = read_sql(&query, argc, argv, &rest, err);
    if (!sql) return -1;
    size_t count = (size_t)(argc - rest);
    int code = open_existing(&db, &query, argv + rest, count, err);
    if (code == 0) {
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
