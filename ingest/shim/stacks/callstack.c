#include "ingest/shim/stacks/callstack.h"

#include <string.h>

#include "ingest/shim/stacks/intern.h"

enum {
    MISS_COST = 2,   /* a miss costs about twice what a hit saves */
    SCORE_MIN = -64, /* below this a set fans out, or is bypassed */
    BYPASS_WALKS = 4096,
    BYPASS_FANNED = 16 * BYPASS_WALKS, /* what fans out in vain takes the places of others */
};

static struct cached_walk *next_way(struct walk_set *set) {
    return &set->ways[set->next++ % WALK_WAYS];
}

static void remember(struct cached_walk *way, struct frame frame, uint32_t id, const struct trail *trail) {
    way->frame = frame;
    way->id = id;
    way->generation = load_relaxed(&process->rules_generation);
    size_t count = trail->count;
    memcpy(&way->trail, trail, offsetof(struct trail, at));
    memcpy(way->trail.at, trail->at, count * sizeof trail->at[0]);
    memcpy(way->trail.value, trail->value, count * sizeof trail->value[0]);
}

/* --- fans ----------------------------------------------------------------------------------------------------- */

/* Whether a walk that begins in the same way read something else there. */
static bool differs_at(const struct walk_set *set, const struct frame *frame, uint16_t at, uint64_t value) {
    for (uint32_t i = 0; i < WALK_WAYS; i++) {
        const struct cached_walk *way = &set->ways[i];
        if (way->frame.pc != frame->pc || way->frame.sp != frame->sp) continue;
        for (uint32_t k = 0; k < way->trail.count; k++)
            if (way->trail.at[k] == at && way->trail.value[k] != value) return true;
    }
    return false;
}

/* By the words in which this walk differs from those that the set has. */
static bool fan_out(struct walk_set *set, const struct frame *frame, const struct trail *trail) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < trail->count && count < FAN_WORDS && trail->is_whole; i++)
        if (differs_at(set, frame, trail->at[i], trail->value[i])) set->fan_at[count++] = trail->at[i];
    set->fan_pc = frame->pc;
    set->fan_sp = frame->sp;
    set->fan_count = count;
    return count;
}

/* The words are of this thread's stack, where a walk from the same sp read them. 0: the set does not fan such walks out. */
static ALWAYS_INLINE uint64_t fan_hash(const struct walk_set *set, struct frame frame) {
    if (!set->fan_count || set->fan_pc != frame.pc || set->fan_sp != frame.sp) return 0;
    const uint64_t *words = (const uint64_t *)(uintptr_t)frame.sp;
    uint64_t hash = frame.pc;
    for (uint32_t i = 0; i < set->fan_count; i++)
        hash = (hash ^ words[set->fan_at[i]]) * 0x9e3779b97f4a7c15ull;
    return hash | 1;
}

/* All fans share the first sets, which keeps the memory of a thread together. */
static ALWAYS_INLINE struct walk_set *fan_set(struct thread *thread, uint64_t hash) {
    return &thread->walks[hash / (UINT64_MAX / FAN_SETS + 1)];
}

/* All that the set has may begin like this one, so the hash tells first which one to compare. */
static ALWAYS_INLINE uint32_t find_fanned(const struct walk_set *set, const struct frame *frame, uint64_t hash) {
    for (uint32_t i = 0; i < WALK_WAYS; i++)
        if (set->ways[i].fan_hash == hash && likely(is_same_walk(&set->ways[i], frame))) return set->ways[i].id;
    return 0;
}

/* A set in which too much is missed. */
static void give_up(struct walk_set *set, const struct frame *frame, const struct trail *trail) {
    set->score = 0;
    if (!set->fan_count && fan_out(set, frame, trail)) return;
    set->bypass = set->fan_count ? BYPASS_FANNED : BYPASS_WALKS;
    set->fan_count = 0;
}

/* --- what the caller's own look did not find ------------------------------------------------------------------- */

static COLD uint32_t walk_and_remember(struct thread *thread, struct frame frame, struct walk_set *set, uint64_t hash) {
    struct walked_stack stack;
    struct trail trail;
    set->score -= MISS_COST;
    unwind_noting(thread, frame, &stack, &trail);
    uint32_t id = stack_intern(thread, &stack);
    if (set->score < SCORE_MIN) give_up(set, &frame, &trail);
    if (!id || !trail.is_whole || load_relaxed(&process->python)) return id;
    struct cached_walk *way = next_way(hash ? fan_set(thread, hash) : set);
    remember(way, frame, id, &trail);
    way->fan_hash = hash;
    return id;
}

__attribute__((noinline)) uint32_t callstack_slowly(struct thread *thread, struct frame frame, struct walk_set *set) {
    uint64_t hash = fan_hash(set, frame);
    if (likely(hash)) {
        uint32_t id = find_fanned(fan_set(thread, hash), &frame, hash);
        if (likely(id)) {
            if (unlikely(set->score < SCORE_MAX)) set->score++;
            return id;
        }
    } else if (set->fan_count && !set->bypass) {
        uint32_t id = find_walk(set, &frame); /* of another start, which the caller did not look for */
        if (id) return id;
    }
    if (set->bypass || load_relaxed(&process->python)) {
        struct walked_stack stack;
        if (set->bypass) set->bypass--;
        unwind(thread, frame, &stack);
        return stack_intern(thread, &stack);
    }
    return walk_and_remember(thread, frame, set, hash);
}
