#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "query/profile/graph/graph.h"

enum { NODELETS_MAX = 4 }; /* tags of a node that a picture shows, and counts as nodes */

static int64_t size_of(int64_t value) {
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

/* ---- edges and tags ---- */

static void purge_edges(struct graph *graph) {
    for (size_t i = 0; i < graph->all_count; i++) {
        struct graph_edge **at = &graph->all[i]->in;
        while (*at)
            if ((*at)->removed)
                *at = (*at)->next_in;
            else
                at = &(*at)->next_in;
        at = &graph->all[i]->out;
        while (*at)
            if ((*at)->removed)
                *at = (*at)->next_out;
            else
                at = &(*at)->next_out;
    }
}

static size_t trim_edges(struct graph *graph, int64_t cutoff) {
    size_t dropped = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        for (struct graph_edge *edge = graph->nodes[i]->in; edge; edge = edge->next_in)
            if (size_of(edge->weight) < cutoff) {
                edge->removed = true;
                dropped++;
            }
    if (dropped) purge_edges(graph);
    return dropped;
}

static void trim_tag_list(struct graph_tags *tags, int64_t cutoff) {
    size_t kept = 0;
    for (size_t i = 0; i < tags->count; i++)
        if (size_of(tags->items[i].flat) >= cutoff || size_of(tags->items[i].cum) >= cutoff)
            tags->items[kept++] = tags->items[i];
    tags->count = kept;
}

static void trim_tags(struct graph *graph, int64_t cutoff) {
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        trim_tag_list(&node->label_tags, cutoff);
        for (size_t at = 0; at < node->numeric_count; at++)
            trim_tag_list(&node->numeric_tags[at].tags, cutoff);
    }
}

/* Can the edge's source reach its target over others? */
static bool is_redundant(struct graph *graph, const struct graph_edge *edge) {
    bool *seen = xcalloc(graph->all_count + 1, sizeof *seen);
    struct graph_node **queue = xcalloc(graph->all_count + 1, sizeof(struct graph_node *));
    size_t head = 0, tail = 0;
    bool found = false;
    queue[tail++] = edge->target;
    seen[edge->target->index] = true;
    while (head < tail && !found) {
        for (const struct graph_edge *in = queue[head++]->in; in && !found; in = in->next_in) {
            if (in == edge || in->removed || seen[in->source->index]) continue;
            found = in->source == edge->source;
            seen[in->source->index] = true;
            queue[tail++] = in->source;
        }
    }
    free(seen);
    free(queue);
    return found;
}

/* The lightest first, and none that is heavier than an edge that stands for a call. */
static void remove_redundant_edges(struct graph *graph) {
    for (size_t i = graph->node_count; i-- > 0;) {
        size_t count;
        struct graph_edge **in = graph_sort_edges(graph, graph->nodes[i], true, &count);
        for (size_t at = count; at-- > 0 && in[at]->residual;)
            if (!in[at]->removed && is_redundant(graph, in[at])) in[at]->removed = true;
        free(in);
    }
    purge_edges(graph);
}

/* ---- nodes ---- */

static size_t count_shown_tags(const struct graph_node *node) {
    size_t count = 0;
    for (size_t i = 0; i < node->label_tags.count; i++)
        count += node->label_tags.items[i].flat != 0;
    for (size_t at = 0; at < node->numeric_count; at++)
        for (size_t i = 0; i < node->numeric_tags[at].tags.count; i++)
            count += node->numeric_tags[at].tags.items[i].flat != 0;
    return count > NODELETS_MAX ? NODELETS_MAX : count;
}

/* How many of the sorted nodes are shown: in a picture each takes the room of its tags too. */
static size_t count_top(const struct graph *graph, const struct graph_trimming *trimming) {
    size_t most = (size_t)trimming->node_count, count = 0;
    for (size_t i = 0; trimming->visual && i < graph->node_count; i++) {
        count += count_shown_tags(graph->nodes[i]) + 1;
        if (count < most) continue;
        most = i + 1;
        break;
    }
    return most < graph->node_count ? most : graph->node_count;
}

static size_t keep_top(struct graph *graph, size_t count) {
    for (size_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->kept = i < count;
    return graph->node_count - count;
}

static size_t keep_frequent(struct graph *graph, int64_t cutoff) {
    size_t dropped = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i]->kept = size_of(graph->nodes[i]->cum) >= cutoff;
        dropped += !graph->nodes[i]->kept;
    }
    return dropped;
}

static void unlink_out(struct graph_edge *edge) {
    struct graph_edge **at = &edge->source->out;
    while (*at != edge)
        at = &(*at)->next_out;
    *at = edge->next_out;
}

/* A tree's node goes, and its callees are its caller's. */
static void bypass(struct graph_node *node) {
    struct graph_edge *above = node->in;
    if (above) unlink_out(above);
    for (struct graph_edge *edge = node->out, *next; edge; edge = next) {
        next = edge->next_out;
        if (!above) {
            edge->target->in = NULL; /* a root of its own */
            continue;
        }
        edge->source = above->source;
        edge->residual = true;
        edge->is_inline &= above->is_inline;
        edge->next_out = above->source->out;
        above->source->out = edge;
    }
    node->in = node->out = NULL;
}

static void trim_tree(struct graph *graph) {
    size_t kept = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        if (node->kept)
            graph->nodes[kept++] = node;
        else
            bypass(node);
    }
    graph->node_count = kept;
    remove_redundant_edges(graph);
}

/* What is marked as kept, anew: values and edges go over what is left out. */
static void rebuild(struct graph *graph, struct profile *profile, const struct graph_options *options) {
    struct graph kept = *graph;
    struct graph_options narrowed = *options;
    narrowed.kept = &kept;
    if (options->call_tree) {
        trim_tree(graph);
        return;
    }
    graph_build(graph, profile, &narrowed);
    graph_free(&kept);
}

static int64_t cutoff_of(const struct graph *graph, double fraction) {
    int64_t total = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        total = (int64_t)((uint64_t)total + (uint64_t)graph->nodes[i]->flat);
    return size_of(sum_from_real((double)total * fraction));
}

void graph_build_trimmed(struct graph *graph, struct profile *profile, const struct graph_options *options,
                         const struct graph_trimming *trimming, struct graph_trimmed *trimmed) {
    enum graph_order order = trimming->visual ? GRAPH_ENTROPY : trimming->cum_order ? GRAPH_CUM_NAME : GRAPH_FLAT_NAME;
    *trimmed = (struct graph_trimmed){0};
    graph_build(graph, profile, options);
    int64_t node_cutoff = cutoff_of(graph, trimming->node_fraction);
    int64_t edge_cutoff = cutoff_of(graph, trimming->edge_fraction);
    if (node_cutoff > 0 && (trimmed->dropped_nodes = keep_frequent(graph, node_cutoff)) > 0)
        rebuild(graph, profile, options);
    trimmed->original_count = graph->node_count;
    graph_sort(graph, order);
    if (trimming->node_count > 0) {
        trim_tags(graph, node_cutoff);
        trim_edges(graph, edge_cutoff);
        if (keep_top(graph, count_top(graph, trimming)) > 0) {
            rebuild(graph, profile, options);
            graph_sort(graph, order);
        }
    }
    trim_tags(graph, node_cutoff);
    trimmed->dropped_edges = trim_edges(graph, edge_cutoff);
    if (trimming->visual) remove_redundant_edges(graph);
}
