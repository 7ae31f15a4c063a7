/* graph.h: flat and cumulative values, and who calls whom, of a profile (query/profile/model.h).
 *
 * A node is what a report shows as one line: all locations that look alike at the profile's granularity
 * (filter_aggregate), or with call_tree one for each path to them. A sample counts once for a node however often its stack
 * goes through it, and once for an edge; flat goes to the leaf. Nodes and edges are pointers that live as long as the
 * graph. */
#ifndef CLEAR_QUERY_PROFILE_GRAPH_GRAPH_H
#define CLEAR_QUERY_PROFILE_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "query/profile/model.h"

struct graph_info { /* texts are the profile's or the graph's, interned: equal ones are one pointer */
    const char *name;
    uint64_t address;
    const char *file;                 /* cleaned: no "//", "./", "x/.." */
    int64_t start_line, line, column; /* 0 unknown */
    const char *object;               /* the mapping's file; "" where functions of all binaries are one */
};

struct graph_edge {
    struct graph_node *source, *target;
    int64_t weight, weight_div;
    bool residual;               /* goes over frames that are not shown */
    bool is_inline;              /* every call that it stands for was inlined */
    bool removed;                /* by trimming: in none of the lists any more */
    uint64_t seen;               /* while building: the sample that counted it last */
    struct graph_edge *next_in;  /* of the target */
    struct graph_edge *next_out; /* of the source */
};

struct graph_tag { /* values of the samples with these labels, for pictures */
    const char *name;
    const char *unit; /* of a number, "" for text */
    int64_t value;    /* of a number */
    int64_t flat, flat_div, cum, cum_div;
};

struct graph_tags {
    struct graph_tag *items;
    size_t count, room;
};

struct graph_node {
    struct graph_info info;
    struct graph_node *function; /* of the whole function, for lines and addresses of it; itself where it is one */
    int64_t flat, flat_div, cum, cum_div;
    struct graph_edge *in, *out;  /* in no order: graph_sort_edges */
    struct graph_tags label_tags; /* "key:text\nkey:text" of each label set with text */
    struct {
        const char *labels; /* of label_tags, "" for none */
        struct graph_tags tags;
    } * numeric_tags;
    size_t numeric_count;
    const char *printable; /* graph_name; NULL until it was asked for */
    int64_t score;         /* while sorting by entropy */
    uint64_t seen;         /* while building */
    uint32_t index;        /* in `all` */
    bool kept;             /* of graph_keep: is in the next graph */
};

struct graph_options {
    size_t type;       /* of the values */
    size_t mean_type;  /* divide by this one's values; PROFILE_NONE: no */
    bool object_names; /* tell functions of unlike binaries apart */
    bool call_tree;
    bool drop_negative;
    bool edges, tags; /* wanted at all? Without them large profiles take a third of the time */
    /* The text of a numeric label; NULL: the plain number. */
    void (*format_tag)(void *context, int64_t value, const char *unit, struct buffer *text);
    void *context;
    const struct graph *kept; /* only nodes like those of this graph that graph_keep marked; NULL: all */
};

struct graph {
    struct graph_node **nodes; /* in no order until sorted; without those that have no value */
    size_t node_count;
    struct graph_node **all; /* every node that was made; internal */
    size_t all_count, all_room;
    struct map *infos;         /* info (call_tree: and caller) -> node; internal */
    struct graph_edge **edges; /* by source and target; internal */
    size_t edge_count, edge_slots;
    bool overflows; /* a sum of a label's values was beyond 64 bits: a sample may have a label twice */
    struct arena memory;
};

/* `profile` must not change while the graph lives. The sizes of its values must sum up to at most 64 bits (report_check_sums), so
 * that flat, cumulative values and edges do. */
void graph_build(struct graph *graph, struct profile *profile, const struct graph_options *options);
void graph_free(struct graph *graph);
/* The node of a graph that is no tree which looks like that of another graph of the same profile; NULL for none. */
struct graph_node *graph_find(const struct graph *graph, const struct graph_info *info);

/* ---- values: the mean where there is a divisor ---- */
int64_t graph_flat(const struct graph_node *node);
int64_t graph_cum(const struct graph_node *node);
int64_t graph_weight(const struct graph_edge *edge);
int64_t graph_tag_flat(const struct graph_tag *tag);
int64_t graph_tag_cum(const struct graph_tag *tag);

/* What a person sees: address, function, file and line, as far as the granularity has them; "[object]", "<unknown>". */
const char *graph_name(struct graph *graph, struct graph_node *node);
void graph_info_of(struct profile *profile, const struct profile_location *location, const struct profile_line *line,
                   bool object_names, struct graph_info *info); /* `line` NULL: of a location without lines */
/* "a//b", "./a", "a/../b" for short, interned where `path` is; "" stays. */
const char *graph_clean_path(struct profile *profile, const char *path);
const char *graph_info_name(const struct graph_info *info, struct buffer *scratch);

/* ---- order: each is total, so that equal input gives equal output ---- */
enum graph_order {
    GRAPH_FLAT_NAME,
    GRAPH_CUM_NAME,
    GRAPH_NAME,
    GRAPH_FILE,
    GRAPH_ADDRESS,
    GRAPH_ENTROPY,
    GRAPH_FLAT_CUM_NAME
};
void graph_sort(struct graph *graph, enum graph_order order);
/* The edges into (or out of) a node, heaviest first, then by names. free() the array. */
struct graph_edge **graph_sort_edges(struct graph *graph, const struct graph_node *node, bool into, size_t *count);
/* All of the nodes' edges, in the same order. free() the array. */
struct graph_edge **graph_sort_all_edges(struct graph *graph, size_t *count);
/* Heaviest first; `flat` or cumulative. In place. */
void graph_sort_tags(struct graph_tags *tags, bool flat);

/* ---- trimming, as pprof does it ---- */
struct graph_trimming {
    int64_t node_count; /* 0: no limit */
    double node_fraction, edge_fraction;
    bool cum_order, visual; /* visual: by entropy, redundant edges removed */
};
struct graph_trimmed { /* what the header lines say */
    size_t original_count, dropped_nodes, dropped_edges;
};
/* Builds a graph of what is worth showing, sorted. */
void graph_build_trimmed(struct graph *graph, struct profile *profile, const struct graph_options *options,
                         const struct graph_trimming *trimming, struct graph_trimmed *trimmed);

#endif
