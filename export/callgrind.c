/* callgrind.c: for kcachegrind: each address with its cost and its calls, as pprof writes them.
 *
 * With all_types or before_after (which pprof has not) there are several events, in the units of the profile, and the file
 * is for callgrind_annotate too: it has a summary, and calls=1 where pprof writes calls=0, which that program takes for
 * costs of the caller. How often a function was called is not known from samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/difference.h"
#include "export/format.h"
#include "query/profile/scale.h"

struct callgrind {
    const struct report *report;
    struct graph graph;   /* the nodes and edges that there are */
    struct graph *events; /* the same for each event, with its values; NULL: `graph` has those of the only one */
    size_t event_count;
    struct buffer *out;
    struct map objects, files, names; /* text -> its number, from 1 */
    char **callees;                   /* [node index]: the name as one that is called */
    const struct graph_info *before;  /* of the node written last; NULL for none */
};

/* "(3) name" the first time, "(3)" from then on. */
static void add_name(struct callgrind *file, const char *tag, struct map *known, const char *name) {
    bool added = false;
    buffer_add_text(file->out, tag);
    if (*name) {
        struct map_entry *entry = map_put(known, name, strlen(name), &added);
        if (added) entry->value = (int64_t)known->count;
        buffer_printf(file->out, added ? "(%lld) %s" : "(%lld)", (long long)entry->value, name);
    }
    buffer_add_char(file->out, '\n');
}

/* Absolute, or what was added since the last one where that is shorter. */
static void add_address(const struct callgrind *file, uint64_t address) {
    char absolute[32], relative[32];
    snprintf(absolute, sizeof absolute, "0x%llx", (unsigned long long)address);
    if (!file->before) {
        buffer_add_text(file->out, absolute);
    } else if (file->before->address == address) {
        buffer_add_char(file->out, '*');
    } else {
        snprintf(relative, sizeof relative, "%+lld", (long long)(address - file->before->address));
        buffer_add_text(file->out, strlen(relative) < strlen(absolute) ? relative : absolute);
    }
}

/* ---- costs ---- */

static long long scaled(const struct callgrind *file, int64_t value) {
    const char *unit;
    return (long long)scale_value(value, file->report->sample_unit, file->report->output_unit, &unit);
}

static void add_costs(struct callgrind *file, const struct graph_node *node) {
    if (!file->events) buffer_printf(file->out, " %lld", scaled(file, graph_flat(node)));
    for (size_t i = 0; file->events && i < file->event_count; i++) {
        const struct graph_node *same = graph_find(&file->events[i], &node->info);
        buffer_printf(file->out, " %lld", same ? (long long)graph_flat(same) : 0);
    }
    buffer_add_char(file->out, '\n');
}

static int64_t weight_of(const struct graph *graph, const struct graph_edge *edge) {
    const struct graph_node *source = graph_find(graph, &edge->source->info);
    const struct graph_node *target = graph_find(graph, &edge->target->info);
    const struct graph_edge *same = source ? source->out : NULL;
    while (same && same->target != target)
        same = same->next_out;
    return same ? graph_weight(same) : 0;
}

static void add_call_costs(struct callgrind *file, const struct graph_edge *edge) {
    buffer_add_text(file->out, "* *");
    if (!file->events) buffer_printf(file->out, " %lld", scaled(file, edge->weight));
    for (size_t i = 0; file->events && i < file->event_count; i++)
        buffer_printf(file->out, " %lld", (long long)weight_of(&file->events[i], edge));
    buffer_add_char(file->out, '\n');
}

/* Where pprof leaves a line empty, callgrind_annotate wants a word. */
static const char *name_of(struct callgrind *file, struct graph_node *node) {
    return file->events && !*node->info.name ? graph_name(&file->graph, node) : node->info.name;
}

static const char *file_of(const struct callgrind *file, const struct graph_node *node) {
    return file->events && !*node->info.file ? "???" : node->info.file;
}

static void add_calls(struct callgrind *file, const struct graph_node *node) {
    size_t count;
    struct graph_edge **edges = graph_sort_edges(&file->graph, node, false, &count);
    for (size_t i = 0; i < count; i++) {
        const struct graph_node *callee = edges[i]->target;
        add_name(file, "cfl=", &file->files, file_of(file, callee));
        const char *name = file->callees[callee->index]; /* none: dropped as negative, though the call is shown */
        add_name(file, "cfn=", &file->names, name ? name : "");
        buffer_printf(file->out, "calls=%d ", file->events ? 1 : 0);
        add_address(file, callee->info.address);
        buffer_printf(file->out, " %lld\n", (long long)callee->info.line);
        add_call_costs(file, edges[i]);
    }
    free(edges);
}

static void add_node(struct callgrind *file, struct graph_node *node) {
    const struct graph_info *info = &node->info, *before = file->before;
    if (!before || info->object != before->object || info->file != before->file || info->name != before->name) {
        buffer_add_char(file->out, '\n');
        add_name(file, "ob=", &file->objects, info->object);
        add_name(file, "fl=", &file->files, file_of(file, node));
        add_name(file, "fn=", &file->names, name_of(file, node));
    }
    add_address(file, info->address);
    buffer_printf(file->out, " %lld", (long long)info->line);
    add_costs(file, node);
    add_calls(file, node);
    file->before = info;
}

/* ---- names of callees ---- */

struct callee_key {
    const char *file, *name;
    const struct graph_node *function; /* NULL: of all with that file and name */
};

static struct map_entry *entry_of(struct map *map, const struct graph_info *info, const struct graph_node *function,
                                  bool *added) {
    struct callee_key key;
    memset(&key, 0, sizeof key);
    key.file = info->file;
    key.name = info->name;
    key.function = function;
    return map_put(map, &key, sizeof key, added);
}

/* Functions that only differ in what callgrind does not know (their binary, their first line) are told apart: "f [2/3]". */
static void name_callees(struct callgrind *file) {
    struct map seen = {0};
    struct graph *graph = &file->graph;
    file->callees = xcalloc(graph->all_count + 1, sizeof(char *));
    for (size_t i = 0; i < graph->node_count; i++) {
        bool added;
        const struct graph_node *node = graph->nodes[i];
        (void)entry_of(&seen, &node->info, node->function, &added);
        if (!added) continue;
        int64_t number = ++entry_of(&seen, &node->info, NULL, NULL)->value;
        entry_of(&seen, &node->info, node->function, NULL)->value = number;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        const char *name = name_of(file, node);
        long long number = (long long)entry_of(&seen, &node->info, node->function, NULL)->value;
        long long count = (long long)entry_of(&seen, &node->info, NULL, NULL)->value;
        file->callees[node->index] = count > 1 ? xasprintf("%s [%lld/%lld]", name, number, count) : xstrdup(name);
    }
    map_free(&seen);
}

/* ---- several events ---- */

/* Each event is a sample type of its own; the last type says with 1 that a sample has any value, so that a graph of it has
 * all nodes and edges. */
static void split_events(struct callgrind *file) {
    const struct report *report = file->report;
    struct profile *profile = report->profile;
    size_t sides = report->options.before_after ? SIDES : 1, first = report->options.all_types ? 0 : report->type;
    size_t count = (report->options.all_types ? profile->type_count : 1) * sides, width = count + 1;
    struct profile_type *types = xcalloc(width, sizeof *types);
    int64_t *values = xcalloc(profile->sample_count * width + 1, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        char *name = xasprintf("%s%s", profile->types[first + i / sides].type,
                               sides == 1            ? ""
                               : i % sides == BEFORE ? "_before"
                                                     : "_after");
        types[i] = (struct profile_type){profile_text(profile, name), profile->types[first + i / sides].unit};
        free(name);
    }
    types[count] = types[0];
    for (size_t sample = 0; sample < profile->sample_count; sample++)
        for (size_t i = 0; i < count; i++) {
            size_t type = first + i / sides;
            int64_t value = sides == 1 ? profile_value(profile, sample, type)
                                       : difference_value(profile, sample, type, (int)(i % sides));
            values[sample * width + i] = value;
            if (value) values[sample * width + count] = 1;
        }
    profile_retype(profile, types, width, values);
    file->event_count = count;
}

static void build_event(struct callgrind *file, struct report *report, size_t type, struct graph *graph) {
    struct graph_options options;
    report_graph_options(report, &options);
    options.type = type;
    options.mean_type = PROFILE_NONE;
    graph_build(graph, file->report->profile, &options);
}

static int build_events(struct callgrind *file, struct report *report, struct error *err) {
    if (report->options.call_tree)
        return error_usage(err, "call_tree excludes all_types and before_after: it compares paths by one value");
    if (report_check_sums(report, err) < 0) return -1;
    split_events(file);
    report_prepare_graph(report);
    build_event(file, report, file->event_count, &file->graph);
    graph_sort(&file->graph, GRAPH_ADDRESS);
    file->events = xcalloc(file->event_count, sizeof *file->events);
    for (size_t i = 0; i < file->event_count; i++)
        build_event(file, report, i, &file->events[i]);
    return 0;
}

/* An event's name is one word. */
static void add_event(struct buffer *out, const struct profile_type *type) {
    buffer_add_char(out, ' ');
    for (const char *name = type->type; *name; name++)
        buffer_add_char(out, *name == ' ' || *name == ':' || *name == '\n' ? '_' : *name);
    buffer_printf(out, "(%s)", type->unit);
}

static void add_head(struct callgrind *file) {
    const struct report *report = file->report;
    buffer_add_text(file->out, "positions: instr line\nevents:");
    if (!file->events) buffer_printf(file->out, " %s(%s)", report->type_name, report->output_unit);
    for (size_t i = 0; i < file->event_count; i++)
        add_event(file->out, &report->profile->types[i]);
    if (file->events) buffer_add_text(file->out, "\nsummary:");
    for (size_t i = 0; i < file->event_count; i++) {
        int64_t sum = 0;
        for (size_t sample = 0; sample < report->profile->sample_count; sample++)
            sum += profile_value(report->profile, sample, i);
        buffer_printf(file->out, " %lld", (long long)sum);
    }
    buffer_add_char(file->out, '\n');
}

/* ---- all of it ---- */

static void free_file(struct callgrind *file) {
    for (size_t i = 0; file->callees && i <= file->graph.all_count; i++)
        free(file->callees[i]);
    free(file->callees);
    map_free(&file->objects);
    map_free(&file->files);
    map_free(&file->names);
    for (size_t i = 0; file->events && i < file->event_count; i++)
        graph_free(&file->events[i]);
    free(file->events);
    graph_free(&file->graph);
}

int callgrind_write(struct report *report, struct buffer *out, struct error *err) {
    struct callgrind file = {.report = report, .out = out};
    struct graph_trimmed trimmed;
    bool has_events = report->options.all_types || report->options.before_after;
    if (has_events && build_events(&file, report, err) < 0) return -1;
    if (!has_events) report_build_graph(report, &file.graph, &trimmed);
    name_callees(&file);
    add_head(&file);
    for (size_t i = 0; i < file.graph.node_count; i++)
        add_node(&file, file.graph.nodes[i]);
    free_file(&file);
    return 0;
}
