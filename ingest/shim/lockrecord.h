/* lockrecord.h: records the events of locks, which come from the hooks of pthread locks and from clear.h. Times are
 * ticks (clock_ticks). */
#ifndef CLEAR_SHIM_LOCKRECORD_H
#define CLEAR_SHIM_LOCKRECORD_H

#include "ingest/shim/callstack.h"
#include "ingest/shim/intern.h"
#include "ingest/shim/runtime.h"
#include "ingest/shim/sample.h"

enum mode { EXCLUSIVE, SHARED };

/* An acquisition under way. */
struct attempt {
    struct lock_counters *counters; /* NULL: not recorded */
    uint64_t asked;                 /* clock when the lock was asked for */
    uint32_t weight;                /* acquisitions that this one stands for; 0: not sampled */
};

void lock_dropped(void);
struct lock_counters *lock_counters_lookup(struct thread *thread, void *lock, enum segment_object_kind kind,
                                           struct known_object *known);
struct lock_counters *lock_counters_by_stack(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             struct frame frame);

/* For what ends a hold. A hold that began before recording was paused is recorded to its end. */
static ALWAYS_INLINE struct thread *lock_enter_holding(void) {
    if (is_paused() && !self->held_count) return NULL;
    struct thread *thread = thread_enter();
    if (unlikely(thread && !(process->features & FEATURE_LOCKS))) {
        thread_leave(thread);
        return NULL;
    }
    return thread;
}

static ALWAYS_INLINE struct thread *lock_enter(void) {
    return is_paused() ? NULL : lock_enter_holding();
}

static ALWAYS_INLINE struct known_object *known_of(struct known_object *table, const void *object) {
    return &table[((uintptr_t)object >> 3 ^ (uintptr_t)object >> 11) & (KNOWN_OBJECTS - 1)];
}

/* Before the lock is asked for. Most threads use few locks, so a small table of the thread saves the hash and the
 * shared index. */
static ALWAYS_INLINE struct attempt lock_ask(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             enum mode mode, struct frame frame) {
    struct attempt attempt = {.weight = sample_event(thread)};
    if (unlikely(!attempt.weight)) return attempt;
    struct known_object *known = known_of(thread->known_locks, lock);
    if (unlikely(process->features & FEATURE_SYNC_STACKS))
        attempt.counters = lock_counters_by_stack(thread, lock, kind, frame);
    else if (likely(known->object == lock))
        attempt.counters = known->counters;
    else
        attempt.counters = lock_counters_lookup(thread, lock, kind, known);
    if (mode == EXCLUSIVE) attempt.asked = clock_ticks();
    return attempt;
}

static ALWAYS_INLINE struct held_lock *find_held(struct thread *thread, const void *lock) {
    for (uint32_t i = thread->held_count; i > 0; i--)
        if (thread->held[i - 1].lock == lock) return &thread->held[i - 1];
    return NULL;
}

static ALWAYS_INLINE void hold_begins(struct thread *thread, void *lock, struct attempt attempt) {
    struct held_lock *held = find_held(thread, lock);
    if (unlikely(held)) { /* a recursive mutex: the outer hold goes on */
        held->depth++;
        return;
    }
    if (unlikely(thread->held_count == HELD_LOCKS)) {
        add_own(&thread->counters->hold_lost, 1);
        return;
    }
    thread->held[thread->held_count++] = (struct held_lock){
        .lock = lock, .counters = attempt.counters, .since = attempt.asked, .depth = 1, .weight = attempt.weight};
}

/* The lock was acquired without a wait. */
static ALWAYS_INLINE void lock_got(struct thread *thread, void *lock, struct attempt attempt, enum mode mode) {
    struct lock_counters *counters = attempt.counters;
    if (unlikely(!counters)) return;
    add_own(mode == SHARED ? &counters->read_acquires : &counters->acquires, attempt.weight);
    if (mode == EXCLUSIVE) hold_begins(thread, lock, attempt);
}

/* The lock was acquired after `wait` ticks. */
static inline void lock_got_waiting(struct thread *thread, void *lock, struct attempt attempt, enum mode mode,
                                    uint64_t wait) {
    struct lock_counters *counters = attempt.counters;
    if (!counters) return;
    add_own(mode == SHARED ? &counters->read_contended : &counters->contended, attempt.weight);
    add_own(mode == SHARED ? &counters->read_wait : &counters->wait, attempt.weight * wait);
    max_own(mode == SHARED ? &counters->read_wait_max : &counters->wait_max, wait);
    lock_got(thread, lock, attempt, mode);
}

/* Counts a hold. Called after the unlock. */
static ALWAYS_INLINE void hold_ended(const struct held_lock *held, uint64_t now) {
    uint64_t hold = now > held->since ? now - held->since : 0;
    add_own(&held->counters->hold, held->weight * hold);
    max_own(&held->counters->hold_max, hold);
}

/* Takes the hold out of the list and returns it when this release is the last one. */
static ALWAYS_INLINE bool hold_release(struct thread *thread, const void *lock, struct held_lock *ended) {
    struct held_lock *held = find_held(thread, lock);
    if (!held || --held->depth) return false;
    *ended = *held;
    *held = thread->held[--thread->held_count];
    return true;
}

#endif
