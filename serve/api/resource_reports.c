/* resource_reports.c: the reports of a selection: tables, code, series, graphs. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "query/profile/load/load.h"
#include "serve/api/resource.h"

/* The kind of the request, or the first that all of its runs have; free() it. */
char *api_kind(struct exchange *exchange, struct error *err) {
    struct db *db = warehouse_db(exchange->server, err);
    const struct run_set *runs;
    char *kinds = NULL;
    if (api_value(exchange, "kind")) return xstrdup(api_value(exchange, "kind"));
    if (!db || !(runs = api_run_set(exchange, err)) || profile_common_kinds(db, runs, &kinds, err)) {
        free(kinds);
        return NULL;
    }
    kinds[strcspn(kinds, "\n")] = '\0';
    if (*kinds) return kinds;
    free(kinds);
    error_usage(err, "no one kind of profile is in all of these runs");
    return NULL;
}

int api_report(struct exchange *exchange, const char *format, struct error *err) {
    if (api_command(exchange, "report", err)) return -1;
    job_words_add(&exchange->job->words, "-%s", format);
    char *kind = api_value(exchange, "kind") ? NULL : api_kind(exchange, err);
    if (kind) job_words_add(&exchange->job->words, "--kind=%s", kind);
    free(kind);
    return err->status == ERROR_NONE ? api_add_selection(exchange, err) : -1;
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
    if (api_report(exchange, tables[i].format, err)) return -1;
    return strcmp(tables[i].name, "peek") == 0 ? add_around(exchange, err) : 0;
}

const struct resource resource_table = {{api_runs, api_selection, api_filters, table_parameters}, make_table, NULL};

static const struct api_parameter function_parameters[] = {{"function", API_OWN, NULL}, {0}};

/* `source` and `code` take the functions that they are about as their value. */
static int make_listing(struct exchange *exchange, const char *format, struct error *err) {
    const char *function = api_value(exchange, "function");
    if (!function) return error_usage(err, "function=REGEX is missing");
    char *word = xasprintf("%s=%s", format, function);
    int code = api_report(exchange, word, err);
    const char *places = exchange->server->source.source_path;
    if (code == 0) job_words_add(&exchange->job->words, "--only_source_path=%s", places ? places : ":");
    free(word);
    return code;
}

static int make_source(struct exchange *exchange, struct error *err) {
    return make_listing(exchange, "source", err);
}

static int make_disasm(struct exchange *exchange, struct error *err) {
    return make_listing(exchange, "code", err);
}

const struct resource resource_source = {
    {api_runs, api_selection, api_filters, function_parameters}, make_source, NULL};
const struct resource resource_disasm = {
    {api_runs, api_selection, api_filters, function_parameters}, make_disasm, NULL};

static const struct api_parameter series_parameters[] = {{"function", API_OPTION, "history"}, {0}};

static int make_series(struct exchange *exchange, struct error *err) {
    if (api_value(exchange, "base")) return error_usage(err, "a series has no base");
    if (api_report(exchange, "json", err)) return -1;
    if (!api_value(exchange, "function")) job_words_add(&exchange->job->words, "--history=^"); /* all of them */
    return 0;
}

const struct resource resource_series = {{api_runs, api_selection, api_filters, series_parameters}, make_series, NULL};

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

const struct resource resource_changes = {{api_runs, changes_parameters}, make_changes, NULL};

static const struct api_parameter graph_parameters[] = {{"format", API_OWN, NULL}, {0}};

static int make_graph(struct exchange *exchange, struct error *err) {
    const char *format = api_value(exchange, "format");
    bool is_dot = format && strcmp(format, "dot") == 0;
    if (format && !is_dot && strcmp(format, "svg") != 0) return error_usage(err, "format=%.40s: svg or dot", format);
    exchange->type = is_dot ? "text/vnd.graphviz" : "image/svg+xml";
    char *drawer = is_dot ? NULL : child_find("dot", getenv("PATH"));
    if (!is_dot && !drawer) exchange->failure = MHD_HTTP_NOT_IMPLEMENTED;
    free(drawer);
    return api_report(exchange, is_dot ? "dot" : "svg", err);
}

const struct resource resource_graph = {{api_runs, api_selection, api_filters, graph_parameters}, make_graph, NULL};
