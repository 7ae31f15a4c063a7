#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "query/profile/graph/graph.h"

/* ---- names ---- */

const char *graph_info_name(const struct graph_info *info, struct buffer *name) {
    buffer_clear(name);
    if (info->address) buffer_printf(name, "%016llx ", (unsigned long long)info->address);
    if (*info->name) buffer_printf(name, "%s ", info->name);
    if (info->line && info->column)
        buffer_printf(name, "%s:%lld:%lld", info->file, (long long)info->line, (long long)info->column);
    else if (info->line)
        buffer_printf(name, "%s:%lld", info->file, (long long)info->line);
    else if (*info->file)
        buffer_add_text(name, info->file);
    else if (*info->name)
        name->data[--name->size] = '\0'; /* said already; the blank goes */
    else if (*info->object)
        buffer_printf(name, "[%s]", path_base(info->object));
    else
        buffer_add_text(name, "<unknown>");
    return buffer_text(name);
}

const char *graph_name(struct graph *graph, struct graph_node *node) {
    if (node->printable) return node->printable;
    struct buffer name = {0};
    graph_info_name(&node->info, &name);
    node->printable = arena_text(&graph->memory, buffer_text(&name), name.size);
    buffer_free(&name);
    return node->printable;
}

/* ---- order of nodes ---- */

struct sorting {
    struct graph *graph;
    enum graph_order order;
};

/* Larger absolute values first. */
static int compare_sizes(int64_t a, int64_t b) {
    uint64_t left = a < 0 ? -(uint64_t)a : (uint64_t)a, right = b < 0 ? -(uint64_t)b : (uint64_t)b;
    return left > right ? -1 : left < right;
}

/* The same for scores, where the least integer has no absolute value: it comes last, as in pprof. */
static int compare_scores(int64_t a, int64_t b) {
    if (a != INT64_MIN && b != INT64_MIN) return compare_sizes(a, b);
    return (a == INT64_MIN) - (b == INT64_MIN);
}

static char *whole_info(const struct graph_info *info) {
    return xasprintf("{%s  %llu %s %lld %lld %lld %s}", info->name, (unsigned long long)info->address, info->file,
                     (long long)info->start_line, (long long)info->line, (long long)info->column, info->object);
}

/* What two nodes that look alike differ in, as a text: pprof's way to break a tie. */
static int compare_infos(const struct graph_node *a, const struct graph_node *b) {
    char *left = whole_info(&a->info), *right = whole_info(&b->info);
    int order = strcmp(left, right);
    free(left);
    free(right);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int compare_names(const struct sorting *sorting, struct graph_node *a, struct graph_node *b) {
    return strcmp(graph_name(sorting->graph, a), graph_name(sorting->graph, b));
}

static int compare_by(const struct sorting *sorting, struct graph_node *a, struct graph_node *b) {
    int order = 0;
    switch (sorting->order) {
    case GRAPH_FLAT_NAME:
        if ((order = compare_sizes(a->flat, b->flat)) != 0) return order;
        if ((order = compare_names(sorting, a, b)) != 0) return order;
        return compare_sizes(a->cum, b->cum);
    case GRAPH_FLAT_CUM_NAME:
        if ((order = compare_sizes(a->flat, b->flat)) != 0) return order;
        if ((order = compare_sizes(a->cum, b->cum)) != 0) return order;
        return compare_names(sorting, a, b);
    case GRAPH_CUM_NAME:
    case GRAPH_ENTROPY:
        if ((order = compare_scores(a->score, b->score)) != 0) return order;
        if ((order = compare_names(sorting, a, b)) != 0) return order;
        return compare_sizes(a->flat, b->flat);
    case GRAPH_NAME: return strcmp(a->info.name, b->info.name);
    case GRAPH_FILE:
        if ((order = strcmp(a->info.file, b->info.file)) != 0) return order;
        return (a->info.start_line > b->info.start_line) - (a->info.start_line < b->info.start_line);
    case GRAPH_ADDRESS: return (a->info.address > b->info.address) - (a->info.address < b->info.address);
    }
    return 0;
}

static int compare_nodes(const void *left, const void *right, void *context) {
    struct graph_node *a = *(struct graph_node *const *)left, *b = *(struct graph_node *const *)right;
    int order = compare_by(context, a, b);
    return order ? order : compare_infos(a, b);
}

/* No number where the part is 0. */
static double part_entropy(int64_t part, double total) {
    double fraction = fabs((double)part) / total;
    return -fraction * log2(fraction);
}

/* How evenly a node's value is spread over its edges and itself, in bits. */
static double edge_entropy(struct graph *graph, const struct graph_node *node, bool into, int64_t self) {
    size_t count;
    struct graph_edge **edges = graph_sort_edges(graph, node, into, &count);
    long double total = (long double)self; /* exact up to 2^64: a sample may be in several edges */
    double score = 0;
    for (size_t i = 0; i < count; i++)
        if (edges[i]->weight > 0) total += (long double)edges[i]->weight;
    for (size_t i = 0; i < count && total; i++)
        score += part_entropy(edges[i]->weight, (double)total);
    if (total && self > 0) score += part_entropy(self, (double)total);
    free(edges);
    return score;
}

/* What is no number, as where an edge weighs 0, or too large for 64 bits counts as the least integer, as pprof has it on x86-64. */
static int64_t entropy_of(struct graph *graph, const struct graph_node *node) {
    double score = node->in ? edge_entropy(graph, node, true, 0) : 1;
    score += node->out ? edge_entropy(graph, node, false, node->flat) : 1;
    score *= (double)node->cum;
    bool fits = score >= -0x1p63 && score < 0x1p63;
    return (int64_t)((uint64_t)(fits ? (int64_t)score : INT64_MIN) + (uint64_t)node->flat);
}

static void sort_nodes(struct graph *graph, struct graph_node **nodes, size_t count, enum graph_order order) {
    struct sorting sorting = {graph, order};
    for (size_t i = 0; i < count && (order == GRAPH_ENTROPY || order == GRAPH_CUM_NAME); i++)
        nodes[i]->score = order == GRAPH_ENTROPY ? entropy_of(graph, nodes[i]) : nodes[i]->cum;
    if (count) qsort_r(nodes, count, sizeof(struct graph_node *), compare_nodes, &sorting);
}

void graph_sort(struct graph *graph, enum graph_order order) {
    sort_nodes(graph, graph->nodes, graph->node_count, order);
}

/* ---- order of edges and tags ---- */

static int compare_edges(const void *left, const void *right, void *context) {
    struct graph_edge *a = *(struct graph_edge *const *)left, *b = *(struct graph_edge *const *)right;
    const struct sorting sorting = {.graph = context};
    int order = a->weight == b->weight ? 0 : compare_sizes(a->weight, b->weight);
    if (order == 0) order = compare_names(&sorting, a->source, b->source);
    if (order == 0) order = compare_names(&sorting, a->target, b->target);
    if (order == 0 && a->source != b->source) order = compare_infos(a->source, b->source);
    return order || a->target == b->target ? order : compare_infos(a->target, b->target);
}

struct graph_edge **graph_sort_edges(struct graph *graph, const struct graph_node *node, bool into, size_t *count) {
    *count = 0;
    for (const struct graph_edge *edge = into ? node->in : node->out; edge;
         edge = into ? edge->next_in : edge->next_out)
        ++*count;
    struct graph_edge **edges = xcalloc(*count + 1, sizeof(struct graph_edge *));
    size_t at = 0;
    for (struct graph_edge *edge = into ? node->in : node->out; edge; edge = into ? edge->next_in : edge->next_out)
        edges[at++] = edge;
    if (*count) qsort_r(edges, *count, sizeof(struct graph_edge *), compare_edges, graph);
    return edges;
}

struct graph_edge **graph_sort_all_edges(struct graph *graph, size_t *count) {
    struct graph_edge **edges = xcalloc(graph->edge_count + 1, sizeof(struct graph_edge *));
    *count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        for (struct graph_edge *edge = graph->nodes[i]->out; edge; edge = edge->next_out)
            edges[(*count)++] = edge;
    if (*count) qsort_r(edges, *count, sizeof(struct graph_edge *), compare_edges, graph);
    return edges;
}

static int compare_tags(const void *left, const void *right, void *context) {
    const struct graph_tag *a = left, *b = right;
    const bool *flat = context;
    int order = *flat ? 0 : compare_sizes(a->cum, b->cum);
    if (order == 0) order = compare_sizes(a->flat, b->flat);
    return order ? order : strcmp(a->name, b->name);
}

void graph_sort_tags(struct graph_tags *tags, bool flat) {
    if (tags->count) qsort_r(tags->items, tags->count, sizeof *tags->items, compare_tags, &flat);
}
