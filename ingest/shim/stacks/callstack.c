#include "ingest/shim/stacks/callstack.h"

#include <string.h>

#include "ingest/shim/stacks/intern.h"

enum {
    MISS_COST = 2,   /* a miss costs about twice what a hit saves */
    SCORE_MIN = -64, /* below this a set is bypassed */
    BYPASS_WALKS = 4096,
};

static void remember(struct walk_set *set, struct frame frame, uint32_t id, const struct trail *trail) {
    struct cached_walk *way = &set->ways[set->next++ % WALK_WAYS];
    way->frame = frame;
    way->id = id;
    way->generation = load_relaxed(&process->rules_generation);
    size_t count = trail->count;
    memcpy(&way->trail, trail, offsetof(struct trail, at));
    memcpy(way->trail.at, trail->at, count * sizeof trail->at[0]);
    memcpy(way->trail.value, trail->value, count * sizeof trail->value[0]);
}

__attribute__((noinline)) uint32_t callstack_slowly(struct thread *thread, struct frame frame, struct walk_set *set) {
    struct walked_stack stack;
    bool has_python = load_relaxed(&process->python);
    if (set->bypass || has_python) {
        if (set->bypass) set->bypass--;
        unwind(thread, frame, &stack);
        return stack_intern(thread, &stack);
    }
    struct trail trail;
    set->score -= MISS_COST;
    if (set->score < SCORE_MIN) {
        set->score = 0;
        set->bypass = BYPASS_WALKS;
    }
    unwind_noting(thread, frame, &stack, &trail);
    uint32_t id = stack_intern(thread, &stack);
    if (id && trail.is_whole && !load_relaxed(&process->python)) remember(set, frame, id, &trail);
    return id;
}
