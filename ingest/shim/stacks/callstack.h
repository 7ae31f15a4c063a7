/* callstack.h: the id of the stack that a hook was called from.
 *
 * Programs allocate from the same places again and again, with the same callers at the same depth. So each thread has a
 * set-associative cache of walks: where a walk started, which words of the stack it read, and the id that it led to. If
 * all of these are equal, so is the stack. To compare them takes one pass of independent loads (about a cycle a word);
 * to walk takes a chain of dependent ones (about 6 ns a frame without frame pointers). The cache is exact: a walk is a
 * function of just these words. Walks that begin alike and do not fit one set are spread over others (struct walk_set). Where there are frames of a Python interpreter it is not, and nothing is cached. */
#ifndef CLEAR_SHIM_CALLSTACK_H
#define CLEAR_SHIM_CALLSTACK_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/unwind.h"

enum { SCORE_MAX = 16 }; /* the highest score of a walk_set */

/* 0 when the stack could not be stored. */
uint32_t callstack_slowly(struct thread *thread, struct frame frame, struct walk_set *set);

/* Forgets all walks of a thread. */
void callstack_forget(struct thread *thread);

/* Two words of the stack that stand beside each other. */
typedef uint64_t word_pair __attribute__((vector_size(16), may_alias));
typedef uint64_t stack_pair __attribute__((vector_size(16), aligned(8), may_alias));

static ALWAYS_INLINE const uint16_t *walk_places(const struct cached_walk *way) {
    return (const uint16_t *)(way->values + 2 * way->pairs + way->singles);
}

static ALWAYS_INLINE bool is_same_walk(const struct cached_walk *way, const struct frame *frame) {
    if (way->frame.pc != frame->pc || way->frame.sp != frame->sp) return false;
    if (way->uses_bp && way->frame.bp != frame->bp) return false;
    const uint64_t *words = (const uint64_t *)(uintptr_t)frame->sp, *value = way->values;
    const uint16_t *at = walk_places(way), *end = at + way->pairs;
    word_pair different = {0};
    for (; at < end; value += 2)
        different |= *(const stack_pair *)(words + *at++) ^ *(const word_pair *)value;
    uint64_t differences = different[0] | different[1];
    for (end += way->singles; at < end;)
        differences |= words[*at++] ^ *value++;
    return !differences && way->generation == load_relaxed(&process->rules_generation);
}

/* The id of that walk, or 0. */
static ALWAYS_INLINE uint32_t find_walk(const struct walk_set *set, const struct frame *frame) {
    for (uint32_t i = 0; i < WALK_WAYS; i++)
        if (likely(is_same_walk(&set->ways[i], frame))) return set->ways[i].id;
    return 0;
}

static ALWAYS_INLINE uint32_t callstack(struct thread *thread, struct frame frame) {
    uint64_t slot = (frame.pc ^ frame.sp * 0x9e3779b97f4a7c15ull >> 40) & (WALK_SETS - 1);
    struct walk_set *set = &thread->walks[slot];
    if (unlikely(set->bypass | set->fan_count)) return callstack_slowly(thread, frame, set);
    uint32_t id = find_walk(set, &frame);
    if (unlikely(!id)) return callstack_slowly(thread, frame, set);
    if (unlikely(set->score < SCORE_MAX)) set->score++;
    return id;
}

#endif
