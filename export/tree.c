#include "export/tree.h"

#include <stdlib.h>
#include <string.h>

/* The child of that name, made where it is new. */
static uint32_t child_of(struct tree *tree, const struct model *model, uint32_t parent, uint32_t frame) {
    struct {
        uint32_t parent, name;
    } key = {parent, model->frames[frame].name_id};
    bool added;
    struct map_entry *entry = map_put(&tree->children, &key, sizeof key, &added);
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

static int add_sample(struct tree *tree, const struct model *model, const model_sample *sample, struct buffer *stack,
                      struct error *err) {
    int64_t value = sample->value[model->type];
    if (value == 0) return 0;
    size_t count = model_stack(model, sample, stack);
    const uint32_t *frames = (const uint32_t *)(void *)stack->data;
    uint32_t node = 0;
    while (count-- > 0)
        node = child_of(tree, model, node, frames[count]);
    bool base = model->has_base && model_is_base(model, sample);
    /* A base is negated already; one that was negative itself takes away from what was before. */
    int64_t *self = &tree->nodes[node].self[base || value < 0 ? BEFORE : AFTER];
    if (__builtin_add_overflow(*self, base || value < 0 ? -value : value, self))
        return error_fail(err, "%s: the sum is larger than 2^63 - 1", model_type_name(model, model->type));
    return 0;
}

static int64_t at_least_zero(int64_t value) {
    return value > 0 ? value : 0;
}

static int sum_up(struct tree *tree, struct error *err) {
    for (size_t i = tree->count; i-- > 0;) {
        struct tree_node *node = &tree->nodes[i];
        int64_t before = at_least_zero(node->self[BEFORE]), after = at_least_zero(node->self[AFTER]);
        bool full = __builtin_add_overflow(node->total[BEFORE], before, &node->total[BEFORE]);
        full |= __builtin_add_overflow(node->total[AFTER], after, &node->total[AFTER]);
        full |= __builtin_add_overflow(node->width, before > after ? before : after, &node->width);
        if (i == 0) return full ? error_fail(err, "the values sum up to more than 2^63 - 1") : 0;
        struct tree_node *parent = &tree->nodes[node->parent];
        for (int side = BEFORE; side <= AFTER; side++)
            full |= __builtin_add_overflow(parent->total[side], node->total[side], &parent->total[side]);
        full |= __builtin_add_overflow(parent->width, node->width, &parent->width);
        if (full) return error_fail(err, "the values sum up to more than 2^63 - 1");
    }
    return 0;
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

static void link_children(struct tree *tree, const struct model *model) {
    struct sibling *siblings = xcalloc(tree->count, sizeof *siblings);
    for (uint32_t i = 1; i < tree->count; i++)
        siblings[i - 1] = (struct sibling){model->frames[tree->nodes[i].frame].name, tree->nodes[i].parent, i};
    qsort(siblings, tree->count - 1, sizeof *siblings, compare_siblings);
    for (size_t i = tree->count - 1; i-- > 0;) { /* from the last, so that each goes before those after it */
        struct tree_node *parent = &tree->nodes[siblings[i].parent];
        tree->nodes[siblings[i].node].next_sibling = parent->first_child;
        parent->first_child = siblings[i].node;
    }
    free(siblings);
}

int tree_build(struct tree *tree, const struct model *model, struct error *err) {
    struct buffer stack = {0};
    *tree = (struct tree){.nodes = xcalloc(256, sizeof *tree->nodes), .count = 1, .capacity = 256};
    int code = 0;
    for (size_t i = 0; code == 0 && i < model->profile->n_sample; i++)
        code = add_sample(tree, model, model->profile->sample[i], &stack, err);
    buffer_free(&stack);
    if (code == 0) code = sum_up(tree, err);
    if (code == 0) link_children(tree, model);
    return code;
}

void tree_free(struct tree *tree) {
    free(tree->nodes);
    map_free(&tree->children);
    *tree = (struct tree){0};
}
