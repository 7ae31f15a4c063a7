/* Each function between its callers and callees: tree, peek. */
#include <stdlib.h>

#include "query/profile/scale.h"
#include "query/report/report.h"

static const char separator[] = "----------------------------------------------------------+-------------\n";
static const char legend[] = "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n";

static void add_edges(const struct report *report, struct graph *graph, const struct graph_node *node, bool into,
                      struct buffer *out) {
    size_t count;
    int64_t cum = graph_cum(node);
    struct graph_edge **edges = graph_sort_edges(graph, node, into, &count);
    for (size_t i = 0; i < count; i++) {
        report_add_padded_value(report, out, edges[i]->weight, 50);
        buffer_printf(out, " %s |   %s%s\n", scale_percentage(edges[i]->weight, cum).text,
                      graph_name(graph, into ? edges[i]->source : edges[i]->target),
                      edges[i]->is_inline ? " (inline)" : "");
    }
    free(edges);
}

static void add_node(const struct report *report, struct graph *graph, struct graph_node *node, int64_t *sum,
                     struct buffer *out) {
    int64_t flat = graph_flat(node), cum = graph_cum(node);
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)flat);
    buffer_add_text(out, separator);
    add_edges(report, graph, node, true, out);
    report_add_padded_value(report, out, flat, 10);
    buffer_printf(out, " %s %s ", scale_percentage(flat, report->total).text,
                  scale_percentage(*sum, report->total).text);
    report_add_padded_value(report, out, cum, 10);
    buffer_printf(out, " %s                | %s\n", scale_percentage(cum, report->total).text, graph_name(graph, node));
    add_edges(report, graph, node, false, out);
}

static void write_tree(struct report *report, struct graph *graph, struct pattern *pattern, struct buffer *out,
                       struct error *err) {
    struct graph_trimmed trimmed;
    size_t matched = 0;
    int64_t sum = 0;
    report_build_graph(report, graph, &trimmed);
    report_add_labels(report, graph, &trimmed, false, out);
    buffer_add_text(out, separator);
    buffer_add_text(out, legend);
    for (size_t i = 0; i < graph->node_count; i++) {
        if (pattern && !pattern_matches(pattern, graph_name(graph, graph->nodes[i]))) continue;
        matched++;
        add_node(report, graph, graph->nodes[i], &sum, out);
    }
    if (graph->node_count) buffer_add_text(out, separator);
    (void)pattern_check(pattern, err);
    if (!pattern || matched || err->status != ERROR_NONE) return;
    error_fail(err, "no function matches '%s'%s", report->options.symbol, report_elsewhere(report).text);
}

int report_tree(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct pattern *pattern = NULL;
    if (report->options.symbol && !(pattern = pattern_compile(report->format->name, report->options.symbol, err)))
        return -1;
    write_tree(report, &graph, pattern, out, err);
    graph_free(&graph);
    pattern_free(pattern);
    return err->status == ERROR_NONE ? 0 : -1;
}
