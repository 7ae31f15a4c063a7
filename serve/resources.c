/* resources.c: the resources of the API (docs/api.md), a row each: its parameters, and the command that makes its answer. */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "export/format.h"
#include "query/profile/load.h"
#include "query/profile/packed_search.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"
#include "schema/config.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "serve/resource.h"
#include "serve/trees.h"

#define READ (METHOD_GET | METHOD_HEAD)

/* ---- runs ---- */

static const struct api_parameter list_parameters[] = {
    {"q", API_OPTION, "search"},
    {"label", API_OPTION, "label"},
    {"tag", API_OPTION, "tag"},
    {"kind", API_OPTION, "kind"},
    {"before", API_OWN, NULL},
    {"limit", API_OPTION, "last"},
    {0},
};

static int make_runs(struct exchange *exchange, struct error *err) {
    const char *before = api_value(exchange, "before"), *set = api_value(exchange, "runs");
    if (api_command(exchange, "runs", err) || api_options(exchange, err)) return -1;
    job_words_add(&exchange->job->words, "--json");
    if (before) job_words_add(&exchange->job->words, "--before=%s", before);
    return set ? api_add_runs(exchange, NULL, err) : 0;
}

static const struct resource runs = {{api_runs, list_parameters}, make_runs, NULL};

static int make_run(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "runs", err)) return -1;
    job_words_add(&exchange->job->words, "--describe");
    return api_add_runs(exchange, NULL, err);
}

static const struct resource run = {{api_runs, api_selection, api_filters}, make_run, NULL};

/* The uuid of the run that this process records, or null. */
static int add_recording(const struct exchange *exchange, struct db *db, struct buffer *body, struct error *err) {
    const struct server *its = exchange->server;
    buffer_add_text(body, ",\"recording\":");
    if (!its->source.run_id || its->has_ended) {
        buffer_add_text(body, "null");
        return 0;
    }
    sqlite3_stmt *row = db_prepare(db, "SELECT uuid FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", its->source.run_id);
    if (db_step(db, row, err) < 0) return -1;
    buffer_add_json_text(body, db_text(row, 0));
    sqlite3_reset(row);
    return 0;
}

/* The parameter that is that option. The granularities have one of their own. */
static const char *parameter_of(const char *option) {
    if (strcmp(option, "granularity") == 0) return "g";
    for (const struct api_parameter *one = api_filters; one->name; one++)
        if (one->value != API_CHOICE && strcmp(one->option, option) == 0) return one->name;
    return option;
}

/* "filters":[{"name":...,"filters":{"f":...}}]: those that the configuration shares. */
static int add_filters_of(const char *path, struct buffer *body, struct error *err) {
    struct config config = {0};
    if (path && config_read(&config, path, err)) return -1;
    buffer_add_text(body, ",\"filters\":[");
    for (size_t i = 0; i < config.filter_count; i++) {
        const struct config_filter *filter = &config.filters[i];
        buffer_add_text(body, i ? ",{" : "{");
        buffer_add_json_field(body, "name", filter->name);
        buffer_add_text(body, ",\"filters\":{");
        for (size_t j = 0; j < filter->option_count; j++) {
            if (j) buffer_add_char(body, ',');
            buffer_add_json_field(body, parameter_of(filter->options[j].key), filter->options[j].value);
        }
        buffer_add_text(body, "}}");
    }
    buffer_add_char(body, ']');
    config_free(&config);
    return 0;
}

static int make_server(struct exchange *exchange, struct error *err) {
    const struct server *server = exchange->server;
    const struct server_control *control = &server->source.control;
    struct db *db = warehouse_db(exchange->server, err);
    struct buffer *body = &exchange->reply.body;
    if (!db) return -1;
    buffer_add_char(body, '{');
    buffer_add_json_field(body, "version", CLEAR_VERSION);
    buffer_add_char(body, ',');
    buffer_add_json_field(body, "warehouse", db->path);
    int code = add_recording(exchange, db, body, err);
    if (code == 0) code = add_filters_of(server->source.config, body, err);
    buffer_printf(body, ",\"can_toggle\":%s,\"is_on\":%s}\n", control->is_on && !server->has_ended ? "true" : "false",
                  control->is_on && control->is_on(control->context) ? "true" : "false");
    exchange->reply.status = code ? 0 : MHD_HTTP_OK;
    exchange->reply.type = "application/json";
    exchange->reply.is_sized = true;
    return code;
}

static const struct resource server = {{NULL}, make_server, NULL};

/* ---- reports ---- */

/* The kind of the request, or the first that all of its runs have; free() it. */
static char *api_kind(struct exchange *exchange, struct error *err) {
    struct run_set set = {0};
    char *lines = NULL, *ids = NULL;
    struct db *db;
    if (api_value(exchange, "kind")) return xstrdup(api_value(exchange, "kind"));
    if (!(db = warehouse_db(exchange->server, err)) ||
        !(ids = api_run_ids(exchange, api_value(exchange, "runs"), err)) || run_set_add(&set, db, ids, err) ||
        profile_common_kinds(db, &set, &lines, err))
        lines = NULL;
    else if (!*lines)
        error_usage(err, "no one kind of profile is in all of these runs");
    else
        lines[strcspn(lines, "\n")] = '\0';
    run_set_free(&set);
    free(ids);
    if (err->status == ERROR_NONE) return lines;
    free(lines);
    return NULL;
}

static int add_kind(struct exchange *exchange, struct error *err) {
    if (api_value(exchange, "kind")) return 0;
    char *kind = api_kind(exchange, err);
    if (kind) job_words_add(&exchange->job->words, "--kind=%s", kind);
    free(kind);
    return err->status == ERROR_NONE ? 0 : -1;
}

static int make_report(struct exchange *exchange, const char *format, struct error *err) {
    if (api_command(exchange, "report", err)) return -1;
    job_words_add(&exchange->job->words, "-%s", format);
    return api_options(exchange, err) || add_kind(exchange, err) || api_add_runs(exchange, "diff_base", err) ? -1 : 0;
}

static const struct api_parameter table_parameters[] = {
    {"report", API_OWN, NULL}, {"function", API_OWN, NULL}, {"sort", API_CHOICE, "flat cum"}, {0}};

static const struct {
    const char *name, *format;
    bool is_text;
} tables[] = {
    {"top", "json", false}, {"peek", "json", false},        {"traces", "samples", false},
    {"tags", "tags", true}, {"comments", "comments", true}, {"raw", "raw", true},
};

/* With what calls them and what they call, however little it is. */
static int add_around(struct exchange *exchange, struct error *err) {
    const char *function = api_value(exchange, "function");
    if (!function) return error_usage(err, "report=peek needs function=REGEX");
    job_words_add(&exchange->job->words, "--around=%s", function);
    job_words_add(&exchange->job->words, "--trim=false");
    return 0;
}

static int make_table(struct exchange *exchange, struct error *err) {
    const char *report = api_value(exchange, "report");
    size_t i = 0, count = sizeof tables / sizeof *tables;
    while (report && i < count && strcmp(tables[i].name, report) != 0)
        i++;
    if (i == count) return error_usage(err, "report=%.40s: it is one of: top peek traces tags comments raw", report);
    if (tables[i].is_text) exchange->type = "text/plain; charset=utf-8";
    if (make_report(exchange, tables[i].format, err)) return -1;
    return strcmp(tables[i].name, "peek") == 0 ? add_around(exchange, err) : 0;
}

static const struct resource table = {{api_runs, api_selection, api_filters, table_parameters}, make_table, NULL};

static const struct api_parameter function_parameters[] = {{"function", API_OWN, NULL}, {0}};

/* `source` and `code` take the functions that they are about as their value. */
static int make_listing(struct exchange *exchange, const char *format, struct error *err) {
    const char *function = api_value(exchange, "function");
    if (!function) return error_usage(err, "function=REGEX is missing");
    char *word = xasprintf("%s=%s", format, function);
    int code = make_report(exchange, word, err);
    free(word);
    return code;
}

static int make_source(struct exchange *exchange, struct error *err) {
    return make_listing(exchange, "source", err);
}

static int make_disasm(struct exchange *exchange, struct error *err) {
    return make_listing(exchange, "code", err);
}

static const struct resource source = {{api_runs, api_selection, api_filters, function_parameters}, make_source, NULL};
static const struct resource disasm = {{api_runs, api_selection, api_filters, function_parameters}, make_disasm, NULL};

static const struct api_parameter series_parameters[] = {{"function", API_OPTION, "history"}, {0}};

static int make_series(struct exchange *exchange, struct error *err) {
    if (api_value(exchange, "base")) return error_usage(err, "a series has no base");
    if (make_report(exchange, "json", err)) return -1;
    if (!api_value(exchange, "function")) job_words_add(&exchange->job->words, "--history=^"); /* all of them */
    return 0;
}

static const struct resource series = {{api_runs, api_selection, api_filters, series_parameters}, make_series, NULL};

static const struct api_parameter changes_parameters[] = {{"figure", API_OWN, NULL}, {"of", API_OPTION, "of"}, {0}};

static int make_changes(struct exchange *exchange, struct error *err) {
    const char *figure = api_value(exchange, "figure");
    if (!figure) return error_usage(err, "changes need figure=FIGURE");
    if (*figure == '-') return error_usage(err, "figure=%.40s: it is the name of a column", figure);
    if (api_command(exchange, "trend", err) || api_options(exchange, err)) return -1;
    job_words_add(&exchange->job->words, "--json");
    job_words_add(&exchange->job->words, "%s", figure);
    return api_add_runs(exchange, NULL, err);
}

static const struct resource changes = {{api_runs, changes_parameters}, make_changes, NULL};

static const struct api_parameter graph_parameters[] = {{"format", API_OWN, NULL}, {0}};

static int make_graph(struct exchange *exchange, struct error *err) {
    const char *format = api_value(exchange, "format");
    bool is_dot = format && strcmp(format, "dot") == 0;
    if (format && !is_dot && strcmp(format, "svg") != 0) return error_usage(err, "format=%.40s: svg or dot", format);
    exchange->type = is_dot ? "text/vnd.graphviz" : "image/svg+xml";
    exchange->failure = MHD_HTTP_NOT_IMPLEMENTED;
    return make_report(exchange, is_dot ? "dot" : "svg", err);
}

static const struct resource graph = {{api_runs, api_selection, api_filters, graph_parameters}, make_graph, NULL};

/* ---- judgement ---- */

/* The two filters that a doctor has. */
static void add_filters(struct exchange *exchange) {
    const char *focus = api_value(exchange, "f"), *ignore = api_value(exchange, "i");
    job_words_add(&exchange->job->words, "--json");
    if (focus) job_words_add(&exchange->job->words, "--focus=%s", focus);
    if (ignore) job_words_add(&exchange->job->words, "--ignore=%s", ignore);
}

static int make_findings(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    return api_add_runs(exchange, NULL, err);
}

static const struct resource findings = {{api_runs, api_selection, api_filters}, make_findings, NULL};

static int make_compare(struct exchange *exchange, struct error *err) {
    const char *base = api_value(exchange, "base");
    if (!base) return error_usage(err, "compare needs base=RUNS");
    if (api_command(exchange, "doctor", err)) return -1;
    add_filters(exchange);
    char *old = api_run_ids(exchange, base, err),
         *new = old ? api_run_ids(exchange, api_value(exchange, "runs"), err) : NULL;
    if (new) {
        job_words_add(&exchange->job->words, "--diff=%s", new);
        job_words_add(&exchange->job->words, "%s", old);
    }
    free(old);
    free(new);
    return err->status == ERROR_NONE ? 0 : -1;
}

static const struct resource compare = {{api_runs, api_selection, api_filters}, make_compare, NULL};

/* ---- SQL ---- */

static const struct api_parameter rows_parameters[] = {
    {"limit", API_OWN, NULL}, {"timeout", API_OPTION, "timeout"}, {0}};

enum { ROWS = 10000, ROWS_MAX = 1000000, QUERY_SECONDS_MAX = 3600 };

/* `clear query` on SQL that it gets as its standard input. */
static int make_query(struct exchange *exchange, const char *format, const char *sql, size_t size, struct error *err) {
    if (api_command(exchange, "query", err)) return -1;
    job_words_add(&exchange->job->words, "--format=%s", format);
    job_words_add(&exchange->job->words, "--file=-");
    buffer_add(&exchange->job->input, sql, size);
    return 0;
}

static int make_rows(struct exchange *exchange, struct error *err) {
    int64_t rows;
    if (api_number(exchange, "limit", 1, ROWS_MAX, ROWS, &rows, err)) return -1;
    if (!exchange->body.size) return error_usage(err, "the body is the SQL");
    if (make_query(exchange, "arrays", exchange->body.data, exchange->body.size, err) || api_options(exchange, err))
        return -1;
    job_words_add(&exchange->job->words, "--rows=%" PRId64, rows);
    exchange->job->is_stream = true;
    exchange->job->seconds = QUERY_SECONDS_MAX; /* it has a limit of its own */
    exchange->type = "application/jsonl";
    return 0;
}

static const struct resource rows = {{rows_parameters}, make_rows, NULL};

static int make_queries(struct exchange *exchange, struct error *err) {
    static const char sql[] = "SELECT name, description, params, sql FROM queries ORDER BY name";
    return make_query(exchange, "json", sql, strlen(sql), err);
}

static const struct resource queries = {{NULL}, make_queries, NULL};

static int make_schema(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "schema", err)) return -1;
    job_words_add(&exchange->job->words, "--json");
    return 0;
}

static const struct resource schema = {{NULL}, make_schema, NULL};

/* ---- objects and windows ---- */

static const struct {
    const char *of, *kind, *file;
} objects_of[] = {
    {"lock", "lock", "serve/lock_objects.sql"},      {"wait", "wait", "serve/lock_objects.sql"},
    {"channels", NULL, "serve/channel_objects.sql"}, {"mvcc", NULL, "serve/cell_objects.sql"},
    {"fibers", NULL, "serve/fiber_sites.sql"},
};

static void take_edge(struct timespan_edge *edge, const char *text) {
    struct error not_that = {0};
    edge->text = text;
    edge->is_moment = text && number_duration("", text, 0, INT64_MAX, &edge->offset_ns, &not_that) != 0;
}

/* from=, to= and window= of this request. */
static int read_span(const struct exchange *exchange, struct timespan_request *span, struct error *err) {
    *span = (struct timespan_request){0};
    take_edge(&span->from, api_value(exchange, "from"));
    take_edge(&span->to, api_value(exchange, "to"));
    return api_number(exchange, "window", INT32_MIN, INT32_MAX, 0, &span->window, err);
}

/* spans=[[run, from, to], ...] */
static int add_spans(struct exchange *exchange, const char *kind, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    struct timespan_request asked;
    struct run_set set = {0};
    struct buffer json = {0};
    char *ids = db ? api_run_ids(exchange, api_value(exchange, "runs"), err) : NULL;
    int code = ids && read_span(exchange, &asked, err) == 0 ? run_set_add(&set, db, ids, err) : -1;
    for (size_t i = 0; i < set.count && code == 0; i++) {
        struct timespan span;
        code = timespan_find(db, set.ids[i], kind, &asked, &span, err);
        buffer_printf(&json, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 "]", i ? "," : "", set.ids[i], span.from_ns,
                      span.to_ns);
    }
    if (code == 0) job_words_add(&exchange->job->words, "spans=[%s]", buffer_text(&json));
    buffer_free(&json);
    run_set_free(&set);
    free(ids);
    return code;
}

static const struct api_parameter objects_parameters[] = {{"of", API_OWN, NULL}, {0}};

static int make_objects(struct exchange *exchange, struct error *err) {
    const char *of = api_value(exchange, "of");
    size_t i = 0, count = sizeof objects_of / sizeof *objects_of;
    while (i < count && (!of || strcmp(objects_of[i].of, of) != 0))
        i++;
    if (i == count) return error_usage(err, "of=%.40s: it is one of: lock wait channels mvcc fibers", of ? of : "");
    const char *sql = embedded_text(objects_of[i].file);
    if (make_query(exchange, "json", sql, strlen(sql), err) || add_spans(exchange, objects_of[i].of, err)) return -1;
    if (objects_of[i].kind) job_words_add(&exchange->job->words, "kind=%s", objects_of[i].kind);
    return 0;
}

static const struct resource objects = {{api_runs, api_selection, api_filters, objects_parameters}, make_objects, NULL};

static int make_windows(struct exchange *exchange, struct error *err) {
    const char *sql = embedded_text("serve/windows.sql");
    char *kind = api_kind(exchange, err), *ids = api_run_ids(exchange, api_value(exchange, "runs"), err);
    int code = kind && ids ? make_query(exchange, "json", sql, strlen(sql), err) : -1;
    if (code == 0 && strchr(ids, ',')) code = error_usage(err, "windows are those of one run");
    if (code == 0) {
        job_words_add(&exchange->job->words, "run=%s", ids);
        job_words_add(&exchange->job->words, "kind=%s", kind_stored(kind));
    }
    free(kind);
    free(ids);
    return code;
}

static const struct resource windows = {{api_runs, api_selection, api_filters}, make_windows, NULL};

static int make_live(struct exchange *exchange, struct error *err) {
    char *ids = api_run_ids(exchange, api_value(exchange, "runs"), err);
    if (!ids) return -1;
    int code = strchr(ids, ',') ? error_usage(err, "live is about one run") : 0;
    if (code == 0) code = live_begin(exchange, strtoll(ids, NULL, 10), err);
    if (code == 0) exchange_stream(exchange, "text/event-stream");
    free(ids);
    return code;
}

static const struct resource live = {{api_runs, api_selection, api_filters}, make_live, NULL};

/* ---- downloads ---- */

/* A name of a file of what is selected. A kind may be any text of a stranger's file. */
static char *file_name(const char *kind, const char *suffix) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    char *name = xasprintf("%.60s%s", kind, suffix ? suffix : "");
    for (char *c = name; *c; c++)
        if (*c != '.' && !strchr(plain, *c)) *c = '_';
    return name;
}

static const struct api_parameter export_parameters[] = {{"format", API_OWN, NULL}, {0}};

static int make_export(struct exchange *exchange, struct error *err) {
    const char *name = api_value(exchange, "format");
    const struct export_format *format = export_format_find(name ? name : "pprof", err);
    if (!format || api_command(exchange, "export", err)) return -1;
    char *kind = api_kind(exchange, err);
    if (!kind) return -1;
    const char *media = format->report.media;
    exchange->type = media ? media : "text/plain; charset=utf-8";
    exchange->filename = file_name(kind, format->report.suffix);
    exchange->job->output_max = (size_t)512 << 20;
    job_words_add(&exchange->job->words, "--format=%s", format->report.name);
    if (!api_value(exchange, "kind")) job_words_add(&exchange->job->words, "--kind=%s", kind);
    job_words_add(&exchange->job->words, "--output=-");
    free(kind);
    return api_options(exchange, err) || api_add_runs(exchange, "diff_base", err) ? -1 : 0;
}

static const struct resource export = {{api_runs, api_selection, api_filters, export_parameters}, make_export, NULL};

/* ---- the call tree ---- */

static const struct api_parameter tree_parameters[] = {
    {"root", API_OWN, NULL},        {"width", API_OWN, NULL},  {"inverted", API_SWITCH, "inverted"},
    {"pivot", API_OPTION, "pivot"}, {"search", API_OWN, NULL}, {0}};

enum { WIDTH = 1200, WIDTH_MAX = 20000 };

/* What the tree depends on: the words of the command that makes it. free() it. */
static char *key_of(const struct job *job) {
    struct buffer key = {0};
    for (size_t i = 0; i < job->words.count; i++)
        buffer_printf(&key, "%s\n", job->words.items[i]);
    return buffer_take(&key);
}

/* What matches below a node. */
static int add_found(const struct packed_tree *tree, uint64_t root, const char *regex, struct buffer *body,
                     struct error *err) {
    struct packed_found found;
    if (packed_tree_search(tree, root, regex, &found, err)) return -1;
    buffer_printf(body, "{\"count\":%" PRIu64 ",\"value\":%" PRId64, found.count, found.value);
    if (tree->base_totals) buffer_printf(body, ",\"base\":%" PRId64, found.base);
    buffer_add_text(body, "}\n");
    return 0;
}

static void reply_tree(struct exchange *exchange, const struct packed_tree *tree) {
    struct error err = {0};
    struct buffer body = {0};
    const char *regex = api_value(exchange, "search");
    uint32_t node;
    int64_t width, root;
    if (api_number(exchange, "width", 1, WIDTH_MAX, WIDTH, &width, &err) ||
        api_number(exchange, "root", 1, INT64_C(1) << 53, PACKED_TREE_ROOT, &root, &err)) {
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    } else if (regex ? add_found(tree, (uint64_t)root, regex, &body, &err)
                     : packed_tree_cut(tree, (uint64_t)root, width, &body, &err)) {
        bool has_root = packed_tree_find(tree, (uint64_t)root, &node);
        exchange_failed(exchange, has_root ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_NOT_FOUND, &err);
    } else {
        exchange->reply.status = MHD_HTTP_OK;
        exchange->reply.type = "application/json";
        exchange->reply.is_sized = true;
        exchange->reply.body = body;
        return;
    }
    buffer_free(&body);
}

static int make_tree(struct exchange *exchange, struct error *err) {
    struct trees *trees = &exchange->server->trees;
    struct db *db = warehouse_db(exchange->server, err);
    if (!db || make_report(exchange, "packed", err)) return -1;
    exchange->job->to_file = true;
    char *key = key_of(exchange->job);
    trees_check(trees, db->path);
    const struct packed_tree *tree = trees_find(trees, key);
    free(key);
    if (tree) reply_tree(exchange, tree);
    return 0;
}

static void finish_tree(struct exchange *exchange) {
    struct error err = {0};
    char *key = key_of(exchange->job);
    const struct packed_tree *tree = trees_keep(&exchange->server->trees, key, exchange->job->file, &err);
    free(key);
    if (tree)
        reply_tree(exchange, tree);
    else
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
}

static const struct resource tree = {{api_runs, api_selection, api_filters, tree_parameters}, make_tree, finish_tree};

/* ---- all ---- */

#define GET(name_)                                                                                                     \
    { #name_, READ, api_answer, .resource = &name_ }

const struct route api_routes[] = {
    GET(server),  GET(runs),
    GET(run),     GET(tree),
    GET(table),   GET(source),
    GET(disasm),  GET(series),
    GET(changes), GET(graph),
    GET(schema),  GET(findings),
    GET(compare), {"rows", METHOD_POST, api_answer, .resource = &rows},
    GET(queries), GET(objects),
    GET(windows), GET(live),
    GET(export),  {NULL, READ, api_answer},
};
