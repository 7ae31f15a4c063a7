/* Functions line by line, with the source: list. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sum.h"
#include "query/code/machine_code.h"
#include "query/code/source_files.h"
#include "query/profile/pattern.h"
#include "query/profile/scale.h"
#include "query/report/list_nodes.h"
#include "query/report/report.h"

enum { MARGIN = 5 }; /* lines shown before the first and after the last with a sample */

static bool is_same(const struct graph_node *a, const struct graph_node *b) {
    return a->info.name == b->info.name && a->info.file == b->info.file;
}

void list_sum(struct report *report, struct graph_node **nodes, size_t count, int64_t line, int64_t *flat,
              int64_t *cum) {
    *flat = *cum = 0;
    for (size_t i = 0; i < count; i++) {
        if (line && nodes[i]->info.line != line) continue;
        sum_add(flat, nodes[i]->flat, &report->overflows);
        sum_add(cum, nodes[i]->cum, &report->overflows);
    }
}

void list_lines(struct graph_node **nodes, size_t count, int64_t *first, int64_t *last) {
    *first = INT64_MAX;
    *last = 0;
    for (size_t i = 0; i < count; i++) {
        const struct graph_info *info = &nodes[i]->info;
        int64_t start = info->start_line ? info->start_line : info->line - MARGIN;
        if (start < *first) *first = start;
        if (info->line + MARGIN > *last) *last = info->line + MARGIN;
    }
    if (*first < 1) *first = 1;
}

static void add_source(struct report *report, struct graph_node **nodes, size_t count, const struct source_file *file,
                       struct buffer *out) {
    int64_t first, last, flat, cum;
    list_lines(nodes, count, &first, &last);
    for (int64_t line = first; line <= last && line <= (int64_t)file->count; line++) {
        list_sum(report, nodes, count, line, &flat, &cum);
        report_add_value_or_dot(report, out, flat);
        buffer_add_char(out, ' ');
        report_add_value_or_dot(report, out, cum);
        buffer_printf(out, " %6lld:%s\n", (long long)line, file->lines[line - 1]);
    }
}

void report_open_code(const struct report *report, struct code *code) {
    const struct code_options options = {.tools = report->options.tools,
                                         .intel_syntax = report->options.intel_syntax,
                                         .note = report->note,
                                         .note_context = report->note_context};
    code_open(code, report->profile, &options);
}

int report_open_source(const struct report *report, struct source_file *file, const char *path, char **why) {
    const struct report_options *options = &report->options;
    const struct sources *sources = options->sources;
    bool is_only = *options->only_source_path;
    const struct source_places places = {is_only ? options->only_source_path : options->source_path,
                                         sources ? sources->directory : NULL, is_only, report->profile};
    char *here = *options->source_path ? NULL : getcwd(NULL, 0), *second = NULL;
    const char *search = here ? here : options->source_path;
    const char *trimmed = sources_have(sources, path) ? path : report_trim_path(path, options->trim_path, search);
    int code = source_open(file, sources, trimmed, &places, why);
    if (code && trimmed != path) code = source_open(file, sources, path, &places, &second);
    if (second && here && !*options->trim_path) { /* who did not ask for a search is told of the name in the profile */
        free(*why);
        *why = second;
        second = NULL;
    }
    if (code == 0) {
        free(*why);
        *why = NULL;
    }
    free(second);
    free(here);
    return code;
}

/* `nodes` are one function's in one file. */
static void add_file(struct report *report, struct graph_node **nodes, size_t count, struct buffer *out) {
    const struct graph_info *info = &nodes[0]->info;
    struct source_file file;
    char *why = NULL;
    int64_t flat, cum;
    list_sum(report, nodes, count, 0, &flat, &cum);
    buffer_printf(out, "ROUTINE ======================== %s in %s\n", info->name, info->file);
    report_add_padded_value(report, out, flat, 10);
    buffer_add_char(out, ' ');
    report_add_padded_value(report, out, cum, 10);
    buffer_printf(out, " (flat, cum) %s of Total\n", scale_percentage(cum, report->total).text);
    if (report_open_source(report, &file, info->file, &why) == 0)
        add_source(report, nodes, count, &file, out);
    else
        buffer_printf(out, " Error: %s\n", why);
    free(why);
    source_close(&file);
}

static int by_function_and_file(const void *left, const void *right) {
    const struct graph_info *a = &(*(struct graph_node *const *)left)->info;
    const struct graph_info *b = &(*(struct graph_node *const *)right)->info;
    int order = strcmp(a->name, b->name);
    if (order == 0) order = strcmp(a->file, b->file);
    if (order == 0) order = (a->start_line > b->start_line) - (a->start_line < b->start_line);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static struct graph_node **matching(const struct graph *graph, struct pattern *pattern, size_t *count) {
    struct graph_node **found = xcalloc(graph->node_count + 1, sizeof(struct graph_node *));
    *count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (pattern_matches(pattern, graph->nodes[i]->info.name)) found[(*count)++] = graph->nodes[i];
    if (*count) qsort(found, *count, sizeof(struct graph_node *), by_function_and_file);
    return found;
}

static int visit_each(struct graph_node **nodes, size_t count, list_visit *visit, void *context, struct error *err) {
    int code = 0;
    for (size_t start = 0, end; start < count && code == 0; start = end) {
        for (end = start + 1; end < count && is_same(nodes[start], nodes[end]); end++)
            continue;
        bool is_only = (start == 0 || nodes[start - 1]->info.name != nodes[start]->info.name) &&
                       (end == count || nodes[end]->info.name != nodes[start]->info.name);
        code = visit(context, nodes + start, end - start, is_only, err);
    }
    return code;
}

int64_t list_each_function(struct report *report, list_visit *visit, void *context, struct error *err) {
    struct graph graph;
    struct graph_options options;
    struct pattern *pattern = pattern_compile(report->format->name, report->options.symbol, err);
    size_t count;
    if (!pattern) return -1;
    report_prepare_graph(report);
    report_graph_options(report, &options);
    graph_build(&graph, report->profile, &options);
    struct graph_node **nodes = matching(&graph, pattern, &count);
    int code = pattern_check(pattern, err);
    if (code == 0) code = visit_each(nodes, count, visit, context, err);
    free(nodes);
    graph_free(&graph);
    pattern_free(pattern);
    return code ? -1 : (int64_t)count;
}

struct list_output {
    struct report *report;
    struct buffer *out;
};

static int add_function(void *context, struct graph_node **nodes, size_t count, bool is_only, struct error *err) {
    const struct list_output *list = context;
    (void)err;
    if (*nodes[0]->info.file)
        add_file(list->report, nodes, count, list->out);
    else if (is_only)
        buffer_printf(list->out, "No source information for %s\n", nodes[0]->info.name);
    return 0;
}

int report_list(struct report *report, struct buffer *out, struct error *err) {
    struct list_output list = {.report = report, .out = out};
    buffer_add_text(out, "Total: ");
    report_add_value(report, out, report->total);
    buffer_add_char(out, '\n');
    int64_t found = list_each_function(report, add_function, &list, err);
    if (found == 0)
        error_fail(err, "no function matches '%s'%s", report->options.symbol, report_elsewhere(report).text);
    return found > 0 && err->status == ERROR_NONE ? 0 : -1;
}
