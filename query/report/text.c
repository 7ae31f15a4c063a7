/* The plain list: text, top. */
#include "query/profile/scale.h"
#include "query/report/report.h"

const char *report_inline_note(const struct graph_node *node) {
    bool any = false, all = true;
    for (const struct graph_edge *edge = node->in; edge; edge = edge->next_in) {
        any |= edge->is_inline;
        all &= edge->is_inline;
    }
    return !any ? "" : all ? " (inline)" : " (partial-inline)";
}

static void add_line(const struct report *report, struct graph *graph, struct graph_node *node, int64_t *sum,
                     struct buffer *out) {
    int64_t flat = graph_flat(node), cum = graph_cum(node);
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)flat);
    report_add_padded_value(report, out, flat, 10);
    buffer_printf(out, " %s %s ", scale_percentage(flat, report->total).text,
                  scale_percentage(*sum, report->total).text);
    report_add_padded_value(report, out, cum, 10);
    buffer_printf(out, " %s  %s%s\n", scale_percentage(cum, report->total).text, graph_name(graph, node),
                  report_inline_note(node));
}

int report_text(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    int64_t sum = 0;
    (void)err;
    report_build_graph(report, &graph, &trimmed);
    report_add_labels(report, &graph, &trimmed, false, out);
    buffer_printf(out, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum", "cum");
    for (size_t i = 0; i < graph.node_count; i++)
        add_line(report, &graph, graph.nodes[i], &sum, out);
    graph_free(&graph);
    return 0;
}
