/* stack_order.h: how a stack goes down a call tree: from the root; with options.inverted from the leaf; with options.pivot from its outermost
 * frame whose name matches to the leaf, or, inverted, to the root. */
#ifndef CLEAR_QUERY_REPORT_STACK_ORDER_H
#define CLEAR_QUERY_REPORT_STACK_ORDER_H

#include "query/report/frames.h"

struct pattern;

struct stack_order {
    const struct stack_frames *frames;
    struct pattern *pivot; /* NULL: none */
    bool inverted;
    signed char *meets; /* [name]: whether the pivot meets it; 0: not asked yet */
};

/* The i-th frame below the root of the tree is items[i * step]. */
struct stack_way {
    const uint32_t *items;
    size_t count;
    ptrdiff_t step; /* 1 or -1 */
};

/* The frames must not change as long as it is used. stack_order_close it, also after a failure: a pivot that is no pattern. */
int stack_order_open(struct stack_order *order, const struct stack_frames *frames, const struct report_options *options,
                     struct error *err);
/* A failure where the pivot's pattern gave up on a name. */
int stack_order_close(struct stack_order *order, struct error *err);

/* The way of a stack as frames_of_stack gives it. False: the tree does not have it, as no frame matches the pivot. */
bool stack_order_find(struct stack_order *order, const uint32_t *stack, size_t count, struct stack_way *way);

#endif
