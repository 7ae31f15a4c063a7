/* pack.c: the call tree of a report's value as bytes for clear serve, which cuts what a page shows out of them
 * (query/profile/packed/packed_tree.h). With options.inverted the leaf is below the root; with options.pivot the frames that match are, and below
 * them what they call, or, inverted, what calls them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limit.h"
#include "base/origin.h"
#include "export/difference.h"
#include "export/format.h"
#include "query/profile/packed/packed_tree.h"
#include "query/report/frames.h"
#include "query/report/stack_order.h"

struct pack_node {
    uint32_t parent, name, depth;
    uint32_t order; /* its place in the bytes */
    bool is_called; /* not all of its frames were inlined */
    int64_t self[SIDES], total[SIDES], width;
};

struct pack_slot {
    uint32_t parent, name, node; /* node 0: free */
};

struct packer {
    struct report *report;
    struct stack_frames frames;
    struct pack_node *nodes; /* children after their parents */
    struct pack_slot
        *slots; /* of nodes, by parent and name, which are here too: a node is seldom in the processor's cache */
    size_t count, room, slot_count;
    uint32_t depth;
    uint32_t *used;   /* names that nodes have, in the order of their first use */
    uint32_t *places; /* [name]: 1 + index in `used` */
    size_t used_count;
    bool *is_shown; /* [frame]: whether a node has it */
};

/* ---- building ---- */

/* The slot of that node, or the free one where it belongs. */
static struct pack_slot *slot_of(const struct packer *packer, uint32_t parent, uint32_t name) {
    size_t mask = packer->slot_count - 1, at = hash_mix((uint64_t)parent << 32 | name) & mask;
    struct pack_slot *slot = &packer->slots[at];
    while (slot->node && (slot->parent != parent || slot->name != name))
        slot = &packer->slots[at = (at + 1) & mask];
    return slot;
}

static void grow(struct packer *packer) {
    packer->room = packer->room ? 2 * packer->room : 1024;
    packer->slot_count = 2 * packer->room;
    packer->nodes = xrealloc(packer->nodes, packer->room * sizeof *packer->nodes);
    free(packer->slots);
    packer->slots = xcalloc(packer->slot_count, sizeof *packer->slots);
    for (uint32_t i = 1; i < packer->count; i++)
        *slot_of(packer, packer->nodes[i].parent, packer->nodes[i].name) =
            (struct pack_slot){packer->nodes[i].parent, packer->nodes[i].name, i};
}

static uint32_t child_of(struct packer *packer, uint32_t parent, uint32_t name) {
    struct pack_slot *slot = slot_of(packer, parent, name);
    if (slot->node) return slot->node;
    if (packer->count == packer->room) {
        grow(packer);
        slot = slot_of(packer, parent, name);
    }
    struct pack_node *node = &packer->nodes[packer->count];
    *node = (struct pack_node){.parent = parent, .name = name, .depth = packer->nodes[parent].depth + 1};
    if (node->depth > packer->depth) packer->depth = node->depth;
    *slot = (struct pack_slot){parent, name, (uint32_t)packer->count};
    return (uint32_t)packer->count++;
}

/* What the samples of a stack have on each side. */
struct pack_sums {
    int64_t sides[SIDES];
    bool is_used;
};

static void add_stack(struct packer *packer, const struct stack_way *way, const struct pack_sums *sums) {
    size_t node = 0;
    for (size_t i = 0; i < way->count; i++) {
        uint32_t frame = way->items[(ptrdiff_t)i * way->step];
        node = child_of(packer, (uint32_t)node, packer->frames.items[frame].name_id);
        packer->nodes[node].is_called |= !packer->frames.items[frame].is_inlined;
        packer->is_shown[frame] = true;
    }
    for (int side = BEFORE; side < SIDES; side++)
        packer->nodes[node].self[side] += sums->sides[side];
}

/* By stack: most have several samples, which differ in their labels. */
static struct pack_sums *sum_stacks(const struct report *report) {
    const struct profile *profile = report->profile;
    struct pack_sums *sums = xcalloc(profile->stack_count + 1, sizeof *sums);
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct pack_sums *its = &sums[profile->samples[i].stack];
        int64_t value;
        int side = difference_side(profile, i, report->type, &value);
        its->sides[side] += value;
        its->is_used |= value != 0;
    }
    return sums;
}

static int add_stacks(struct packer *packer, struct error *err) {
    const struct profile *profile = packer->report->profile;
    struct stack_order order;
    struct stack_way way;
    struct buffer stack = {0};
    int code = stack_order_open(&order, &packer->frames, &packer->report->options, err);
    struct pack_sums *sums = sum_stacks(packer->report);
    for (uint32_t i = 0; i < profile->stack_count && code == 0; i++) {
        if (!sums[i].is_used) continue;
        size_t count = frames_of_stack(&packer->frames, profile, i, &stack);
        if (!stack_order_find(&order, (const uint32_t *)(const void *)stack.data, count, &way)) continue;
        add_stack(packer, &way, &sums[i]);
        code = limit_check("the call tree", packer->count * sizeof *packer->nodes, err);
    }
    buffer_free(&stack);
    free(sums);
    return stack_order_close(&order, err) ? -1 : code;
}

static int64_t at_least_zero(int64_t value) {
    return value > 0 ? value : 0;
}

/* As in export/call_tree.c. No sum is more than that of the sizes of all samples, which was checked. */
static void sum_up(struct packer *packer) {
    for (size_t i = packer->count; i-- > 0;) {
        struct pack_node *node = &packer->nodes[i], *parent = &packer->nodes[node->parent];
        int64_t before = at_least_zero(node->self[BEFORE]), after = at_least_zero(node->self[AFTER]);
        node->self[BEFORE] = before;
        node->self[AFTER] = after;
        node->total[BEFORE] += before;
        node->total[AFTER] += after;
        node->width += before > after ? before : after;
        if (i == 0) return;
        parent->total[BEFORE] += node->total[BEFORE];
        parent->total[AFTER] += node->total[AFTER];
        parent->width += node->width;
    }
}

/* ---- order ---- */

struct pack_order {
    int64_t width;
    uint32_t node;
    const struct map_entry *name;
};

/* The widest first, then by name. */
static int compare(const void *left, const void *right) {
    const struct pack_order *a = left, *b = right;
    if (a->width != b->width) return a->width > b->width ? -1 : 1;
    size_t size = a->name->size < b->name->size ? a->name->size : b->name->size;
    int order = memcmp(a->name->key, b->name->key, size);
    return order ? order : (a->name->size > b->name->size) - (a->name->size < b->name->size);
}

/* All nodes but the root, those of one parent together; ends[node] is one behind the last child of a node. */
static struct pack_order *group_by_parent(const struct packer *packer, uint32_t *ends) {
    struct pack_order *items = xcalloc(packer->count, sizeof *items);
    for (size_t i = 1; i < packer->count; i++)
        ends[packer->nodes[i].parent + 1]++;
    for (size_t i = 1; i < packer->count; i++)
        ends[i] += ends[i - 1];
    /* ends[node] is where its children begin, and moves behind each that is put there. */
    for (uint32_t i = 1; i < packer->count; i++) {
        const struct pack_node *node = &packer->nodes[i];
        const struct map_entry *name = &packer->frames.names.entries[node->name];
        items[ends[node->parent]++] = (struct pack_order){node->width, i, name};
    }
    return items;
}

/* Level by level: `order` gets the nodes as they will stand. Children are sorted apart from those of other nodes, which are many more. */
static uint32_t *put_in_order(struct packer *packer) {
    uint32_t *order = xcalloc(packer->count, sizeof *order), *ends = xcalloc(packer->count + 1, sizeof *ends);
    struct pack_order *items = group_by_parent(packer, ends);
    size_t done = 1;
    for (size_t at = 0; at < packer->count; at++) {
        uint32_t begin = order[at] ? ends[order[at] - 1] : 0, end = ends[order[at]];
        if (end - begin > 1) qsort(items + begin, end - begin, sizeof *items, compare);
        for (uint32_t i = begin; i < end; i++) {
            packer->nodes[items[i].node].order = (uint32_t)done;
            order[done++] = items[i].node;
        }
    }
    free(items);
    free(ends);
    return order;
}

/* ---- bytes ---- */

static void pad(struct buffer *out) {
    while (out->size % 8)
        buffer_add_char(out, '\0');
}

static void add_values(const struct packer *packer, const uint32_t *order, size_t offset, struct buffer *out) {
    for (size_t i = 0; i < packer->count; i++)
        buffer_add(out, (const char *)&packer->nodes[order[i]] + offset, sizeof(int64_t));
}

static void add_ids(const struct packer *packer, const uint32_t *order, struct buffer *out) {
    const struct map *names = &packer->frames.names;
    uint64_t *ids = xcalloc(packer->count, sizeof *ids);
    ids[0] = PACKED_TREE_ROOT;
    for (size_t i = 1; i < packer->count; i++) {
        const struct pack_node *node = &packer->nodes[order[i]];
        const struct map_entry *name = &names->entries[node->name];
        ids[i] = packed_tree_id(ids[packer->nodes[node->parent].order], name->key, name->size);
    }
    buffer_add(out, ids, packer->count * sizeof *ids);
    free(ids);
}

static void add_links(const struct packer *packer, const uint32_t *order, struct buffer *out) {
    uint32_t *firsts = xcalloc(packer->count + 1, sizeof *firsts);
    for (size_t i = 0; i < packer->count; i++)
        buffer_add(out, &packer->nodes[packer->nodes[order[i]].parent].order, sizeof(uint32_t));
    pad(out);
    /* Children stand in the order of their parents. */
    for (size_t node = 0, child = 1; node < packer->count; node++) {
        firsts[node] = (uint32_t)child;
        while (child < packer->count && packer->nodes[packer->nodes[order[child]].parent].order == node)
            child++;
    }
    buffer_add(out, firsts, packer->count * sizeof *firsts);
    pad(out);
    for (size_t i = 0; i < packer->count; i++) {
        const struct pack_node *node = &packer->nodes[order[i]];
        uint32_t name = (packer->places[node->name] - 1) | (i && !node->is_called ? PACKED_TREE_INLINED : 0);
        buffer_add(out, &name, sizeof name);
    }
    pad(out);
    free(firsts);
}

/* What no node has stands in no byte: the same samples give the same bytes. */
static void find_used(struct packer *packer, const uint32_t *order) {
    packer->used = xcalloc(packer->frames.names.count, sizeof *packer->used);
    packer->places = xcalloc(packer->frames.names.count, sizeof *packer->places);
    for (size_t i = 0; i < packer->count; i++) {
        uint32_t name = packer->nodes[order[i]].name;
        if (packer->places[name]) continue;
        packer->used[packer->used_count++] = name;
        packer->places[name] = (uint32_t)packer->used_count;
    }
}

static void add_place(const struct stack_frame *frame, struct buffer *text) {
    buffer_add_text(text, *frame->file ? frame->file : frame->module);
    if (*frame->file && frame->line > 0) buffer_printf(text, ":%lld", (long long)frame->line);
}

/* By place; the order in which frames were read does not show. */
static bool is_before(const struct stack_frame *a, const struct stack_frame *b) {
    int order = strcmp(a->file, b->file);
    if (order == 0) order = strcmp(a->module, b->module);
    return order < 0 || (order == 0 && a->line < b->line);
}

/* What is said of the names that nodes have, and the modules that these are in. */
struct pack_texts {
    struct buffer names, name_ends, places, place_ends, origins, modules;
    struct buffer
        module_list; /* JSON texts; the first is "", where it is not known or there are more than MODULES_MAX */
    struct map module_index;
};

enum { MODULES_MAX = 1000 };

static void add_module(struct pack_texts *texts, const char *module) {
    bool added = false;
    struct map_entry *entry = texts->module_index.count < MODULES_MAX
                                  ? map_put(&texts->module_index, module, strlen(module), &added)
                                  : map_find(&texts->module_index, module, strlen(module));
    if (added) {
        entry->value = (int64_t)texts->module_index.count - 1;
        if (texts->module_list.size) buffer_add_char(&texts->module_list, ',');
        buffer_add_json_string(&texts->module_list, module, strlen(module));
    }
    uint32_t index = entry ? (uint32_t)entry->value : 0;
    buffer_add(&texts->modules, &index, sizeof index);
}

static void add_origin(struct pack_texts *texts, const struct profile *profile, const struct stack_frame *frame) {
    bool is_main = profile->mapping_count && *frame->module && frame->module == profile->mappings[0].file;
    uint32_t origin = origin_of(&(struct origin_of_frame){frame->module, frame->file, frame->name, is_main});
    buffer_add(&texts->origins, &origin, sizeof origin);
    add_module(texts, frame->module);
}

/* Of each name, the frame whose place is shown, from 1. */
static size_t *first_frames(const struct packer *packer) {
    const struct stack_frames *frames = &packer->frames;
    size_t *firsts = xcalloc(frames->names.count, sizeof *firsts);
    for (size_t i = 0; i < frames->count; i++) {
        if (!packer->is_shown[i]) continue; /* of samples without the value, which are not always loaded */
        size_t *first = &firsts[frames->items[i].name_id];
        if (!*first || is_before(&frames->items[i], &frames->items[*first - 1])) *first = i + 1;
    }
    return firsts;
}

/* The root is no frame and has no place, unless a function has its name. */
static void make_texts(const struct packer *packer, struct pack_texts *texts) {
    static const struct stack_frame nothing = {.name = "", .file = "", .module = ""};
    const struct stack_frames *frames = &packer->frames;
    size_t *firsts = first_frames(packer);
    *texts = (struct pack_texts){0};
    add_module(texts, "");
    buffer_clear(&texts->modules);
    for (size_t i = 0; i < packer->used_count; i++) {
        const struct map_entry *name = &frames->names.entries[packer->used[i]];
        size_t first = firsts[packer->used[i]];
        uint64_t end;
        buffer_add(&texts->names, name->key, name->size);
        if (first) add_place(&frames->items[first - 1], &texts->places);
        add_origin(texts, packer->report->profile, first ? &frames->items[first - 1] : &nothing);
        end = texts->names.size;
        buffer_add(&texts->name_ends, &end, sizeof end);
        end = texts->places.size;
        buffer_add(&texts->place_ends, &end, sizeof end);
    }
    free(firsts);
}

static void make_about(const struct packer *packer, bool has_base, const struct pack_texts *texts,
                       struct buffer *about) {
    const struct report *report = packer->report;
    buffer_add_json_field(about, "type", report->type_name);
    buffer_add_char(about, ',');
    buffer_add_json_field(about, "unit", report->sample_unit);
    buffer_add_text(about, ",\"types\":[");
    for (size_t i = 0; i < report->profile->type_count; i++) {
        buffer_add_text(about, i ? ",{" : "{");
        buffer_add_json_field(about, "type", report->profile->types[i].type);
        buffer_add_char(about, ',');
        buffer_add_json_field(about, "unit", report->profile->types[i].unit);
        buffer_add_char(about, '}');
    }
    buffer_add_text(about, "],");
    buffer_add_json_field(about, "title", report->options.title);
    buffer_add_char(about, ',');
    buffer_add_json_field(about, "base_title", report->options.base_title ? report->options.base_title : "");
    buffer_printf(about, ",\"total\":%lld,\"base_total\":%lld,\"of\":%lld,\"is_diff\":%s",
                  (long long)packer->nodes[0].total[AFTER], (long long)packer->nodes[0].total[BEFORE],
                  (long long)report->total, has_base ? "true" : "false");
    buffer_printf(about, ",\"modules\":[%s]", buffer_text(&texts->module_list));
}

static void write_bytes(struct packer *packer, struct buffer *out) {
    struct pack_texts texts;
    struct buffer about = {0};
    bool has_base = difference_has_base(packer->report->profile) || packer->nodes[0].total[BEFORE] != 0;
    uint32_t *order = put_in_order(packer);
    find_used(packer, order);
    make_texts(packer, &texts);
    make_about(packer, has_base, &texts, &about);
    struct packed_tree_head head = {PACKED_TREE_MAGIC, packer->count, packer->used_count, texts.names.size,
                                    texts.places.size, about.size,    packer->depth,      has_base};
    buffer_reserve(out, packed_tree_size(&head));
    buffer_add(out, &head, sizeof head);
    pad(out);
    add_ids(packer, order, out);
    add_values(packer, order, offsetof(struct pack_node, total[AFTER]), out);
    add_values(packer, order, offsetof(struct pack_node, self[AFTER]), out);
    if (has_base) {
        add_values(packer, order, offsetof(struct pack_node, total[BEFORE]), out);
        add_values(packer, order, offsetof(struct pack_node, self[BEFORE]), out);
        add_values(packer, order, offsetof(struct pack_node, width), out);
    }
    add_links(packer, order, out);
    struct buffer *const parts[] = {&texts.name_ends, &texts.place_ends, &texts.origins, &texts.modules,
                                    &texts.names,     &texts.places,     &about};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buffer_add(out, buffer_text(parts[i]), parts[i]->size);
        pad(out);
        buffer_free(parts[i]);
    }
    buffer_free(&texts.module_list);
    map_free(&texts.module_index);
    free(order);
}

/* ---- the format ---- */

static int make(struct packer *packer, struct buffer *out, struct error *err) {
    bool added;
    frames_make(&packer->frames, packer->report);
    struct map_entry *root = map_put(&packer->frames.names, "root", strlen("root"), &added);
    if (added) root->value = (int64_t)packer->frames.names.count - 1;
    packer->is_shown = xcalloc(packer->frames.count, sizeof *packer->is_shown);
    grow(packer);
    packer->nodes[0] = (struct pack_node){.name = (uint32_t)root->value};
    packer->count = 1;
    int code = add_stacks(packer, err);
    if (code == 0) {
        sum_up(packer);
        write_bytes(packer, out);
    }
    frames_free(&packer->frames);
    free(packer->nodes);
    free(packer->slots);
    free(packer->is_shown);
    free(packer->used);
    free(packer->places);
    return code;
}

int pack_write(struct report *report, struct buffer *out, struct error *err) {
    struct packer packer = {.report = report};
    return make(&packer, out, err);
}
