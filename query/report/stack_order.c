#include "query/report/stack_order.h"

#include <stdlib.h>

#include "query/profile/pattern.h"

int stack_order_open(struct stack_order *order, const struct stack_frames *frames, const struct report_options *options,
                     struct error *err) {
    *order = (struct stack_order){.frames = frames, .inverted = options->inverted};
    if (!options->pivot || !*options->pivot) return 0;
    order->pivot = pattern_compile("--pivot", options->pivot, err);
    order->meets = xcalloc(frames->names.count + 1, 1);
    return order->pivot ? 0 : -1;
}

int stack_order_close(struct stack_order *order, struct error *err) {
    int code = pattern_check(order->pivot, err);
    pattern_free(order->pivot);
    free(order->meets);
    return code;
}

static bool is_pivot(struct stack_order *order, uint32_t frame) {
    const struct stack_frame *item = &order->frames->items[frame];
    signed char *meets = &order->meets[item->name_id];
    if (!*meets) *meets = pattern_matches(order->pivot, item->name) ? 1 : -1;
    return *meets > 0;
}

/* The frames from the root on are stack[count - 1] to stack[0]. */
bool stack_order_find(struct stack_order *order, const uint32_t *stack, size_t count, struct stack_way *way) {
    size_t from = count;
    while (order->pivot && from > 0 && !is_pivot(order, stack[from - 1]))
        from--;
    if (order->pivot && from == 0) return false;
    size_t first = order->inverted && order->pivot ? from - 1 : 0, end = order->inverted ? count : from;
    *way = (struct stack_way){.items = stack, .count = end - first, .step = order->inverted ? 1 : -1};
    if (way->count) way->items += order->inverted ? first : end - 1;
    return true;
}
