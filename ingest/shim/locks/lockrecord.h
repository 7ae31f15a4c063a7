/* lockrecord.h: records the events of locks, which come from the hooks of pthread locks and from clear.h. Times are
 * ticks (clock_ticks).
 *
 * Every acquisition is counted. Clocks cost more than that (about 10 ns a reading), and the second reading of a hold is
 * made with the lock held. So holds of a lock that are short in the mean are sampled: see hold_sample. */
#ifndef CLEAR_SHIM_LOCKRECORD_H
#define CLEAR_SHIM_LOCKRECORD_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/core/sample.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/stacks/callstack.h"
#include "ingest/shim/stacks/intern.h"

enum mode { EXCLUSIVE, SHARED };

/* An acquisition under way. */
struct attempt {
    struct lock_counters *counters; /* NULL: not recorded */
    uint64_t asked;                 /* clock when the lock was asked for: where the hold is timed, and where it waits */
    uint32_t weight;                /* acquisitions that this one stands for; 0: not sampled */
    uint32_t holds;                 /* holds that this one stands for; 0: it is not timed */
    uint32_t kind;                  /* enum segment_object_kind */
};

void lock_dropped(void);
/* These leave errno as it is. */
struct lock_counters *lock_counters_lookup(struct thread *thread, void *lock, enum segment_object_kind kind,
                                           struct known_object *known, const uint64_t *caller);
struct lock_counters *lock_counters_by_stack(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             const uint64_t *caller);

static ALWAYS_INLINE struct thread *lock_enter_always(void) {
    if (unlikely(load_relaxed(&is_locks_off))) return NULL;
    struct thread *thread = thread_enter();
    if (unlikely(thread && !(process->features & FEATURE_LOCKS))) {
        thread_leave(thread);
        return NULL;
    }
    return thread;
}

/* For what ends a hold. A hold that began before recording was paused is recorded to its end. */
static ALWAYS_INLINE struct thread *lock_enter_holding(void) {
    return is_paused() && !self->held_count ? NULL : lock_enter_always();
}

static ALWAYS_INLINE struct thread *lock_enter(void) {
    return is_paused() ? NULL : lock_enter_always();
}

enum {
    HOLDS_TIMED = 16384,   /* the first holds of a lock in a thread are all timed */
    SHORT_HOLD_SHIFT = 11, /* a hold of less than 2,048 ticks is short: 0.6 to 1 us */
    HOLDS_SAMPLED = 32,    /* of short holds one in so many is timed, and counts so many times */
    LONG_HOLD_SHIFT = 21,  /* one of 2,097,152 ticks or more, 0.6 to 2 ms, is none of them, and counts once */
    /* One of 16,384 ticks or more, 5 to 8 us, of an acquisition without a wait is of the stack that ends it, which costs 0.1 to 0.3 us. Stack 0 has
     * the others, of all callers together: as long as each is short, nobody asks whose they are. */
    OWN_HOLD_SHIFT = 14,
};

/* `holds` of a hold that is not timed, but lasts at least since a moment when it was seen: its thread was inside of it when
 * its CPU timer ran, or when it began to wait, to sleep or to read. Counts once, and only if it is long. */
#define HOLD_MARKED UINT32_MAX

/* A random number below `below`, by Marsaglia's xorshift. */
uint32_t hold_draw(struct thread *thread, uint32_t below);

/* Whether the next hold is one of those that are not timed. A signal handler that takes the lock in the middle may count `skip`
 * below 0; then it has no meaning. */
static ALWAYS_INLINE bool skips_hold(const struct known_object *known) {
    return known->skip - 1 < 2 * HOLDS_SAMPLED;
}

/* How many holds the next one stands for; 0: it is not timed. While the holds of this lock in this thread have a mean of
 * more than SHORT_HOLD, each is timed. Else one in HOLDS_SAMPLED is, at random intervals, because fixed ones can fall
 * into step with the program. Whether a hold is timed depends on earlier ones alone, so the sum is unbiased. Where
 * acquisitions are sampled, each of those is timed. */
static ALWAYS_INLINE uint32_t hold_sample(struct thread *thread, struct known_object *known,
                                          const struct lock_counters *counters) {
    uint64_t acquires = load_relaxed(&counters->acquires);
    uint64_t held = (load_relaxed(&counters->hold) >> SHORT_HOLD_SHIFT) + known->moved;
    if (unlikely(acquires < HOLDS_TIMED || held >= acquires)) return 1;
    if (unlikely(process->sample_n > 1 || known->counters != counters || traces(TRACE_HOLD))) return 1;
    if (likely(skips_hold(known))) {
        known->skip--;
        return 0;
    }
    known->skip = hold_draw(thread, 2 * HOLDS_SAMPLED - 1); /* so HOLDS_SAMPLED in the mean */
    if (process->has_budget) lock_seen(thread, known->skip);
    return HOLDS_SAMPLED;
}

/* The weight of an acquisition of a pthread lock. Where each hold is an event, each is recorded. */
static ALWAYS_INLINE uint32_t acquisition_weight(struct thread *thread) {
    if (likely(!process->has_budget)) return sample_event(thread);
    return lock_weight(thread, unlikely(traces(TRACE_HOLD)) ? 0 : load_relaxed(shared_lock_level));
}

/* Before the lock is asked for. Most threads use few locks, so a small table of the thread saves the hash and the
 * shared index. `weight` is that of the acquisition, `caller` CALLER(). It leaves errno as it is. */
static ALWAYS_INLINE struct attempt lock_ask(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             enum mode mode, uint32_t weight, const uint64_t *caller) {
    struct attempt attempt = {.weight = weight, .kind = kind};
    if (unlikely(!attempt.weight)) return attempt;
    if (process->has_budget && weight == 1) lock_seen(thread, 1);
    struct known_object *known = known_of(thread->known_locks, lock);
    if (unlikely(process->features & FEATURE_SYNC_STACKS))
        attempt.counters = lock_counters_by_stack(thread, lock, kind, caller);
    else if (likely(known->object == lock))
        attempt.counters = known->counters;
    else
        attempt.counters = lock_counters_lookup(thread, lock, kind, known, caller);
    if (mode == SHARED || !attempt.counters) return attempt;
    /* clear.h asks for every hold; what stands for many is timed, too. */
    attempt.holds = kind == OBJECT_LOCK || weight > 1 ? 1 : hold_sample(thread, known, attempt.counters);
    if (unlikely(attempt.holds)) attempt.asked = clock_ticks();
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
    thread->held[thread->held_count++] = (struct held_lock){.lock = lock,
                                                            .counters = attempt.counters,
                                                            .since = attempt.asked,
                                                            .depth = 1,
                                                            .weight = attempt.weight,
                                                            .holds = attempt.holds,
                                                            .kind = attempt.kind};
}

/* A mutex that is recursive was taken again without a record, inside of a hold that has one. */
static ALWAYS_INLINE void hold_deepens(struct thread *thread, const void *lock) {
    struct held_lock *held = thread->held_count ? find_held(thread, lock) : NULL;
    if (unlikely(held)) held->depth++;
}

/* Nothing in a lock that several read, or in a spin lock, says who has it. So the thread does, to whoever looks at the waits of others (wait_owner
 * of struct thread_counters), by a store to its own record and another one at the release. */
static ALWAYS_INLINE bool is_unowned(enum segment_object_kind kind, enum mode mode) {
    return kind == OBJECT_SPIN || (kind == OBJECT_RWLOCK && mode == SHARED);
}

static ALWAYS_INLINE void unowned_lost(struct thread *thread, const volatile void *lock) {
    if (load_relaxed(&thread->counters->has_lock) == (uintptr_t)lock) store_relaxed(&thread->counters->has_lock, 0);
}

/* The lock was acquired without a wait. */
static ALWAYS_INLINE void lock_got(struct thread *thread, void *lock, struct attempt attempt, enum mode mode) {
    struct lock_counters *counters = attempt.counters;
    if (unlikely(!counters)) {
        if (mode == EXCLUSIVE) hold_deepens(thread, lock);
        return;
    }
    add_own(mode == SHARED ? &counters->read_acquires : &counters->acquires, attempt.weight);
    /* Few are sampled, so what was done until here found nothing in the caches: it would be most of a short hold. */
    if (unlikely(attempt.weight > 1) && process->has_budget && mode == EXCLUSIVE) attempt.asked = clock_ticks();
    if (is_unowned(attempt.kind, mode)) store_relaxed(&thread->counters->has_lock, (uintptr_t)lock);
    if (mode == EXCLUSIVE) hold_begins(thread, lock, attempt);
}

static ALWAYS_INLINE void count_wait(struct attempt attempt, enum mode mode, uint64_t wait) {
    struct lock_counters *counters = attempt.counters;
    add_own(mode == SHARED ? &counters->read_wait : &counters->wait, attempt.weight * wait);
    max_own(mode == SHARED ? &counters->read_wait_max : &counters->wait_max, wait);
}

/* The lock was acquired after `wait` ticks. */
static inline void lock_got_waiting(struct thread *thread, void *lock, struct attempt attempt, enum mode mode,
                                    uint64_t wait) {
    struct lock_counters *counters = attempt.counters;
    if (!counters) return;
    add_own(mode == SHARED ? &counters->read_contended : &counters->contended, attempt.weight);
    count_wait(attempt, mode, wait);
    lock_got(thread, lock, attempt, mode);
}

/* The attempt must wait, or has waited: from here on its counters are those of the calling stack, so that waits have
 * one. With a budget it counts once, also where it was passed over or stands for others. `*id` is the object's, 0 where none could be made: then the counters stay. */
struct attempt lock_contended(struct thread *thread, void *lock, enum segment_object_kind kind, struct attempt attempt,
                              const uint64_t *caller, uint32_t *id);

/* The counters of the stack that ends this hold, which lasted so many ticks; those that it has where it has a stack already. */
struct lock_counters *hold_counters_of_end(struct thread *thread, const struct held_lock *held, uint64_t ticks,
                                           const uint64_t *caller);

/* Counts a hold. Called after the unlock. A long one stands for no other: among sampled holds it is mostly one in which the
 * machine stopped the thread, and eight times that would be more than all others together. */
static ALWAYS_INLINE void hold_ended(struct thread *thread, const struct held_lock *held, uint64_t now,
                                     const uint64_t *caller) {
    struct lock_counters *counters = held->counters;
    uint64_t hold = now > held->since ? now - held->since : 0;
    bool is_long = hold >> LONG_HOLD_SHIFT;
    if (unlikely(held->holds == HOLD_MARKED && !is_long)) return; /* those that are timed stand for it */
    uint32_t holds = unlikely(is_long) ? 1 : held->holds;
    if (unlikely(hold >> OWN_HOLD_SHIFT)) counters = hold_counters_of_end(thread, held, hold * holds, caller);
    add_own(&counters->hold, hold * held->weight * holds);
    sample_vary_hold((uint64_t)held->weight * holds, hold);
    add_own(&counters->timed_holds, process->has_budget ? 1 : held->weight);
    max_own(&counters->hold_max, hold);
}

/* A release ends the hold: the clock is read before the unlock. */
static ALWAYS_INLINE bool hold_is_ending(const struct held_lock *held) {
    return held && held->depth == 1 && held->holds;
}

/* The thread gave back the mutex of its last wait that was late. It did not wait again before: so it found what it waited for. */
static inline void late_ends(struct late_wait *late, uint64_t now) {
    if (late->counters) add_own(&late->counters->lost_wakes, late->weight);
    late->counters = NULL;
    late->looked = now ? now : clock_ticks();
}

/* After the unlock. `now` is that clock. */
static ALWAYS_INLINE void hold_released(struct thread *thread, struct held_lock *held, uint64_t now,
                                        const uint64_t *caller) {
    if (unlikely(--held->depth)) return;
    if (unlikely(held->holds)) hold_ended(thread, held, now, caller);
    if (unlikely(held->lock == thread->late.mutex)) late_ends(&thread->late, now);
    struct held_lock *last = &thread->held[--thread->held_count];
    if (unlikely(held != last)) *held = *last;
}

/* --- holds that are not timed ----------------------------------------------------------------------------------- */

/* The entry of a lock that this thread holds, also of thread->light, which gets one now; NULL: it is not known. */
struct held_lock *held_with_light(struct thread *thread, void *lock);

/* The thread is inside of all its holds now: see HOLD_MARKED. Between hooks, or with an entered thread. */
static ALWAYS_INLINE void holds_mark(struct thread *thread) {
    const void *light = load_relaxed(&thread->light);
    if (likely(!light && !thread->held_count)) return;
    uint64_t now = clock_ticks();
    if (light && !thread->light_since) store_relaxed(&thread->light_since, now);
    for (uint32_t i = 0; i < thread->held_count; i++) {
        struct held_lock *held = &thread->held[i];
        if (held->holds) continue;
        held->holds = HOLD_MARKED;
        held->since = now;
    }
}

/* --- waits ---------------------------------------------------------------------------------------------------- */

/* Who has a lock that somebody waits for: `wait_owner` and `wait_lock` of struct thread_counters. */
struct lock_owner {
    const void *lock;
    uint32_t thread;
};

/* Tells the collector what the thread waits for, from `since` on, and who has it. Threads past their end share one
 * record, and tell nothing. */
static inline void wait_publish(struct thread *thread, uint32_t object, uint32_t weight, enum mode mode,
                                struct lock_owner owner, uint64_t since) {
    struct thread_counters *record = thread->counters;
    if (thread->orphan || !object) return;
    store_relaxed(&record->wait_owner, owner.thread);
    store_relaxed(&record->wait_lock, (uintptr_t)owner.lock);
    store_relaxed(&record->wait_object, object);
    store_relaxed(&record->wait_weight, weight);
    store_relaxed(&record->wait_shared, mode == SHARED);
    store_release(&record->wait_since, since);
}

/* The wait is over. What follows adds it to its counters, and not before: the collector must not see it twice. */
static inline void wait_unpublish(struct thread *thread) {
    store_relaxed(&thread->counters->wait_since, 0);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* x86 keeps the order of stores; so must the compiler */
}

#endif
