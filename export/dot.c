/* The call graph as graphviz draws it, with the shapes, sizes and colours that pprof gives it: dot, and what is made of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/sum.h"
#include "export/format.h"
#include "export/shorten.h"
#include "query/profile/scale.h"

enum { NODELETS_MAX = 4, FONT_LEAST = 8, FONT_GROWTH = 16 };

struct picture {
    struct report *report;
    struct graph *graph;
    struct buffer *out;
    int *numbers;       /* [node index]: its number in the picture, 0 for none */
    bool *has_nodelets; /* [node index] */
    double max_flat;
};

static int64_t size_of(int64_t value) {
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

/* ---- texts ---- */

/* Lines are aligned to the left in graphviz where they end in \l. */
static void add_escaped(struct buffer *out, const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '\\': buffer_add_text(out, "\\\\"); break;
        case '"': buffer_add_text(out, "\\\""); break;
        case '\n': buffer_add_text(out, "\\l"); break;
        default: buffer_add_char(out, *text);
        }
}

static char *replaced(char *text, const char *what, const char *by) {
    struct buffer made = {0};
    const char *at = text;
    for (const char *found; (found = strstr(at, what)); at = found + strlen(what)) {
        buffer_add(&made, at, (size_t)(found - at));
        buffer_add_text(&made, by);
    }
    buffer_add_text(&made, at);
    free(text);
    return buffer_take(&made);
}

/* The function on several lines: one each for its packages, namespaces and the method. Go's "[...]" is no place to break. */
static void add_broken_name(struct buffer *out, const char *name) {
    struct buffer shortened = {0}, escaped = {0};
    shorten_function(&shortened, name);
    add_escaped(&escaped, buffer_text(&shortened));
    char *text = replaced(buffer_take(&escaped), "::", "\\n");
    text = replaced(text, "[...]", "[…]");
    text = replaced(text, ".", "\\n");
    buffer_add_text(out, text);
    free(text);
    buffer_free(&shortened);
}

/* Every text of the profile is escaped: a quotation mark would end the label, and what follows could be a link. */
static void add_node_name(struct buffer *out, const struct graph_info *info) {
    const char *file = *info->file ? path_base(info->file) : "";
    if (info->address) buffer_printf(out, "%016llx\\n", (unsigned long long)info->address);
    if (*info->name) {
        add_broken_name(out, info->name);
        buffer_add_text(out, "\\n");
    }
    bool has_object = !info->line && !*file && !*info->name && *info->object;
    if (has_object) buffer_add_char(out, '[');
    add_escaped(out, has_object ? path_base(info->object) : file);
    if (has_object) buffer_add_char(out, ']');
    if (info->line)
        buffer_printf(out, ":%lld\\n", (long long)info->line);
    else if (*file || has_object)
        buffer_add_text(out, "\\n");
    else if (!*info->name)
        buffer_add_text(out, "<unknown>\\n");
}

/* The unit is the profile's. */
static void add_value(const struct picture *picture, struct buffer *out, int64_t value) {
    struct buffer text = {0};
    report_add_value(picture->report, &text, value);
    add_escaped(out, buffer_text(&text));
    buffer_free(&text);
}

static void add_share(const struct picture *picture, struct buffer *out, int64_t value) {
    struct scale_percent percent = scale_percentage(value, picture->report->total);
    add_value(picture, out, value);
    buffer_printf(out, " (%s)", percent.text + strspn(percent.text, " "));
}

/* ---- colours ---- */

static unsigned colour_part(double part) {
    return part > 0 ? (unsigned)(part * 255.0) & 0xff : 0; /* 0 also where there is no total: not a number */
}

/* From green for -1 over grey for 0 to red for 1. Backgrounds are pale. The middle is stretched, because most values are small. */
static void add_colour(struct buffer *out, double score, bool is_background) {
    double saturation = is_background ? 0.1 : 1.0, value = is_background ? 0.93 : 0.7;
    if (score > 1) score = 1;
    if (score < -1) score = -1;
    if (fabs(score) < 0.2) saturation *= fabs(score) / 0.2;
    if (score > 0) score = pow(score, 1.0 - 0.7);
    if (score < 0) score = -pow(-score, 1.0 - 0.7);
    double red = score < 0 ? value * (1 + saturation * score) : value;
    double green = score < 0 ? value : value * (1 - saturation * score);
    buffer_printf(out, "#%02x%02x%02x", colour_part(red), colour_part(green), colour_part(value * (1 - saturation)));
}

static double score_of(const struct picture *picture, int64_t value) {
    return (double)value / (double)size_of(picture->report->total);
}

/* ---- nodes ---- */

static int font_size(const struct picture *picture, int64_t flat) {
    double size = (double)size_of(flat);
    if (picture->max_flat == 0 || flat == 0 || size > picture->max_flat) return FONT_LEAST;
    return FONT_LEAST + (int)ceil(FONT_GROWTH * sqrt(size / picture->max_flat));
}

static void add_node(const struct picture *picture, struct graph_node *node) {
    struct buffer *out = picture->out;
    int64_t flat = graph_flat(node), cum = graph_cum(node);
    int number = picture->numbers[node->index];
    buffer_printf(out, "N%d [label=\"", number);
    add_node_name(out, &node->info);
    if (flat)
        add_share(picture, out, flat);
    else
        buffer_add_char(out, '0');
    if (cum != flat) {
        buffer_add_text(out, flat ? "\\nof " : " of ");
        add_share(picture, out, cum);
    }
    buffer_printf(out, "\" id=\"node%d\" fontsize=%d shape=box tooltip=\"", number, font_size(picture, flat));
    add_escaped(out, graph_name(picture->graph, node));
    buffer_add_text(out, " (");
    add_value(picture, out, cum);
    buffer_add_text(out, ")\" color=\"");
    add_colour(out, score_of(picture, cum), false);
    buffer_add_text(out, "\" fillcolor=\"");
    add_colour(out, score_of(picture, cum), true);
    buffer_add_text(out, "\"]\n");
}

/* ---- nodelets: a node's tags ---- */

/* pprof writes these as they are, and graphviz cannot read a tag with a quotation mark in it. Between the tags of one sample stands
 * "\\n", which stays. */
static void add_tag_name(struct buffer *out, const char *name) {
    for (; *name; name++) {
        if (*name == '"' || (*name == '\\' && name[1] != 'n')) buffer_add_char(out, '\\');
        buffer_add_char(out, *name);
    }
}

static void add_nodelet(const struct picture *picture, const char *source, const char *id, const char *name,
                        int64_t value, const char *style) {
    struct buffer weight = {0};
    add_value(picture, &weight, value);
    const char *text = buffer_text(&weight);
    buffer_printf(picture->out, "%s [label = \"", id);
    add_tag_name(picture->out, name);
    buffer_printf(picture->out, "\" id=\"%s\" fontsize=8 shape=box3d tooltip=\"%s\"]\n", id, text);
    buffer_printf(picture->out, "%s -> %s [label=\" %s\" weight=100 tooltip=\"%s\" labeltooltip=\"%s\"%s]\n", source,
                  id, text, text, text, style);
    buffer_free(&weight);
}

static double distance(const struct graph_tag *tag, const struct graph_tag *other) {
    const char *unit;
    return fabs((double)tag->value - scale_value(other->value, other->unit, tag->unit, &unit));
}

/* Tags as one: "16B..1kB", with their sums. */
static struct graph_tag joined_tags(struct graph *graph, const struct graph_tag *const *group, size_t count) {
    const struct graph_tag *least = group[0], *most = group[0];
    struct graph_tag sum = *group[0];
    struct buffer name = {0};
    const char *unit;
    for (size_t i = 1; i < count; i++) {
        if ((int64_t)scale_value(group[i]->value, group[i]->unit, least->unit, &unit) < least->value) least = group[i];
        if ((int64_t)scale_value(group[i]->value, group[i]->unit, most->unit, &unit) > most->value) most = group[i];
        sum_add(&sum.flat, group[i]->flat, &graph->overflows);
        sum_add(&sum.flat_div, group[i]->flat_div, &graph->overflows);
        sum_add(&sum.cum, group[i]->cum, &graph->overflows);
        sum_add(&sum.cum_div, group[i]->cum_div, &graph->overflows);
    }
    scale_label(&name, least->value, least->unit, "auto");
    if (count > 1) {
        buffer_add_text(&name, "..");
        scale_label(&name, most->value, most->unit, "auto");
    }
    struct graph_tag made = {.flat = graph_tag_flat(&sum), .cum = graph_tag_cum(&sum)};
    made.name = arena_text(&graph->memory, buffer_text(&name), name.size);
    buffer_free(&name);
    return made;
}

/* At most NODELETS_MAX: the heaviest, each with those that are nearest to it. Changes `tags`. */
static void collapse_tags(struct graph *graph, struct graph_tags *tags, bool flat) {
    const struct graph_tag **groups[NODELETS_MAX];
    size_t counts[NODELETS_MAX] = {0};
    graph_sort_tags(tags, flat);
    if (tags->count <= NODELETS_MAX) return;
    for (size_t i = 0; i < NODELETS_MAX; i++)
        groups[i] = xcalloc(tags->count, sizeof(struct graph_tag *));
    for (size_t i = 0; i < tags->count; i++) {
        size_t nearest = i < NODELETS_MAX ? i : 0;
        for (size_t j = 1; i >= NODELETS_MAX && j < NODELETS_MAX; j++)
            if (distance(&tags->items[i], groups[j][0]) < distance(&tags->items[i], groups[nearest][0])) nearest = j;
        groups[nearest][counts[nearest]++] = &tags->items[i];
    }
    struct graph_tag made[NODELETS_MAX];
    for (size_t i = 0; i < NODELETS_MAX; i++)
        made[i] = joined_tags(graph, groups[i], counts[i]);
    memcpy(tags->items, made, sizeof made);
    tags->count = NODELETS_MAX;
    for (size_t i = 0; i < NODELETS_MAX; i++)
        free(groups[i]);
    graph_sort_tags(tags, flat);
}

static void add_numeric_nodelets(const struct picture *picture, struct graph_node *node, const char *labels,
                                 const char *source, bool flat) {
    struct graph_tags *tags = NULL;
    for (size_t i = 0; i < node->numeric_count; i++)
        if (strcmp(node->numeric_tags[i].labels, labels) == 0) tags = &node->numeric_tags[i].tags;
    if (!tags) return;
    collapse_tags(picture->graph, tags, flat);
    for (size_t i = 0; i < tags->count; i++) {
        const struct graph_tag *tag = &tags->items[i];
        int64_t own = graph_tag_flat(tag), all = graph_tag_cum(tag);
        bool is_own = flat || own == all;
        char *id = xasprintf("N%s_%zu", source, i);
        if (is_own ? own : all)
            add_nodelet(picture, source, id, tag->name, is_own ? own : all, is_own ? "" : " style=\"dotted\"");
        free(id);
    }
}

/* Of leaves the cumulative values, which have in them what was trimmed below; of others their own. */
static bool add_nodelets(const struct picture *picture, struct graph_node *node) {
    size_t before = picture->out->size;
    bool flat = node->out != NULL;
    int number = picture->numbers[node->index];
    graph_sort_tags(&node->label_tags, flat);
    for (size_t i = 0; i < node->label_tags.count && i < NODELETS_MAX; i++) {
        const struct graph_tag *tag = &node->label_tags.items[i];
        int64_t value = flat ? graph_tag_flat(tag) : graph_tag_cum(tag);
        if (!value) continue;
        char *source = xasprintf("N%d", number), *id = xasprintf("N%d_%zu", number, i);
        add_nodelet(picture, source, id, tag->name, value, "");
        add_numeric_nodelets(picture, node, tag->name, id, flat);
        free(source);
        free(id);
    }
    char *source = xasprintf("N%d", number);
    add_numeric_nodelets(picture, node, "", source, flat);
    free(source);
    return picture->out->size > before;
}

/* ---- edges ---- */

static int64_t times(int64_t value, int64_t factor) {
    return (int64_t)((uint64_t)value * (uint64_t)factor);
}

/* 1 for nothing to 1 + `steps` for all. */
static int steps_of(const struct picture *picture, int64_t weight, int steps) {
    int64_t share = size_of(times(weight, steps) / picture->report->total);
    return 1 + (int)(share < steps ? share : steps);
}

static void add_tooltip(const struct picture *picture, const struct graph_edge *edge) {
    buffer_add_char(picture->out, '"');
    add_escaped(picture->out, graph_name(picture->graph, edge->source));
    buffer_add_text(picture->out, edge->residual ? " ... " : " -> ");
    add_escaped(picture->out, graph_name(picture->graph, edge->target));
    buffer_add_text(picture->out, " (");
    add_value(picture, picture->out, graph_weight(edge));
    buffer_add_text(picture->out, ")\"");
}

static void add_edge(const struct picture *picture, const struct graph_edge *edge) {
    struct buffer *out = picture->out;
    int64_t weight = graph_weight(edge);
    buffer_printf(out, "N%d -> N%d [label=\" ", picture->numbers[edge->source->index],
                  picture->numbers[edge->target->index]);
    add_value(picture, out, weight);
    buffer_printf(out, "%s\"", edge->is_inline ? "\\n (inline)" : "");
    if (picture->report->total) {
        int pull = steps_of(picture, weight, 100), width = steps_of(picture, weight, 5);
        if (pull > 1) buffer_printf(out, " weight=%d", pull);
        if (width > 1) buffer_printf(out, " penwidth=%d", width);
        buffer_add_text(out, " color=\"");
        add_colour(out, score_of(picture, weight), false);
        buffer_add_char(out, '"');
    }
    buffer_add_text(out, " tooltip=");
    add_tooltip(picture, edge);
    buffer_add_text(out, " labeltooltip=");
    add_tooltip(picture, edge);
    if (edge->residual) buffer_add_text(out, " style=\"dotted\"");
    if (picture->has_nodelets[edge->source->index]) buffer_add_text(out, " minlen=2");
    buffer_add_text(out, "]\n");
}

/* ---- the picture ---- */

static const char *title_of(const struct report *report) {
    const struct profile *profile = report->profile;
    return profile->mapping_count && *profile->mappings[0].file ? path_base(profile->mappings[0].file) : "";
}

static void add_legend(const struct picture *picture, const struct graph_trimmed *trimmed) {
    struct buffer labels = {0}, *out = picture->out;
    const char *title = title_of(picture->report);
    report_add_labels(picture->report, picture->graph, trimmed, true, &labels);
    char *first = xasprintf("%.*s", (int)strcspn(buffer_text(&labels), "\n"), buffer_text(&labels));
    buffer_add_text(out, "subgraph cluster_L { \"");
    add_escaped(out, first);
    buffer_add_text(out, "\" [shape=box fontsize=16 label=\"");
    add_escaped(out, buffer_text(&labels));
    buffer_add_char(out, '"');
    if (*title) {
        buffer_add_text(out, " tooltip=\"");
        add_tag_name(out, title);
        buffer_add_char(out, '"');
    }
    buffer_add_text(out, "] }\n");
    free(first);
    buffer_free(&labels);
}

static void add_graph(struct picture *picture) {
    struct graph *graph = picture->graph;
    size_t edge_count;
    for (size_t i = 0; i < graph->node_count; i++) {
        double flat = (double)size_of(graph_flat(graph->nodes[i]));
        picture->numbers[graph->nodes[i]->index] = (int)i + 1;
        if (flat > picture->max_flat) picture->max_flat = flat;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        add_node(picture, graph->nodes[i]);
        picture->has_nodelets[graph->nodes[i]->index] = add_nodelets(picture, graph->nodes[i]);
    }
    /* The heaviest first: a hint to graphviz. */
    struct graph_edge **edges = graph_sort_all_edges(graph, &edge_count);
    for (size_t i = 0; i < edge_count; i++)
        add_edge(picture, edges[i]);
    free(edges);
}

int dot_write(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    const char *title = title_of(report);
    (void)err;
    report_build_graph(report, &graph, &trimmed);
    struct picture picture = {.report = report, .graph = &graph, .out = out};
    picture.numbers = xcalloc(graph.all_count + 1, sizeof *picture.numbers);
    picture.has_nodelets = xcalloc(graph.all_count + 1, sizeof *picture.has_nodelets);
    buffer_add_text(out, "digraph \"");
    add_tag_name(out, *title ? title : "unnamed");
    buffer_add_text(out, "\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n");
    add_legend(&picture, &trimmed);
    add_graph(&picture);
    buffer_add_text(out, "}\n");
    report->overflows |= graph.overflows;
    free(picture.numbers);
    free(picture.has_nodelets);
    graph_free(&graph);
    return 0;
}
