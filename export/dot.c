/* dot.c: the call graph for graphviz: a box a function, bigger text the more it costs itself, an arrow a call, thicker the more goes
 * through it. Of large profiles the functions that matter most; a dashed arrow leaves some out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "export/format.h"

enum { NODES_MAX = 80 }; /* as many as pprof draws: more is no picture */
enum { NOT_DRAWN = 0xffffffff };

struct node {
    int64_t flat, cum;
    uint32_t name_id, sample; /* the last sample that was counted for cum, from 1: recursion counts once */
    const char *name;
};

struct edge {
    uint32_t from, to;
    int64_t value;
    uint32_t sample;
    bool skips; /* some frames between are not drawn */
};

struct graph {
    const struct model *model;
    struct node *nodes; /* [name_id] */
    uint32_t *drawn;    /* [name_id]: its number in the picture, or NOT_DRAWN */
    struct map edges;   /* (from, to) -> index */
    struct edge *edge_list;
    int64_t total, largest; /* the sum of all values; the largest |cum| */
};

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

static int add_nodes(struct graph *graph, struct buffer *frames, struct error *err) {
    const struct model *model = graph->model;
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        const model_sample *sample = model->profile->sample[i];
        int64_t value = sample->value[model->type];
        size_t count = model_stack(model, sample, frames);
        const uint32_t *stack = (const uint32_t *)(void *)frames->data;
        bool full = __builtin_add_overflow(graph->total, value, &graph->total);
        for (size_t j = 0; j < count; j++) {
            struct node *node = &graph->nodes[model->frames[stack[j]].name_id];
            if (j == 0) full |= __builtin_add_overflow(node->flat, value, &node->flat);
            if (node->sample == i + 1) continue;
            node->sample = (uint32_t)(i + 1);
            full |= __builtin_add_overflow(node->cum, value, &node->cum);
        }
        if (full) return error_fail(err, "the values sum up to more than 2^63 - 1");
    }
    return 0;
}

static int compare_nodes(const void *left, const void *right) {
    const struct node *a = *(const struct node *const *)left, *b = *(const struct node *const *)right;
    int64_t one = magnitude(a->cum), other = magnitude(b->cum);
    if (one != other) return one > other ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Numbers the nodes that are drawn, the largest first, and lists them. */
static struct node **choose_nodes(struct graph *graph, size_t *count) {
    size_t names = graph->model->names.count;
    struct node **order = xcalloc(names + 1, sizeof *order);
    for (size_t i = 0; i < names; i++)
        order[i] = &graph->nodes[i];
    qsort(order, names, sizeof *order, compare_nodes);
    graph->drawn = xcalloc(names + 1, sizeof *graph->drawn);
    memset(graph->drawn, 0xff, (names + 1) * sizeof *graph->drawn);
    *count = 0;
    for (size_t i = 0; i < names && i < NODES_MAX && order[i]->cum != 0; i++)
        graph->drawn[order[i]->name_id] = (uint32_t)(*count)++;
    graph->largest = *count ? magnitude(order[0]->cum) : 0;
    return order;
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to, bool skips, uint32_t sample, int64_t value) {
    struct {
        uint32_t from, to;
    } key = {from, to};
    bool added;
    struct map_entry *entry = map_put(&graph->edges, &key, sizeof key, &added);
    if (added) {
        entry->value = (int64_t)graph->edges.count - 1;
        graph->edge_list = xrealloc(graph->edge_list, graph->edges.count * sizeof *graph->edge_list);
        graph->edge_list[entry->value] = (struct edge){.from = from, .to = to};
    }
    struct edge *edge = &graph->edge_list[entry->value];
    if (edge->sample == sample) return;
    edge->sample = sample;
    edge->value += value; /* part of a node's sum, which was checked */
    edge->skips |= skips;
}

static void add_edges(struct graph *graph, struct buffer *frames) {
    const struct model *model = graph->model;
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        const model_sample *sample = model->profile->sample[i];
        size_t count = model_stack(model, sample, frames);
        const uint32_t *stack = (const uint32_t *)(void *)frames->data;
        uint32_t from = NOT_DRAWN;
        bool skips = false;
        while (count-- > 0) {
            uint32_t to = graph->drawn[model->frames[stack[count]].name_id];
            if (to == NOT_DRAWN) {
                skips = true;
                continue;
            }
            if (from != NOT_DRAWN) add_edge(graph, from, to, skips, (uint32_t)(i + 1), sample->value[model->type]);
            from = to;
            skips = false;
        }
    }
}

/* ---- writing ---- */

static void add_quoted(struct buffer *out, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') buffer_add_char(out, '\\');
        if (*text == '\n')
            buffer_add_char(out, ' ');
        else
            buffer_add_char(out, *text);
    }
}

/* From grey over orange to red; what shrank is blue. */
static void add_color(struct buffer *out, const struct graph *graph, int64_t value) {
    double part = graph->largest ? sqrt((double)magnitude(value) / (double)graph->largest) : 0;
    int other = 238 - (int)lround(part * 110);
    if (value < 0)
        buffer_printf(out, "\"#%02x%02xee\"", other, other);
    else
        buffer_printf(out, "\"#ee%02x%02x\"", (238 + other) / 2 - (int)lround(part * 40), other);
}

static double percent(const struct graph *graph, int64_t value) {
    return graph->total ? 100.0 * (double)value / (double)magnitude(graph->total) : 0;
}

static void add_node(const struct drawing *drawing, const struct graph *graph, const struct node *node) {
    struct buffer *out = drawing->out;
    double size = graph->largest ? 9 + 22 * sqrt((double)magnitude(node->flat) / (double)graph->largest) : 9;
    buffer_printf(out, "  n%u [label=\"", graph->drawn[node->name_id]);
    add_quoted(out, node->name);
    buffer_printf(out, "\\n%s (%.1f%%)", model_value_text(graph->model, node->flat).text, percent(graph, node->flat));
    if (node->cum != node->flat)
        buffer_printf(out, "\\nof %s (%.1f%%)", model_value_text(graph->model, node->cum).text,
                      percent(graph, node->cum));
    buffer_printf(out, "\", fontsize=%.1f, fillcolor=", size);
    add_color(out, graph, node->cum);
    buffer_add_text(out, "];\n");
}

static void add_arrow(const struct drawing *drawing, const struct graph *graph, const struct edge *edge) {
    double part = graph->largest ? (double)magnitude(edge->value) / (double)graph->largest : 0;
    buffer_printf(drawing->out, "  n%u -> n%u [label=\" %s\", penwidth=%.2f, weight=%d%s];\n", edge->from, edge->to,
                  model_value_text(graph->model, edge->value).text, 1 + 4 * part, 1 + (int)lround(part * 100),
                  edge->skips ? ", style=dashed" : "");
}

static void draw(const struct drawing *drawing, const struct graph *graph, struct node *const *order, size_t count) {
    struct buffer *out = drawing->out;
    buffer_add_text(out, "digraph \"");
    add_quoted(out, drawing->title);
    buffer_add_text(out, "\" {\n  label=\"");
    add_quoted(out, drawing->title);
    buffer_printf(out, "\\n%s: %s\\l", model_type_name(graph->model, graph->model->type),
                  model_value_text(graph->model, graph->total).text);
    if (count < graph->model->names.count)
        buffer_printf(out, "the %zu largest of %zu functions\\l", count, graph->model->names.count);
    buffer_add_text(out, "\";\n  labelloc=t; labeljust=l; fontname=\"sans-serif\";\n"
                         "  node [shape=box, style=filled, fontname=\"sans-serif\", color=\"#00000040\"];\n"
                         "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#00000090\"];\n");
    for (size_t i = 0; i < count; i++)
        add_node(drawing, graph, order[i]);
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edge_list[i].value != 0) add_arrow(drawing, graph, &graph->edge_list[i]);
    buffer_add_text(out, "}\n");
}

int dot_render(const struct drawing *drawing, struct error *err) {
    const struct model *model = drawing->model;
    struct graph graph = {.model = model, .nodes = xcalloc(model->names.count + 1, sizeof *graph.nodes)};
    struct buffer frames = {0};
    for (uint32_t i = 0; i < model->frame_count; i++) {
        struct node *node = &graph.nodes[model->frames[i].name_id];
        node->name = model->frames[i].name;
        node->name_id = model->frames[i].name_id;
    }
    int code = add_nodes(&graph, &frames, err);
    if (code == 0) {
        size_t count;
        struct node **order = choose_nodes(&graph, &count);
        add_edges(&graph, &frames);
        draw(drawing, &graph, order, count);
        free(order);
    }
    buffer_free(&frames);
    map_free(&graph.edges);
    free(graph.edge_list);
    free(graph.nodes);
    free(graph.drawn);
    return code;
}
