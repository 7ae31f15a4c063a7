/* The graph for programs, with every number exact:
 *   {"type", "unit", "total", "nodes": [{"name", "function", "file", "line", "address", "object", "flat", "cum"}],
 *    "edges": [{"from", "to": indices into nodes, "weight", "inline", "residual"}], "original_nodes", "dropped_nodes",
 *    "figures": what they are worth, with --all}
 * What is not known of a node is left out; values are in the profile's own unit. */
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "query/report/report.h"
#include "query/report/report_runs.h"

static void add_text(struct buffer *out, const char *key, const char *text) {
    buffer_printf(out, "\"%s\":", key);
    buffer_add_json_string(out, text, strlen(text));
}

static void add_known(struct buffer *out, const char *key, const char *text) {
    if (!*text) return;
    buffer_add_char(out, ',');
    add_text(out, key, text);
}

void report_json_end(const struct report *report, struct buffer *out, size_t original_count, size_t dropped_count) {
    buffer_printf(out, "],\n\"original_nodes\":%zu,\"dropped_nodes\":%zu", original_count, dropped_count);
    if (report->options.all) {
        struct buffer worth = {0};
        report_add_worth(report, &worth);
        buffer_add_char(out, ',');
        add_text(out, "figures", buffer_text(&worth));
        buffer_free(&worth);
    }
    buffer_add_text(out, "}\n");
}

void report_json_info(struct buffer *out, const char *name, const struct graph_info *info) {
    add_text(out, "name", name);
    add_known(out, "function", info->name);
    add_known(out, "file", info->file);
    if (info->line) buffer_printf(out, ",\"line\":%lld", (long long)info->line);
    if (info->address) buffer_printf(out, ",\"address\":\"%s\"", hex_address(info->address).text);
    add_known(out, "object", info->object);
}

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

int report_json(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    (void)err;
    report_build_graph(report, &graph, &trimmed);
    size_t *numbers = xcalloc(graph.all_count + 1, sizeof *numbers);
    buffer_add_char(out, '{');
    add_text(out, "type", report->type_name);
    buffer_add_char(out, ',');
    add_text(out, "unit", report->sample_unit);
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
