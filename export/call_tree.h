/* call_tree.h: the call tree of a report's value: what flame graphs and folded stacks are drawn from. */
#ifndef CLEAR_EXPORT_CALL_TREE_H
#define CLEAR_EXPORT_CALL_TREE_H

#include "export/difference.h"
#include "query/report/frames.h"

/* A node is a name below its parent. Children come after their parents in the array. */
struct tree_node {
    uint32_t parent;
    uint32_t frame;                     /* the first of that name that was seen there: index into frames.items */
    uint32_t depth;                     /* 0 is the root */
    uint32_t first_child, next_sibling; /* 0 for none; siblings are sorted by name */
    int64_t self[SIDES];
    int64_t total[SIDES]; /* with all below */
    int64_t width;        /* with all below, max(before, after) of each node: what vanished keeps a place of its own */
};

struct call_tree {
    struct tree_node *nodes; /* [0] is the root, which is no frame */
    size_t count, capacity;
    uint32_t depth; /* of the deepest node */
    struct map children;
    struct stack_frames frames;
};

/* tree_free it. The report's profile must not change as long as it is used. A failure where it would take more than --limit; then there
 * is nothing to free. */
int tree_build(struct call_tree *tree, struct report *report, struct error *err);
void tree_free(struct call_tree *tree);

#endif
