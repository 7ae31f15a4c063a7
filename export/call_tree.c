#include "export/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* The child of that name, made where it is new. */
static uint32_t child_of(struct call_tree *tree, uint32_t parent, uint32_t frame) {
    const uint32_t key[] = {parent, tree->frames.items[frame].name_id};
    bool added;
    struct map_entry *entry = map_put(&tree->children, key, sizeof key, &added);
    if (!added) return (uint32_t)entry->value;
    if (tree->count == tree->capacity) {
        tree->capacity *= 2;
        tree->nodes = xrealloc(tree->nodes, tree->capacity * sizeof *tree->nodes);
    }
    uint32_t depth = tree->nodes[parent].depth + 1;
    tree->nodes[tree->count] = (struct tree_node){.parent = parent, .frame = frame, .depth = depth};
    if (depth > tree->depth) tree->depth = depth;
    entry->value = (int64_t)tree->count;
    return (uint32_t)tree->count++;
}

static int add_sample(struct call_tree *tree, const struct report *report, size_t sample, struct buffer *stack,
                      struct error *err) {
    const struct profile *profile = report->profile;
    if (profile_value(profile, sample, report->type) == 0) return 0;
    size_t count = frames_of_stack(&tree->frames, profile, profile->samples[sample].stack, stack);
    const uint32_t *frames = (const uint32_t *)(void *)stack->data;
    uint32_t node = 0;
    while (count-- > 0)
        node = child_of(tree, node, frames[count]);
    for (int side = BEFORE; side < SIDES; side++)
        tree->nodes[node].self[side] += difference_value(profile, sample, report->type, side);
    return limit_check("the call tree", tree->count * sizeof *tree->nodes, err);
}

static int64_t at_least_zero(int64_t value) {
    return value > 0 ? value : 0;
}

/* No sum is more than that of the sizes of all samples, which was checked. */
static void sum_up(struct call_tree *tree) {
    for (size_t i = tree->count; i-- > 0;) {
        struct tree_node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
        int64_t before = at_least_zero(node->self[BEFORE]), after = at_least_zero(node->self[AFTER]);
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

struct sibling {
    const char *name;
    uint32_t parent, node;
};

static int compare_siblings(const void *left, const void *right) {
    const struct sibling *a = left, *b = right;
    if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void link_children(struct call_tree *tree) {
    struct sibling *siblings = xcalloc(tree->count, sizeof *siblings);
    for (uint32_t i = 1; i < tree->count; i++)
        siblings[i - 1] = (struct sibling){tree->frames.items[tree->nodes[i].frame].name, tree->nodes[i].parent, i};
    qsort(siblings, tree->count - 1, sizeof *siblings, compare_siblings);
    for (size_t i = tree->count - 1; i-- > 0;) { /* from the last, so that each goes before those after it */
        struct tree_node *parent = &tree->nodes[siblings[i].parent];
        tree->nodes[siblings[i].node].next_sibling = parent->first_child;
        parent->first_child = siblings[i].node;
    }
    free(siblings);
}

int tree_build(struct call_tree *tree, struct report *report, struct error *err) {
    enum { FIRST_NODES = 256 };
    struct buffer stack = {0};
    *tree = (struct call_tree){.nodes = xcalloc(FIRST_NODES, sizeof *tree->nodes), .count = 1, .capacity = FIRST_NODES};
    frames_make(&tree->frames, report);
    int code = 0;
    for (size_t i = 0; i < report->profile->sample_count && code == 0; i++)
        code = add_sample(tree, report, i, &stack, err);
    buffer_free(&stack);
    if (code) {
        tree_free(tree);
        return -1;
    }
    sum_up(tree);
    link_children(tree);
    return 0;
}

void tree_free(struct call_tree *tree) {
    free(tree->nodes);
    map_free(&tree->children);
    frames_free(&tree->frames);
}
