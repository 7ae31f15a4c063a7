/* callgrind's format, for kcachegrind and callgrind_annotate: each address with its cost and its calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/map.h"
#include "query/profile/scale.h"
#include "query/report/report.h"

struct writing {
    const struct report *report;
    struct graph *graph;
    struct buffer *out;
    struct map objects, files, names; /* text -> its number, from 1 */
    char **callees;                   /* [node index]: the name as one that is called */
    const struct graph_info *before;  /* of the node written last; NULL for none */
};

/* "(3) name" the first time, "(3)" from then on. */
static void add_name(struct writing *writing, const char *tag, struct map *known, const char *name) {
    bool added = false;
    buffer_add_text(writing->out, tag);
    if (*name) {
        struct map_entry *entry = map_put(known, name, strlen(name), &added);
        if (added) entry->value = (int64_t)known->count;
        buffer_printf(writing->out, added ? "(%lld) %s" : "(%lld)", (long long)entry->value, name);
    }
    buffer_add_char(writing->out, '\n');
}

/* Absolute, or what was added since the last one where that is shorter. */
static void add_address(const struct writing *writing, uint64_t address) {
    struct hex_text absolute = hex_address(address);
    char relative[32];
    if (!writing->before) {
        buffer_add_text(writing->out, absolute.text);
    } else if (writing->before->address == address) {
        buffer_add_char(writing->out, '*');
    } else {
        snprintf(relative, sizeof relative, "%+lld", (long long)(address - writing->before->address));
        buffer_add_text(writing->out, strlen(relative) < strlen(absolute.text) ? relative : absolute.text);
    }
}

static long long scaled(const struct writing *writing, int64_t value) {
    const char *unit;
    return (long long)scale_value(value, writing->report->sample_unit, writing->report->output_unit, &unit);
}

static void add_calls(struct writing *writing, const struct graph_node *node) {
    size_t count;
    struct graph_edge **edges = graph_sort_edges(writing->graph, node, false, &count);
    for (size_t i = 0; i < count; i++) {
        const struct graph_node *callee = edges[i]->target;
        add_name(writing, "cfl=", &writing->files, callee->info.file);
        const char *name = writing->callees[callee->index]; /* none: dropped as negative, though the call is shown */
        add_name(writing, "cfn=", &writing->names, name ? name : "");
        buffer_add_text(writing->out, "calls=0 "); /* how often is not known: samples */
        add_address(writing, callee->info.address);
        buffer_printf(writing->out, " %lld\n* * %lld\n", (long long)callee->info.line,
                      scaled(writing, edges[i]->weight));
    }
    free(edges);
}

static void add_node(struct writing *writing, const struct graph_node *node) {
    const struct graph_info *info = &node->info, *before = writing->before;
    if (!before || info->object != before->object || info->file != before->file || info->name != before->name) {
        buffer_add_char(writing->out, '\n');
        add_name(writing, "ob=", &writing->objects, info->object);
        add_name(writing, "fl=", &writing->files, info->file);
        add_name(writing, "fn=", &writing->names, info->name);
    }
    add_address(writing, info->address);
    buffer_printf(writing->out, " %lld %lld\n", (long long)info->line, scaled(writing, graph_flat(node)));
    add_calls(writing, node);
    writing->before = info;
}

/* ---- names of callees ---- */

struct name_key {
    const char *file, *name;
    const struct graph_node *function; /* NULL: of all with that file and name */
};

static struct map_entry *entry_of(struct map *map, const struct graph_info *info, const struct graph_node *function,
                                  bool *added) {
    struct name_key key;
    memset(&key, 0, sizeof key);
    key.file = info->file;
    key.name = info->name;
    key.function = function;
    return map_put(map, &key, sizeof key, added);
}

/* Functions that only differ in what callgrind does not know (their binary, their first line) are told apart: "f [2/3]". */
static void name_callees(struct writing *writing) {
    struct map seen = {0};
    const struct graph *graph = writing->graph;
    writing->callees = xcalloc(graph->all_count + 1, sizeof(char *));
    for (size_t i = 0; i < graph->node_count; i++) {
        bool added;
        const struct graph_node *node = graph->nodes[i];
        (void)entry_of(&seen, &node->info, node->function, &added);
        if (!added) continue;
        int64_t number = ++entry_of(&seen, &node->info, NULL, NULL)->value;
        entry_of(&seen, &node->info, node->function, NULL)->value = number;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = graph->nodes[i];
        long long number = (long long)entry_of(&seen, &node->info, node->function, NULL)->value;
        long long count = (long long)entry_of(&seen, &node->info, NULL, NULL)->value;
        writing->callees[node->index] =
            count > 1 ? xasprintf("%s [%lld/%lld]", node->info.name, number, count) : xstrdup(node->info.name);
    }
    map_free(&seen);
}

int report_callgrind(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    (void)err;
    report_build_graph(report, &graph, &trimmed);
    struct writing writing = {.report = report, .graph = &graph, .out = out};
    name_callees(&writing);
    buffer_printf(out, "positions: instr line\nevents: %s(%s)\n", report->type_name, report->output_unit);
    for (size_t i = 0; i < graph.node_count; i++)
        add_node(&writing, graph.nodes[i]);
    for (size_t i = 0; i <= graph.all_count; i++)
        free(writing.callees[i]);
    free(writing.callees);
    map_free(&writing.objects);
    map_free(&writing.files);
    map_free(&writing.names);
    graph_free(&graph);
    return 0;
}
