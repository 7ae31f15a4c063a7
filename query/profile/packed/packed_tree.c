#include "query/profile/packed/packed_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/origin.h"

/* ---- the arrays ---- */

/* Gives out parts of the bytes; a part that does not fit is NULL, and so are all after it. */
struct parts {
    const char *bytes;
    uint64_t size, at;
    bool is_short;
};

static const void *take(struct parts *parts, uint64_t count, uint64_t item) {
    uint64_t size = (count * item + 7) & ~UINT64_C(7);
    if (parts->is_short || count > UINT32_MAX * UINT64_C(64) || size > parts->size - parts->at) {
        parts->is_short = true;
        return NULL;
    }
    const void *part = parts->bytes ? parts->bytes + parts->at : NULL;
    parts->at += size;
    return part;
}

static void take_all(struct packed_tree *tree, struct parts *parts) {
    const struct packed_tree_head *head = &tree->head;
    uint64_t nodes = head->node_count, base_nodes = head->has_base ? nodes : 0;
    take(parts, 1, sizeof *head);
    tree->ids = take(parts, nodes, sizeof *tree->ids);
    tree->totals = take(parts, nodes, sizeof *tree->totals);
    tree->selves = take(parts, nodes, sizeof *tree->selves);
    tree->base_totals = take(parts, base_nodes, sizeof *tree->base_totals);
    tree->base_selves = take(parts, base_nodes, sizeof *tree->base_selves);
    tree->widths = take(parts, base_nodes, sizeof *tree->widths);
    if (!head->has_base) {
        tree->base_totals = tree->base_selves = NULL;
        tree->widths = tree->totals;
    }
    tree->parents = take(parts, nodes, sizeof *tree->parents);
    tree->firsts = take(parts, nodes, sizeof *tree->firsts);
    tree->names = take(parts, nodes, sizeof *tree->names);
    tree->name_ends = take(parts, head->name_count, sizeof *tree->name_ends);
    tree->place_ends = take(parts, head->name_count, sizeof *tree->place_ends);
    tree->origins = take(parts, head->name_count, sizeof *tree->origins);
    tree->modules = take(parts, head->name_count, sizeof *tree->modules);
    tree->name_text = take(parts, head->name_bytes, 1);
    tree->place_text = take(parts, head->place_bytes, 1);
    tree->about = take(parts, head->about_bytes, 1);
}

size_t packed_tree_size(const struct packed_tree_head *head) {
    struct packed_tree tree = {.head = *head};
    struct parts parts = {.size = SIZE_MAX / 2};
    take_all(&tree, &parts);
    return parts.is_short ? SIZE_MAX : parts.at;
}

int packed_tree_open(struct packed_tree *tree, const void *bytes, size_t size, struct error *err) {
    struct parts parts = {.bytes = bytes, .size = size};
    *tree = (struct packed_tree){0};
    if (size >= sizeof tree->head) memcpy(&tree->head, bytes, sizeof tree->head);
    if (memcmp(tree->head.magic, PACKED_TREE_MAGIC, sizeof tree->head.magic) != 0 || tree->head.node_count == 0 ||
        tree->head.node_count > UINT32_MAX || tree->head.name_count == 0 ||
        tree->head.name_count >= PACKED_TREE_INLINED)
        return error_fail(err, "the call tree is broken");
    take_all(tree, &parts);
    return parts.is_short ? error_fail(err, "the call tree is cut off") : 0;
}

/* A number of JavaScript is exact up to 2^53. */
uint64_t packed_tree_id(uint64_t parent, const char *name, size_t size) {
    return hash_combine(parent, hash_bytes(name, size)) & ((UINT64_C(1) << 53) - 1);
}

/* ---- cutting ---- */

struct shown_node {
    uint32_t node, parent; /* of the tree; of those that are shown */
    uint32_t hidden_count;
    int64_t hidden_value;
};

struct cutter {
    const struct packed_tree *tree;
    struct shown_node *shown; /* PACKED_TREE_NODES_MAX */
    size_t count;
    int64_t least;                                 /* width of a node that is shown */
    uint32_t *name_index;                          /* [name]: 1 + index in the answer */
    struct buffer names, places, origins, modules; /* items of the lists of the answer */
    uint32_t name_count;
};

uint32_t packed_tree_children_end(const struct packed_tree *tree, uint32_t node) {
    return node + 1 < tree->head.node_count ? tree->firsts[node + 1] : (uint32_t)tree->head.node_count;
}

/* False where there are too many, or the tree is broken. */
static bool add_children(struct cutter *cutter, uint32_t at) {
    const struct packed_tree *tree = cutter->tree;
    uint32_t node = cutter->shown[at].node, child = tree->firsts[node], end = packed_tree_children_end(tree, node);
    if (child > end || end > tree->head.node_count || (child < end && child <= node)) return false;
    for (; child < end && tree->widths[child] >= cutter->least; child++) {
        if (cutter->count == PACKED_TREE_NODES_MAX) return false;
        cutter->shown[cutter->count++] = (struct shown_node){.node = child, .parent = at};
    }
    cutter->shown[at].hidden_count = end - child;
    for (; child < end; child++) {
        uint64_t sum = (uint64_t)cutter->shown[at].hidden_value + (uint64_t)tree->widths[child];
        cutter->shown[at].hidden_value = (int64_t)sum;
    }
    return true;
}

static bool choose(struct cutter *cutter, uint32_t root) {
    cutter->shown[0] = (struct shown_node){.node = root};
    cutter->count = 1;
    for (uint32_t at = 0; at < cutter->count; at++)
        if (!add_children(cutter, at)) return false;
    return true;
}

/* ---- JSON ---- */

static void add_text(struct buffer *out, const char *text, uint64_t size, const uint64_t *ends, uint32_t index) {
    uint64_t begin = index ? ends[index - 1] : 0, end = ends[index];
    bool is_right = begin <= end && end <= size;
    buffer_add_json_string(out, is_right ? text + begin : "", is_right ? (size_t)(end - begin) : 0);
}

uint32_t packed_tree_name(const struct packed_tree *tree, uint32_t node) {
    uint32_t name = tree->names[node] & ~PACKED_TREE_INLINED;
    return name < tree->head.name_count ? name : 0;
}

static const char *origin_name(uint32_t origin) {
    return origin_names[origin < ORIGINS ? origin : ORIGIN_UNKNOWN];
}

/* The index of a name in the answer. */
static uint32_t name_of(struct cutter *cutter, uint32_t node) {
    const struct packed_tree *tree = cutter->tree;
    uint32_t name = packed_tree_name(tree, node);
    if (!cutter->name_index[name]) {
        const char *comma = cutter->name_count ? "," : "";
        buffer_add_text(&cutter->names, comma);
        buffer_add_text(&cutter->places, comma);
        buffer_printf(&cutter->origins, "%s\"%s\"", comma, origin_name(tree->origins[name]));
        buffer_printf(&cutter->modules, "%s%" PRIu32, comma, tree->modules[name]);
        add_text(&cutter->names, tree->name_text, tree->head.name_bytes, tree->name_ends, name);
        add_text(&cutter->places, tree->place_text, tree->head.place_bytes, tree->place_ends, name);
        cutter->name_index[name] = ++cutter->name_count;
    }
    return cutter->name_index[name] - 1;
}

enum column { ID, PARENT, NAME, VALUE, SELF, BASE, BASE_SELF, HIDDEN_COUNT, HIDDEN_VALUE, INLINED, COLUMNS };
static const char *const column_names[COLUMNS] = {"id",   "parent",    "name",         "value",        "self",
                                                  "base", "base_self", "hidden_count", "hidden_value", "inlined"};

static int64_t value_of(struct cutter *cutter, const struct shown_node *shown, enum column column) {
    const struct packed_tree *tree = cutter->tree;
    switch (column) {
    case ID: return (int64_t)tree->ids[shown->node];
    case PARENT: return shown->parent;
    case NAME: return name_of(cutter, shown->node);
    case VALUE: return tree->totals[shown->node];
    case SELF: return tree->selves[shown->node];
    case BASE: return tree->base_totals[shown->node];
    case BASE_SELF: return tree->base_selves[shown->node];
    case INLINED: return (tree->names[shown->node] & PACKED_TREE_INLINED) != 0;
    case HIDDEN_COUNT: return shown->hidden_count;
    default: return shown->hidden_value;
    }
}

static void add_columns(struct cutter *cutter, struct buffer *out) {
    buffer_add_text(out, "\"nodes\":{");
    for (enum column column = 0; column < COLUMNS; column++) {
        if ((column == BASE || column == BASE_SELF) && !cutter->tree->base_totals) continue;
        buffer_printf(out, "%s\"%s\":[", column ? ",\n" : "", column_names[column]);
        for (size_t i = 0; i < cutter->count; i++)
            buffer_printf(out, "%s%" PRId64, i ? "," : "", value_of(cutter, &cutter->shown[i], column));
        buffer_add_char(out, ']');
    }
    buffer_add_char(out, '}');
}

static void add_path(struct cutter *cutter, uint32_t root, struct buffer *out) {
    const struct packed_tree *tree = cutter->tree;
    uint32_t path[4096];
    size_t depth = 0;
    for (uint32_t at = root; at && tree->parents[at] < at && depth < sizeof path / sizeof *path;)
        path[depth++] = at = tree->parents[at];
    buffer_add_text(out, "\"path\":[");
    for (size_t i = depth; i-- > 0;) {
        uint32_t node = path[i];
        buffer_printf(out, "%s{\"id\":%" PRIu64 ",\"name\":", i + 1 < depth ? "," : "", tree->ids[node]);
        uint32_t name = packed_tree_name(tree, node);
        add_text(out, tree->name_text, tree->head.name_bytes, tree->name_ends, name);
        buffer_printf(out, ",\"value\":%" PRId64 ",\"self\":%" PRId64, tree->totals[node], tree->selves[node]);
        if (tree->base_totals) buffer_printf(out, ",\"base\":%" PRId64, tree->base_totals[node]);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
}

static void add_answer(struct cutter *cutter, uint32_t root, struct buffer *out) {
    const struct packed_tree *tree = cutter->tree;
    struct buffer columns = {0};
    struct buffer *const lists[] = {&cutter->names, &cutter->places, &cutter->origins, &cutter->modules};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        buffer_clear(lists[i]);
    cutter->name_count = 0;
    memset(cutter->name_index, 0, tree->head.name_count * sizeof *cutter->name_index);
    add_columns(cutter, &columns);
    buffer_add_char(out, '{');
    buffer_add(out, tree->about, tree->head.about_bytes);
    buffer_printf(out,
                  ",\"nodes_in_all\":%" PRIu64 ",\"depth\":%" PRIu32 ",\"min\":%" PRId64 ",\"root\":%" PRIu64 ",\n",
                  tree->head.node_count, tree->head.depth, cutter->least, tree->ids[root]);
    add_path(cutter, root, out);
    buffer_printf(out, "\"names\":[%s],\n\"places\":[%s],\n", buffer_text(&cutter->names),
                  buffer_text(&cutter->places));
    buffer_printf(out, "\"origins\":[%s],\n\"module\":[%s],\n", buffer_text(&cutter->origins),
                  buffer_text(&cutter->modules));
    buffer_add(out, columns.data, columns.size);
    buffer_add_text(out, "}\n");
    buffer_free(&columns);
}

bool packed_tree_find(const struct packed_tree *tree, uint64_t id, uint32_t *node) {
    for (uint64_t i = 0; i < tree->head.node_count; i++) {
        if (tree->ids[i] != id) continue;
        *node = (uint32_t)i;
        return true;
    }
    return false;
}

static int cut(struct cutter *cutter, uint32_t root, int64_t width, struct buffer *out, struct error *err) {
    const struct packed_tree *tree = cutter->tree;
    size_t before = out->size;
    cutter->least = tree->widths[root] / (2 * width);
    if (cutter->least < 1) cutter->least = 1;
    for (; cutter->least < INT64_MAX / 2; cutter->least *= 2) {
        if (!choose(cutter, root)) continue;
        add_answer(cutter, root, out);
        if (out->size - before <= PACKED_TREE_BYTES_MAX || cutter->count == 1) return 0;
        out->size = before;
    }
    return error_fail(err, "the call tree is broken");
}

int packed_tree_cut(const struct packed_tree *tree, uint64_t root, int64_t width, struct buffer *out,
                    struct error *err) {
    struct cutter cutter = {.tree = tree};
    uint32_t at;
    if (!packed_tree_find(tree, root, &at)) return error_usage(err, "the tree has no node %" PRIu64, root);
    cutter.shown = xcalloc(PACKED_TREE_NODES_MAX, sizeof *cutter.shown);
    cutter.name_index = xcalloc(tree->head.name_count + 1, sizeof *cutter.name_index);
    int code = cut(&cutter, at, width, out, err);
    free(cutter.shown);
    free(cutter.name_index);
    buffer_free(&cutter.names);
    buffer_free(&cutter.places);
    buffer_free(&cutter.origins);
    buffer_free(&cutter.modules);
    return code;
}
