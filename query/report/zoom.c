#include "query/report/zoom.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/profile/packed/packed_tree.h"
#include "query/report/stack_order.h"

struct step {
    uint64_t id;
    uint32_t name;
};

/* The nodes that one stack goes through, from the root down. */
struct zoom {
    struct stack_frames frames;
    struct stack_order order;
    bool by_names; /* ids are of names as folded stacks have them */
    uint64_t wanted;
    struct step *steps;
    size_t count, room;
    uint32_t *places; /* of fold, [name]: 1 + its step; 0: not on the way */
    struct buffer name;
};

/* The id of "main;parse". */
static uint64_t id_of_names(const char *path) {
    uint64_t id = PACKED_TREE_ROOT;
    for (const char *at = path;; at++) {
        size_t size = strcspn(at, ";");
        id = packed_tree_id(id, at, size);
        at += size;
        if (!*at) return id;
    }
}

static void read_root(struct zoom *zoom, const char *root) {
    zoom->by_names = root[strspn(root, "0123456789")] != '\0';
    zoom->wanted = zoom->by_names ? id_of_names(root) : strtoull(root, NULL, 10);
}

static uint64_t id_below(struct zoom *zoom, uint64_t parent, const char *name) {
    if (!zoom->by_names) return packed_tree_id(parent, name, strlen(name));
    buffer_clear(&zoom->name);
    frames_add_name(&zoom->name, name);
    return packed_tree_id(parent, buffer_text(&zoom->name), zoom->name.size);
}

/* One step down; with fold, to a function that is on the way already back up to it. */
static void step_to(struct zoom *zoom, const struct stack_frame *frame) {
    uint32_t *place = zoom->places ? &zoom->places[frame->name_id] : NULL;
    if (place && *place) {
        while (zoom->count > *place)
            zoom->places[zoom->steps[--zoom->count].name] = 0;
        return;
    }
    uint64_t above = zoom->count ? zoom->steps[zoom->count - 1].id : PACKED_TREE_ROOT;
    if (zoom->count == zoom->room) {
        zoom->room = zoom->room ? 2 * zoom->room : 256;
        zoom->steps = xrealloc(zoom->steps, zoom->room * sizeof *zoom->steps);
    }
    zoom->steps[zoom->count++] = (struct step){id_below(zoom, above, frame->name), frame->name_id};
    if (place) *place = (uint32_t)zoom->count;
}

static void clear_steps(struct zoom *zoom) {
    for (; zoom->count; zoom->count--)
        if (zoom->places) zoom->places[zoom->steps[zoom->count - 1].name] = 0;
}

static const struct stack_frame *frame_at(const struct zoom *zoom, const struct stack_way *way, size_t i) {
    return &zoom->frames.items[way->items[(ptrdiff_t)i * way->step]];
}

static bool goes_through(struct zoom *zoom, const struct stack_way *way) {
    bool found = zoom->wanted == PACKED_TREE_ROOT;
    for (size_t i = 0; i < way->count && !found; i++)
        step_to(zoom, frame_at(zoom, way, i));
    for (size_t i = 0; i < zoom->count && !found; i++)
        found = zoom->steps[i].id == zoom->wanted;
    clear_steps(zoom);
    return found;
}

/* The node of the folded tree that has that node of the tree in it. False: not on this way. */
static bool fold_wanted(struct zoom *zoom, const struct stack_way *way) {
    uint64_t id = PACKED_TREE_ROOT;
    bool found = false;
    for (size_t i = 0; i < way->count && !found; i++) {
        const struct stack_frame *frame = frame_at(zoom, way, i);
        id = id_below(zoom, id, frame->name);
        step_to(zoom, frame);
        found = id == zoom->wanted;
    }
    if (found) zoom->wanted = zoom->steps[zoom->count - 1].id;
    clear_steps(zoom);
    return found;
}

static bool find_way(struct zoom *zoom, const struct profile *profile, uint32_t index, struct buffer *stack,
                     struct stack_way *way) {
    size_t count = frames_of_stack(&zoom->frames, profile, index, stack);
    return stack_order_find(&zoom->order, (const uint32_t *)(const void *)stack->data, count, way);
}

/* [stack]: whether it is to be dropped. False: all are. A box whose samples the filters dropped is there. */
static bool choose_stacks(struct zoom *zoom, const struct profile *tree, bool *dropped) {
    bool any = false, looks = zoom->places && !zoom->by_names && zoom->wanted != PACKED_TREE_ROOT;
    struct buffer stack = {0};
    struct stack_way way;
    for (uint32_t i = 0; i < tree->stack_count && looks; i++)
        looks = !find_way(zoom, tree, i, &stack, &way) || !fold_wanted(zoom, &way);
    for (uint32_t i = 0; i < tree->stack_count; i++) {
        dropped[i] = !find_way(zoom, tree, i, &stack, &way) || !goes_through(zoom, &way);
        any |= !dropped[i];
    }
    buffer_free(&stack);
    return any;
}

/* The names are those of the tree, which the report may show otherwise: in a copy. */
static void make_tree(struct report *tree, const struct report *report, const struct report_options *asked,
                      struct profile *copy) {
    *tree = *report;
    tree->options = *asked;
    if (asked->granularity == GRANULARITY_DEFAULT) tree->options.granularity = GRANULARITY_FUNCTIONS;
    profile_copy(copy, report->profile);
    tree->profile = copy;
    report_aggregate(tree, true);
}

/* Where a difference is one number, what cost the same on both sides has no sample, and no stack that could be found. */
static bool may_be_equal(const struct report *report) {
    return *report->options.base_title && !report->format->has_sides;
}

int zoom_apply(struct report *report, const struct report_options *asked, struct error *err) {
    struct profile copy;
    struct report tree;
    struct zoom zoom = {0};
    if (!asked->root || !*asked->root) return 0;
    make_tree(&tree, report, asked, &copy);
    read_root(&zoom, asked->root);
    frames_make(&zoom.frames, &tree);
    if (asked->fold) zoom.places = xcalloc(zoom.frames.names.count + 1, sizeof *zoom.places);
    bool *dropped = xcalloc(copy.stack_count + 1, sizeof *dropped);
    int code = stack_order_open(&zoom.order, &zoom.frames, asked, err);
    bool any = code == 0 && choose_stacks(&zoom, &copy, dropped);
    if (stack_order_close(&zoom.order, err)) code = -1;
    if (code == 0 && !any && !may_be_equal(report))
        code = error_usage(err, "root: no stack goes through '%.200s'", asked->root);
    if (code == 0) filter_drop_samples(report->profile, dropped);
    free(dropped);
    free(zoom.steps);
    free(zoom.places);
    buffer_free(&zoom.name);
    frames_free(&zoom.frames);
    profile_free(&copy);
    return code;
}
