/* The graph for programs, with every number exact:
 *   {"type", "unit", "total", "nodes": [{"name", "function", "file", "line", "address", "object", "flat", "cum",
 *    "flat_error", "cum_error"}],
 *    "edges": [{"from", "to": indices into nodes, "weight", "inline", "residual"}], "original_nodes", "dropped_nodes",
 *    "figures": how exact they are, with --all}
 * flat_error and cum_error are there where the figures are sampled: in 95 of 100 runs the truth is within so much of them.
 * What is not known of a node is left out; values are in the profile's own unit. */
#include <stdlib.h>

#include "export/format.h"
#include "query/profile/pattern.h"

static void add_node(struct buffer *out, const struct sampling_scale *sampling, struct graph *graph,
                     struct graph_node *node) {
    int64_t flat = graph_flat(node), cum = graph_cum(node);
    buffer_add_char(out, '{');
    report_json_info(out, graph_name(graph, node), &node->info);
    buffer_printf(out, ",\"flat\":%lld,\"cum\":%lld", (long long)flat, (long long)cum);
    if (sampling->variance > 0)
        buffer_printf(out, ",\"flat_error\":%.0f,\"cum_error\":%.0f", sampling_scale_error(sampling, (double)flat),
                      sampling_scale_error(sampling, (double)cum));
    buffer_add_char(out, '}');
}

/* ---- around a pattern ---- */

struct around {
    struct pattern *pattern; /* NULL: everything */
    bool *meets, *shown;     /* [index of a node] */
};

static bool is_shown(const struct around *around, const struct graph_node *node) {
    return !around->pattern || around->shown[node->index];
}

static bool has_edge(const struct around *around, const struct graph_edge *edge) {
    return !around->pattern || around->meets[edge->source->index] || around->meets[edge->target->index];
}

static void mark_neighbours(struct around *around, struct graph_node *node) {
    around->shown[node->index] = true;
    for (struct graph_edge *edge = node->in; edge; edge = edge->next_in)
        around->shown[edge->source->index] = true;
    for (struct graph_edge *edge = node->out; edge; edge = edge->next_out)
        around->shown[edge->target->index] = true;
}

static int find_around(struct around *around, const struct report *report, struct graph *graph, struct error *err) {
    const char *regex = report->options.around;
    if (!regex || !*regex) return 0;
    around->pattern = pattern_compile("--around", regex, err);
    if (!around->pattern) return -1;
    around->meets = xcalloc(graph->all_count + 1, sizeof *around->meets);
    around->shown = xcalloc(graph->all_count + 1, sizeof *around->shown);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        around->meets[node->index] = pattern_matches(around->pattern, graph_name(graph, node));
        if (around->meets[node->index]) mark_neighbours(around, node);
    }
    return pattern_check(around->pattern, err);
}

static void around_free(struct around *around) {
    pattern_free(around->pattern);
    free(around->meets);
    free(around->shown);
}

/* ---- the graph ---- */

/* `numbers` are those of the nodes that are listed, from 1. An edge to another one (its values add up to 0) is left out. */
static void add_edges(struct buffer *out, const struct around *around, const size_t *numbers, struct graph *graph) {
    size_t count;
    struct graph_edge **edges = graph_sort_all_edges(graph, &count);
    const char *separator = "\n";
    for (size_t i = 0; i < count; i++) {
        const struct graph_edge *edge = edges[i];
        size_t from = numbers[edge->source->index], to = numbers[edge->target->index];
        if (!from || !to || !has_edge(around, edge)) continue;
        buffer_printf(out, "%s{\"from\":%zu,\"to\":%zu,\"weight\":%lld,\"inline\":%s,\"residual\":%s}", separator,
                      from - 1, to - 1, (long long)graph_weight(edge), edge->is_inline ? "true" : "false",
                      edge->residual ? "true" : "false");
        separator = ",\n";
    }
    free(edges);
}

static void add_nodes(struct buffer *out, const struct report *report, const struct around *around, size_t *numbers,
                      struct graph *graph) {
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        if (!is_shown(around, node)) continue;
        numbers[node->index] = ++count;
        buffer_add_text(out, count > 1 ? ",\n" : "\n");
        add_node(out, &report->options.sampling, graph, node);
    }
}

int json_write(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    struct around around = {0};
    report_build_graph(report, &graph, &trimmed);
    int code = find_around(&around, report, &graph, err);
    size_t *numbers = xcalloc(graph.all_count + 1, sizeof *numbers);
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "type", report->type_name);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", report->sample_unit);
    buffer_printf(out, ",\"total\":%lld,\n\"nodes\":[", (long long)report->total);
    if (code == 0) add_nodes(out, report, &around, numbers, &graph);
    buffer_add_text(out, "],\n\"edges\":[");
    if (code == 0) add_edges(out, &around, numbers, &graph);
    report_json_end(report, out, trimmed.original_count, trimmed.dropped_nodes);
    free(numbers);
    around_free(&around);
    graph_free(&graph);
    return code;
}
