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

enum { MARGIN_WIDTH = 6 };

/* pprof has no such column. */
static bool has_margins(const struct report *report) {
    return report->options.margin && report->options.sampling.variance > 0;
}

static void add_margin(const struct report *report, int64_t value, struct buffer *out) {
    if (!has_margins(report)) return;
    buffer_add_char(out, ' ');
    report_add_padded(out, sampling_scale_margin(&report->options.sampling, (double)value, (double)report->total).text,
                      MARGIN_WIDTH);
}

static void add_headings(const struct report *report, struct buffer *out) {
    if (has_margins(report)) buffer_add_text(out, "±95%: in 95 of 100 runs the true flat% is within so many points\n");
    buffer_printf(out, "%10s %5s%%%s %5s%% %10s %5s%%\n", "flat", "flat", has_margins(report) ? "   ±95%" : "", "sum",
                  "cum", "cum");
}

static void add_line(const struct report *report, struct graph *graph, struct graph_node *node, int64_t *sum,
                     struct buffer *out) {
    int64_t flat = graph_flat(node), cum = graph_cum(node);
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)flat);
    report_add_padded_value(report, out, flat, 10);
    buffer_printf(out, " %s", scale_percentage(flat, report->total).text);
    add_margin(report, flat, out);
    buffer_printf(out, " %s ", scale_percentage(*sum, report->total).text);
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
    add_headings(report, out);
    for (size_t i = 0; i < graph.node_count; i++)
        add_line(report, &graph, graph.nodes[i], &sum, out);
    graph_free(&graph);
    return 0;
}
