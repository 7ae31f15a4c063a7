#include "query/profile/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/sum.h"

/* ---- values ---- */

static int64_t mean(int64_t value, int64_t divisor) {
    return divisor ? value / divisor : value;
}

int64_t graph_flat(const struct graph_node *node) {
    return mean(node->flat, node->flat_div);
}

int64_t graph_cum(const struct graph_node *node) {
    return mean(node->cum, node->cum_div);
}

int64_t graph_weight(const struct graph_edge *edge) {
    return mean(edge->weight, edge->weight_div);
}

int64_t graph_tag_flat(const struct graph_tag *tag) {
    return mean(tag->flat, tag->flat_div);
}

int64_t graph_tag_cum(const struct graph_tag *tag) {
    return mean(tag->cum, tag->cum_div);
}

/* ---- a graph being built ---- */

struct building {
    struct graph *graph;
    struct profile *profile;
    const struct graph_options *options;
    const char **files;        /* [function]: cleaned */
    size_t *first_nodes;       /* [location]: where its lines' nodes stand in `nodes`; one more than there are */
    struct graph_node **nodes; /* of a graph; NULL for what is not kept */
    const char **joined;       /* [label set]: its text labels as one; NULL unknown */
    struct buffer scratch;
    uint64_t stamp; /* of the sample that is being added */
    uint32_t labels;
    int64_t value, divisor;
};

struct node_key {
    const struct graph_node *caller; /* of call_tree */
    struct graph_info info;
};

/* As Go's filepath.Clean: what "a//b", "./a" and "a/../b" are for short. */
const char *graph_clean_path(struct profile *profile, const char *path) {
    if (!*path) return path;
    if (!strstr(path, "//") && !strstr(path, "./") && !strstr(path, "/.") && path[strlen(path) - 1] != '/') return path;
    struct buffer clean = {0};
    bool rooted = *path == '/';
    size_t floor = rooted; /* ".." goes no further back */
    if (rooted) buffer_add_char(&clean, '/');
    for (const char *at = path; *at;) {
        size_t size = strcspn(at, "/");
        if (size == 2 && strncmp(at, "..", 2) == 0) {
            if (clean.size > floor) {
                size_t back = clean.size;
                while (back > floor && clean.data[back - 1] != '/')
                    back--;
                if (back > floor) back--; /* the slash */
                clean.size = back;
                clean.data[back] = '\0';
            } else if (!rooted) {
                buffer_add_text(&clean, clean.size ? "/.." : "..");
                floor = clean.size;
            }
        } else if (size && !(size == 1 && *at == '.')) {
            if (clean.size && clean.data[clean.size - 1] != '/') buffer_add_char(&clean, '/');
            buffer_add(&clean, at, size);
        }
        at += size + (at[size] == '/');
    }
    const char *kept = profile_text(profile, clean.size ? buffer_text(&clean) : ".");
    buffer_free(&clean);
    return kept;
}

/* `file` is the function's, cleaned. */
static void fill_info(struct profile *profile, const struct profile_location *location, const struct profile_line *line,
                      const char *file, bool object_names, struct graph_info *info) {
    const char *none = profile_text(profile, "");
    const char *object = location->mapping == PROFILE_NONE ? none : profile->mappings[location->mapping].file;
    *info = (struct graph_info){.name = none, .address = location->address, .file = none, .object = none};
    if (!line) {
        info->object = object;
        return;
    }
    const struct profile_function *function = &profile->functions[line->function];
    info->name = function->name;
    info->line = line->line;
    info->column = line->column;
    info->file = file;
    if (!object_names && *info->name) return;
    info->object = object;
    info->start_line = function->start_line;
}

void graph_info_of(struct profile *profile, const struct profile_location *location, const struct profile_line *line,
                   bool object_names, struct graph_info *info) {
    const char *file = line ? graph_clean_path(profile, profile->functions[line->function].file) : NULL;
    fill_info(profile, location, line, file, object_names, info);
}

static struct graph_node *find_node(const struct graph *graph, const struct graph_node *caller,
                                    const struct graph_info *info) {
    struct node_key key;
    memset(&key, 0, sizeof key);
    key.caller = caller;
    key.info = *info;
    const struct map_entry *entry = map_find(graph->infos, &key, sizeof key);
    return entry ? (struct graph_node *)(intptr_t)entry->value : NULL;
}

struct graph_node *graph_find(const struct graph *graph, const struct graph_info *info) {
    return find_node(graph, NULL, info);
}

static struct graph_node *add_node(struct graph *graph, const struct graph_node *caller,
                                   const struct graph_info *info) {
    struct node_key key;
    memset(&key, 0, sizeof key);
    key.caller = caller;
    key.info = *info;
    bool added;
    struct map_entry *entry = map_put(graph->infos, &key, sizeof key, &added);
    if (!added) return (struct graph_node *)(intptr_t)entry->value;
    struct graph_node *node = arena_alloc(&graph->memory, sizeof *node);
    memset(node, 0, sizeof *node);
    entry->value = (int64_t)(intptr_t)node;
    node->info = *info;
    if (graph->all_count == graph->all_room) {
        graph->all_room = graph->all_room ? graph->all_room * 2 : 256;
        graph->all = xrealloc(graph->all, graph->all_room * sizeof(struct graph_node *));
    }
    node->index = (uint32_t)graph->all_count;
    graph->all[graph->all_count++] = node;
    struct graph_info whole = *info;
    whole.address = 0;
    whole.line = whole.column = 0;
    node->function = info->address || info->line ? add_node(graph, caller, &whole) : node;
    return node;
}

/* The node of a line, NULL where it is not to be shown. */
static struct graph_node *node_of(struct building *build, const struct graph_node *caller,
                                  const struct profile_location *location, const struct profile_line *line) {
    struct graph_info info;
    fill_info(build->profile, location, line, line ? build->files[line->function] : NULL, build->options->object_names,
              &info);
    const struct graph *kept = build->options->kept;
    const struct graph_node *old = kept ? find_node(kept, caller, &info) : NULL;
    if (kept && !(old && old->kept)) return NULL;
    return add_node(build->graph, caller, &info);
}

/* ---- edges ---- */

static size_t edge_slot(const struct graph *graph, const struct graph_node *source, const struct graph_node *target) {
    size_t mask = graph->edge_slots - 1;
    size_t slot = hash_mix((uint64_t)source->index << 32 | target->index) & mask;
    while (graph->edges[slot] && (graph->edges[slot]->source != source || graph->edges[slot]->target != target))
        slot = (slot + 1) & mask;
    return slot;
}

static void grow_edges(struct graph *graph) {
    struct graph_edge **old = graph->edges;
    size_t count = graph->edge_slots;
    graph->edge_slots = count ? count * 2 : 1024;
    graph->edges = xcalloc(graph->edge_slots, sizeof(struct graph_edge *));
    for (size_t i = 0; i < count; i++)
        if (old[i]) graph->edges[edge_slot(graph, old[i]->source, old[i]->target)] = old[i];
    free(old);
}

static struct graph_edge *find_edge(struct graph *graph, struct graph_node *source, struct graph_node *target) {
    if ((graph->edge_count + 1) * 2 > graph->edge_slots) grow_edges(graph);
    struct graph_edge **slot = &graph->edges[edge_slot(graph, source, target)];
    if (*slot) return *slot;
    struct graph_edge *edge = *slot = arena_alloc(&graph->memory, sizeof *edge);
    *edge = (struct graph_edge){
        .source = source, .target = target, .is_inline = true, .next_in = target->in, .next_out = source->out};
    target->in = source->out = edge;
    graph->edge_count++;
    return edge;
}

static void add_edge(struct building *build, struct graph_node *source, struct graph_node *target, bool residual,
                     bool is_inline, bool once) {
    struct graph_edge *edge = find_edge(build->graph, source, target);
    if (once && edge->seen == build->stamp) return;
    edge->seen = build->stamp;
    edge->weight += build->value;
    edge->weight_div += build->divisor;
    edge->residual |= residual;
    edge->is_inline &= is_inline;
}

/* ---- tags ---- */

static struct graph_tag *find_tag(struct graph_tags *tags, const char *name, const char *unit, int64_t value) {
    for (size_t i = 0; i < tags->count; i++)
        if (tags->items[i].name == name) return &tags->items[i];
    if (tags->count == tags->room) {
        tags->room = tags->room ? tags->room * 2 : 4;
        tags->items = xrealloc(tags->items, tags->room * sizeof *tags->items);
    }
    tags->items[tags->count] = (struct graph_tag){.name = name, .unit = unit, .value = value};
    return &tags->items[tags->count++];
}

static void add_to_tag(const struct building *build, struct graph_tag *tag, bool flat) {
    sum_add(flat ? &tag->flat : &tag->cum, build->value, &build->graph->overflows);
    sum_add(flat ? &tag->flat_div : &tag->cum_div, build->divisor, &build->graph->overflows);
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* "key:text" of each text label, sorted, with a backslash and an n between them: what a picture shows. */
static const char *join_labels(struct building *build) {
    const char **known = &build->joined[build->labels];
    if (*known) return *known;
    const struct profile_labels *set = &build->profile->label_sets[build->labels];
    char **texts = xcalloc(set->count + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &build->profile->labels[set->first + i];
        if (label->text) texts[count++] = xasprintf("%s:%s", label->key, label->text);
    }
    qsort(texts, count, sizeof(char *), compare_texts);
    buffer_clear(&build->scratch);
    for (size_t i = 0; i < count; i++) {
        if (i) buffer_add_text(&build->scratch, "\\n");
        buffer_add_text(&build->scratch, texts[i]);
        free(texts[i]);
    }
    free(texts);
    return *known = profile_text(build->profile, buffer_text(&build->scratch));
}

static struct graph_tags *numeric_tags(struct graph_node *node, const char *labels) {
    for (size_t i = 0; i < node->numeric_count; i++)
        if (node->numeric_tags[i].labels == labels) return &node->numeric_tags[i].tags;
    node->numeric_tags = xrealloc(node->numeric_tags, (node->numeric_count + 1) * sizeof *node->numeric_tags);
    node->numeric_tags[node->numeric_count].labels = labels;
    node->numeric_tags[node->numeric_count].tags = (struct graph_tags){0};
    return &node->numeric_tags[node->numeric_count++].tags;
}

static void add_tags(struct building *build, struct graph_node *node, bool flat) {
    const struct graph_options *options = build->options;
    const struct profile_labels *set = &build->profile->label_sets[build->labels];
    const char *labels = join_labels(build);
    if (*labels) add_to_tag(build, find_tag(&node->label_tags, labels, "", 0), flat);
    for (size_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &build->profile->labels[set->first + i];
        if (label->text) continue;
        const char *unit = *label->unit ? label->unit : label->key;
        buffer_clear(&build->scratch);
        if (options->format_tag)
            options->format_tag(options->context, label->number, unit, &build->scratch);
        else
            buffer_printf(&build->scratch, "%lld", (long long)label->number);
        const char *name = profile_text(build->profile, buffer_text(&build->scratch));
        add_to_tag(build, find_tag(numeric_tags(node, labels), name, unit, label->number), flat);
    }
}

/* ---- samples ---- */

static void add_cum(struct building *build, struct graph_node *node) {
    node->cum += build->value;
    node->cum_div += build->divisor;
    if (build->options->tags) add_tags(build, node, false);
}

static void add_flat(struct building *build, struct graph_node *node) {
    node->flat += build->value;
    node->flat_div += build->divisor;
    if (build->options->tags) add_tags(build, node, true);
}

static bool begin_sample(struct building *build, size_t index) {
    const struct graph_options *options = build->options;
    build->value = profile_value(build->profile, index, options->type);
    build->divisor = options->mean_type == PROFILE_NONE ? 0 : profile_value(build->profile, index, options->mean_type);
    build->labels = build->profile->samples[index].labels;
    build->stamp = index + 1;
    return build->value || build->divisor;
}

/* From the root: each node and each edge once, however often the stack goes through it. */
static void add_to_graph(struct building *build, const struct profile_stack *stack) {
    struct graph_node *caller = NULL;
    bool residual = false, edges = build->options->edges;
    for (uint32_t i = stack->depth; i-- > 0;) {
        uint32_t location = build->profile->frames[stack->first + i];
        size_t first = build->first_nodes[location], last = build->first_nodes[location + 1];
        for (size_t at = last; at-- > first;) {
            struct graph_node *node = build->nodes[at];
            if (!node) {
                residual = true;
                continue;
            }
            if (node->seen != build->stamp) {
                node->seen = build->stamp;
                add_cum(build, node);
            }
            if (edges && caller && caller != node) add_edge(build, caller, node, residual, at + 1 != last, true);
            caller = node;
            residual = false;
        }
    }
    if (caller && !residual) add_flat(build, caller);
}

static void add_to_tree(struct building *build, const struct profile_stack *stack) {
    struct graph_node *caller = NULL;
    for (uint32_t i = stack->depth; i-- > 0;) {
        const struct profile_location *location = &build->profile->locations[build->profile->frames[stack->first + i]];
        uint32_t count = location->line_count ? location->line_count : 1;
        for (uint32_t at = count; at-- > 0;) {
            const struct profile_line *line =
                location->line_count ? &build->profile->lines[location->first_line + at] : NULL;
            struct graph_node *node = node_of(build, caller, location, line);
            if (!node) continue;
            add_cum(build, node);
            if (caller) add_edge(build, caller, node, false, at + 1 != count, false);
            caller = node;
        }
    }
    if (caller) add_flat(build, caller);
}

static void open_nodes(struct building *build) {
    const struct profile *profile = build->profile;
    size_t count = 0;
    build->first_nodes = xcalloc(profile->location_count + 1, sizeof *build->first_nodes);
    for (size_t i = 0; i < profile->location_count; i++) {
        build->first_nodes[i] = count;
        count += profile->locations[i].line_count ? profile->locations[i].line_count : 1;
    }
    build->first_nodes[profile->location_count] = count;
    build->nodes = xcalloc(count + 1, sizeof(struct graph_node *));
    for (size_t i = 0; i < profile->location_count; i++) {
        const struct profile_location *location = &profile->locations[i];
        struct graph_node **nodes = build->nodes + build->first_nodes[i];
        if (location->line_count == 0) nodes[0] = node_of(build, NULL, location, NULL);
        for (size_t at = 0; at < location->line_count; at++)
            nodes[at] = node_of(build, NULL, location, &profile->lines[location->first_line + at]);
    }
}

static bool is_negative(const struct graph_node *node) {
    return node->flat < 0 || (node->flat == 0 && node->cum < 0);
}

static void select_nodes(struct graph *graph, bool drop_negative) {
    graph->nodes = xcalloc(graph->all_count + 1, sizeof(struct graph_node *));
    for (size_t i = 0; i < graph->all_count; i++) {
        struct graph_node *node = graph->all[i];
        if (node->cum == 0 && node->flat == 0) continue;
        if (drop_negative && is_negative(node)) continue;
        graph->nodes[graph->node_count++] = node;
    }
}

void graph_build(struct graph *graph, struct profile *profile, const struct graph_options *options) {
    struct building build = {.graph = graph, .profile = profile, .options = options};
    *graph = (struct graph){.infos = xcalloc(1, sizeof *graph->infos)};
    build.files = xcalloc(profile->function_count + 1, sizeof *build.files);
    build.joined = xcalloc(profile->label_set_count + 1, sizeof *build.joined);
    for (size_t i = 0; i < profile->function_count; i++)
        build.files[i] = graph_clean_path(profile, profile->functions[i].file);
    if (!options->call_tree) open_nodes(&build);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_stack *stack = &profile->stacks[profile->samples[i].stack];
        if (!begin_sample(&build, i)) continue;
        if (options->call_tree)
            add_to_tree(&build, stack);
        else
            add_to_graph(&build, stack);
    }
    select_nodes(graph, options->drop_negative);
    free(build.files);
    free(build.joined);
    free(build.first_nodes);
    free(build.nodes);
    buffer_free(&build.scratch);
}

void graph_free(struct graph *graph) {
    for (size_t i = 0; i < graph->all_count; i++) {
        struct graph_node *node = graph->all[i];
        for (size_t at = 0; at < node->numeric_count; at++)
            free(node->numeric_tags[at].tags.items);
        free(node->numeric_tags);
        free(node->label_tags.items);
    }
    if (graph->infos) map_free(graph->infos);
    free(graph->infos);
    free(graph->edges);
    free(graph->nodes);
    free(graph->all);
    arena_free(&graph->memory);
    *graph = (struct graph){0};
}
