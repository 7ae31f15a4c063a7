/* The graph for programs, with every number exact:
 *   {"type", "unit", "total", "nodes": [{"name", "function", "file", "line", "address", "object", "flat", "cum"}],
 *    "edges": [{"from", "to": indices into nodes, "weight", "inline", "residual"}], "original_nodes", "dropped_nodes",
 *    "figures": how exact they are, with --all}
 * What is not known of a node is left out; values are in the profile's own unit. */
#include <stdlib.h>

#include "export/format.h"

static void add_node(struct buffer *out, struct graph *graph, struct graph_node *node) {
    buffer_add_char(out, '{');
    report_json_info(out, graph_name(graph, node), &node->info);
    buffer_printf(out, ",\"flat\":%lld,\"cum\":%lld}", (long long)graph_flat(node), (long long)graph_cum(node));
}

/* `numbers` are those of the nodes that are listed, from 1. An edge to another one (its values add up to 0) is left out. */
static void add_edges(struct buffer *out, const size_t *numbers, struct graph *graph) {
    size_t count;
    struct graph_edge **edges = graph_sort_all_edges(graph, &count);
    const char *separator = "\n";
    for (size_t i = 0; i < count; i++) {
        const struct graph_edge *edge = edges[i];
        size_t from = numbers[edge->source->index], to = numbers[edge->target->index];
        if (!from || !to) continue;
        buffer_printf(out, "%s{\"from\":%zu,\"to\":%zu,\"weight\":%lld,\"inline\":%s,\"residual\":%s}", separator,
                      from - 1, to - 1, (long long)graph_weight(edge), edge->is_inline ? "true" : "false",
                      edge->residual ? "true" : "false");
        separator = ",\n";
    }
    free(edges);
}

int json_write(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    (void)err;
    report_build_graph(report, &graph, &trimmed);
    size_t *numbers = xcalloc(graph.all_count + 1, sizeof *numbers);
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "type", report->type_name);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", report->sample_unit);
    buffer_printf(out, ",\"total\":%lld,\n\"nodes\":[", (long long)report->total);
    for (size_t i = 0; i < graph.node_count; i++) {
        numbers[graph.nodes[i]->index] = i + 1;
        buffer_add_text(out, i ? ",\n" : "\n");
        add_node(out, &graph, graph.nodes[i]);
    }
    buffer_add_text(out, "],\n\"edges\":[");
    add_edges(out, numbers, &graph);
    report_json_end(report, out, trimmed.original_count, trimmed.dropped_nodes);
    free(numbers);
    graph_free(&graph);
    return 0;
}
