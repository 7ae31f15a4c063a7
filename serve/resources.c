/* resources.c: the resources of the API (docs/api.md), a row each: its parameters, and the command that makes its answer. */
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "query/profile/load.h"
#include "query/runs/run_set.h"
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

static const struct resource runs = {{api_runs, list_parameters}, NULL, make_runs, NULL};

static int make_run(struct exchange *exchange, struct error *err) {
    if (api_command(exchange, "runs", err)) return -1;
    job_words_add(&exchange->job->words, "--describe");
    return api_add_runs(exchange, NULL, err);
}

static const struct resource run = {{api_runs, api_selection, api_filters}, NULL, make_run, NULL};

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
    buffer_printf(body, ",\"can_toggle\":%s,\"is_on\":%s}\n", control->is_on && !server->has_ended ? "true" : "false",
                  control->is_on && control->is_on(control->context) ? "true" : "false");
    exchange->reply.status = code ? 0 : MHD_HTTP_OK;
    exchange->reply.type = "application/json";
    exchange->reply.is_sized = true;
    return code;
}

static const struct resource server = {{NULL}, NULL, make_server, NULL};

/* ---- reports ---- */

/* Adds --kind where the request has none, so that the answer is of the first kind that all runs have. */
static int add_kind(struct exchange *exchange, struct error *err) {
    struct run_set set = {0};
    char *lines = NULL, *ids = NULL;
    struct db *db;
    if (api_value(exchange, "kind")) return 0;
    if (!(db = warehouse_db(exchange->server, err)) ||
        !(ids = api_run_ids(exchange, api_value(exchange, "runs"), err)) || run_set_add(&set, db, ids, err) ||
        profile_common_kinds(db, &set, &lines, err))
        lines = NULL;
    else if (*lines)
        job_words_add(&exchange->job->words, "--kind=%.*s", (int)strcspn(lines, "\n"), lines);
    else
        error_usage(err, "no one kind of profile is in all of these runs");
    run_set_free(&set);
    free(lines);
    free(ids);
    return err->status == ERROR_NONE ? 0 : -1;
}

static int make_report(struct exchange *exchange, const char *format, struct error *err) {
    if (api_command(exchange, "report", err)) return -1;
    job_words_add(&exchange->job->words, "-%s", format);
    return api_options(exchange, err) || add_kind(exchange, err) || api_add_runs(exchange, "diff_base", err) ? -1 : 0;
}

static const struct api_parameter table_parameters[] = {
    {"report", API_OWN, NULL}, {"function", API_OWN, NULL}, {"sort", API_CHOICE, "flat cum"}, {0}};

static int make_table(struct exchange *exchange, struct error *err) {
    const char *report = api_value(exchange, "report");
    if (report && strcmp(report, "top") != 0) return error_usage(err, "report=%.40s: it is one of: top", report);
    return make_report(exchange, "json", err);
}

static const struct resource table = {{api_runs, api_selection, api_filters, table_parameters}, NULL, make_table, NULL};

/* ---- the call tree ---- */

static const struct api_parameter tree_parameters[] = {{"root", API_OWN, NULL},
                                                       {"width", API_OWN, NULL},
                                                       {"inverted", API_SWITCH, "inverted"},
                                                       {"pivot", API_OPTION, "pivot"},
                                                       {0}};

enum { WIDTH = 1200, WIDTH_MAX = 20000 };

/* What the tree depends on: the words of the command that makes it. free() it. */
static char *key_of(const struct job *job) {
    struct buffer key = {0};
    for (size_t i = 0; i < job->words.count; i++)
        buffer_printf(&key, "%s\n", job->words.items[i]);
    return buffer_take(&key);
}

static void reply_tree(struct exchange *exchange, const struct packed_tree *tree) {
    struct error err = {0};
    struct buffer body = {0};
    int64_t width, root;
    if (api_number(exchange, "width", 1, WIDTH_MAX, WIDTH, &width, &err) ||
        api_number(exchange, "root", 1, INT64_C(1) << 53, PACKED_TREE_ROOT, &root, &err)) {
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    } else if (packed_tree_cut(tree, (uint64_t)root, width, &body, &err)) {
        exchange_failed(exchange, MHD_HTTP_NOT_FOUND, &err);
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
    if (make_report(exchange, "packed", err)) return -1;
    exchange->job->to_file = true;
    char *key = key_of(exchange->job);
    int code = trees_check(trees, warehouse_db(exchange->server, err), err);
    const struct packed_tree *tree = code == 0 ? trees_find(trees, key) : NULL;
    free(key);
    if (tree) reply_tree(exchange, tree);
    return code;
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

static const struct resource tree = {
    {api_runs, api_selection, api_filters, tree_parameters}, NULL, make_tree, finish_tree};

/* ---- all ---- */

const struct route api_routes[] = {
    {"server", READ, api_answer, .resource = &server}, {"runs", READ, api_answer, .resource = &runs},
    {"run", READ, api_answer, .resource = &run},       {"tree", READ, api_answer, .resource = &tree},
    {"table", READ, api_answer, .resource = &table},   {NULL, READ, api_answer},
};
