/* tree.h: the call tree of a profile's chosen value: what flame graphs and folded stacks are drawn from. */
#ifndef CLEAR_EXPORT_TREE_H
#define CLEAR_EXPORT_TREE_H

#include "export/model.h"

enum { BEFORE, AFTER }; /* what is marked pprof::base or is negative; the rest. Both are kept as positive numbers. */

/* A node is a function name below its parent. Children come after their parents in the array. */
struct tree_node {
    uint32_t parent;
    uint32_t frame;                     /* the first of that name that was seen there: index into model->frames */
    uint32_t depth;                     /* 0 is the root */
    uint32_t first_child, next_sibling; /* 0 for none; siblings are sorted by name */
    int64_t self[2];
    int64_t total[2]; /* with all below */
    int64_t width;    /* with all below, max(before, after) of each node: what vanished keeps a place of its own */
};

struct tree {
    struct tree_node *nodes; /* [0] is the root, which is no frame */
    size_t count, capacity;
    uint32_t depth; /* of the deepest node */
    struct map children;
};

/* A sum beyond 2^63 - 1 is a failure. */
int tree_build(struct tree *tree, const struct model *model, struct error *err);
void tree_free(struct tree *tree);

#endif
