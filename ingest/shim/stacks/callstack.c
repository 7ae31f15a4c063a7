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

/* For words of that many units; false where all room is taken. */
static bool make_room(struct thread *thread, struct cached_walk *way, uint32_t units) {
    if (way->room >= units) return true;
    if (thread->walked_used + units > WALKED_UNITS) return false;
    way->values = thread->walked[thread->walked_used].words;
    way->room = (uint16_t)units;
    thread->walked_used += units;
    return true;
}

/* A walk notes a return address, and then bp below it. */
static bool is_pair(const struct trail *trail, uint32_t i) {
    return i + 1 < trail->count && trail->at[i] == trail->at[i + 1] + 1;
}

static uint32_t count_pairs(const struct trail *trail) {
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < trail->count; i++)
        if (is_pair(trail, i)) {
            pairs++;
            i++;
        }
    return pairs;
}

static void copy_words(struct cached_walk *way, const struct trail *trail) {
    uint64_t *pair_value = (uint64_t *)way->values, *value = pair_value + 2 * way->pairs;
    uint16_t *pair_at = (uint16_t *)walk_places(way), *at = pair_at + way->pairs;
    for (uint32_t i = 0; i < trail->count; i++)
        if (is_pair(trail, i)) {
            i++;
            *pair_at++ = trail->at[i];
            *pair_value++ = trail->value[i];
            *pair_value++ = trail->value[i - 1];
        } else {
            *at++ = trail->at[i];
            *value++ = trail->value[i];
        }
}

/* Where there is no room it is not remembered, and all others are forgotten: those that still come make room for themselves. */
static void remember(struct thread *thread, struct cached_walk *way, struct frame frame, uint32_t id, uint64_t fan_hash,
                     const struct trail *trail) {
    uint32_t pairs = count_pairs(trail), singles = trail->count - 2 * pairs;
    size_t size = trail->count * sizeof trail->value[0] + (pairs + singles) * sizeof trail->at[0];
    if (!make_room(thread, way, (uint32_t)((size + sizeof thread->walked[0] - 1) / sizeof thread->walked[0]))) {
        callstack_forget(thread);
        return;
    }
    way->frame = frame;
    way->id = id;
    way->generation = load_relaxed(&process->rules_generation);
    way->fan_hash = fan_hash;
    way->pairs = (uint8_t)pairs;
    way->singles = (uint8_t)singles;
    way->uses_bp = trail->uses_bp;
    copy_words(way, trail);
}

/* What is not touched stays so: most sets of most threads. */
void callstack_forget(struct thread *thread) {
    for (int i = 0; i < WALK_SETS; i++) {
        struct walk_set *set = &thread->walks[i];
        if (set->next || set->ways[0].id || set->fan_count || set->score || set->bypass) memset(set, 0, sizeof *set);
    }
    thread->walked_used = 0;
}

/* --- fans ----------------------------------------------------------------------------------------------------- */

/* The word that a walk read there; NULL: none. */
static const uint64_t *word_read(const struct cached_walk *way, uint16_t at) {
    const uint16_t *places = walk_places(way);
    for (uint32_t k = 0; k < way->pairs; k++)
        if (places[k] == at || places[k] + 1 == at) return &way->values[2 * k + (at - places[k])];
    for (uint32_t k = 0; k < way->singles; k++)
        if (places[way->pairs + k] == at) return &way->values[2 * way->pairs + k];
    return NULL;
}

/* Whether a walk that begins in the same way read something else there. */
static bool differs_at(const struct walk_set *set, const struct frame *frame, uint16_t at, uint64_t value) {
    for (uint32_t i = 0; i < WALK_WAYS; i++) {
        const struct cached_walk *way = &set->ways[i];
        if (way->frame.pc != frame->pc || way->frame.sp != frame->sp) continue;
        const uint64_t *read = word_read(way, at);
        if (read && *read != value) return true;
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

/* All fans share the first sets, which keeps the memory of a thread together. A walk is in the first of its two sets, if there was room, or
 * in the second: with one set for each, 64 walks in 128 places displaced each other in every eighth look. */
static ALWAYS_INLINE struct walk_set *fan_set(struct thread *thread, uint64_t hash) {
    return &thread->walks[hash / (UINT64_MAX / FAN_SETS + 1)];
}

static ALWAYS_INLINE struct walk_set *second_fan_set(struct thread *thread, uint64_t hash) {
    return &thread->walks[hash / (UINT64_MAX / FAN_SETS / FAN_SETS + 1) % FAN_SETS];
}

/* All that the set has may begin like this one, so the hash tells first which one to compare. */
static ALWAYS_INLINE uint32_t find_in_fan(const struct walk_set *set, const struct frame *frame, uint64_t hash) {
    for (uint32_t i = 0; i < WALK_WAYS; i++)
        if (set->ways[i].fan_hash == hash && likely(is_same_walk(&set->ways[i], frame))) return set->ways[i].id;
    return 0;
}

static ALWAYS_INLINE uint32_t find_fanned(struct thread *thread, const struct frame *frame, uint64_t hash) {
    uint32_t id = find_in_fan(fan_set(thread, hash), frame, hash);
    return likely(id) ? id : find_in_fan(second_fan_set(thread, hash), frame, hash);
}

/* Where such a walk is remembered. */
static struct walk_set *roomy_fan_set(struct thread *thread, uint64_t hash) {
    struct walk_set *first = fan_set(thread, hash), *second = second_fan_set(thread, hash);
    return second->next < first->next && first->next >= WALK_WAYS ? second : first;
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
    set->score -= MISS_COST;
    const struct trail *trail = unwind_noting(thread, frame, &stack);
    uint32_t id = stack_intern(thread, &stack);
    if (set->score < SCORE_MIN) give_up(set, &frame, trail);
    if (!id || !trail->is_whole || trail->count > TRAIL_SLOTS || load_relaxed(&process->python)) return id;
    remember(thread, next_way(hash ? roomy_fan_set(thread, hash) : set), frame, id, hash, trail);
    return id;
}

__attribute__((noinline)) uint32_t callstack_slowly(struct thread *thread, struct frame frame, struct walk_set *set) {
    uint64_t hash = fan_hash(set, frame);
    if (likely(hash)) {
        uint32_t id = find_fanned(thread, &frame, hash);
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
