/* sample.h: which events are recorded when sampling, and the weight of each.
 *
 * By number (--sample=N): one of N heap events, lock acquisitions and cell events of a thread is recorded, with weight
 * N. The interval to the next is drawn at random between 1 and 2N - 1, with mean N, because a fixed one can fall into
 * step with a program that alternates (measured on sqlite3 with N = 100: 9.5 % too few allocations, 5.7 % too many
 * locks). By bytes (--sample=512KiB): a Poisson process over the bytes that a thread allocates, with that mean. A block
 * of s bytes is recorded with probability p = 1 - exp(-s / mean), and its weight is 1/p. A hash of the block's address
 * decides whether 1/p is rounded up or down, with the probability that makes the mean exact. So the block's free
 * computes the same weight, and nothing needs to be stored.
 *
 * With a budget (--budget) the mean changes while the program runs: each allocation looks at the level that the recorder has set. Level 0
 * records each, level L samples by bytes with a mean of SAMPLE_LEVEL_BYTES(L). A thread that finds another level than before draws the bytes
 * until its next sample anew: that is what the process looks like from any moment on, so the change adds no bias. The level of a block stands in
 * its entry (blocks.h), and the weight of its free is that of its allocation. */
#ifndef CLEAR_SHIM_SAMPLE_H
#define CLEAR_SHIM_SAMPLE_H

#include "ingest/shim/core/runtime.h"

enum { NO_LEVEL = SAMPLE_LEVELS + 1 }; /* struct thread: passes_at */

/* The weight of a recorded block: 1 without sampling. */
uint64_t sample_weight_slowly(uintptr_t address, uint32_t level, uint64_t size);
/* The thread goes on with that level; returns it, at most SAMPLE_LEVELS. */
uint32_t sample_switch(struct thread *thread, uint32_t level);
/* Draws the number of events or bytes until the next sample. */
void sample_draw(struct thread *thread);
/* Begins a thread at a random phase: else the first event of every thread would be recorded. */
void sample_start(struct thread *thread);

static ALWAYS_INLINE bool is_sampling(void) {
    return load_relaxed(&heap_mode) == HEAP_SAMPLED;
}

static ALWAYS_INLINE uint64_t sample_weight(uintptr_t address, uint32_t level, uint64_t size) {
    return likely(!is_sampling()) ? 1 : sample_weight_slowly(address, level, size);
}

/* Whether the recorded blocks of that level are a sample by bytes. */
bool sample_is_by_bytes(uint32_t level);
/* Another Poisson process, with that mean, over bytes that are recorded anyway. How many bytes these stand for; 0: they are passed over. */
uint64_t sample_thin(struct thread *thread, uint64_t bytes, uint64_t mean);

/* Adds the variance of the number of blocks that a recorded one stands for, and of their bytes. What is rounded up or down at random has the
 * variance w * w * p - 1, of which w * (w - 1) for each recorded block is an estimate without a bias. */
void sample_vary_slowly(bool is_free, uint64_t weight, uint64_t size);
static ALWAYS_INLINE void sample_vary(bool is_free, uint64_t weight, uint64_t size) {
    if (unlikely(weight != 1)) sample_vary_slowly(is_free, weight, size);
}

/* The same of the time of a hold. */
void sample_vary_hold_slowly(uint64_t weight, uint64_t ticks);
static ALWAYS_INLINE void sample_vary_hold(uint64_t weight, uint64_t ticks) {
    if (unlikely(weight != 1) && process->has_budget) sample_vary_hold_slowly(weight, ticks);
}

/* With a budget. All allocations of a thread are counted here, also those that are passed over. */
static ALWAYS_INLINE bool budget_takes(struct thread *thread, uint64_t size, uint32_t level) {
    if (unlikely(level != thread->sample_level)) level = sample_switch(thread, level);
    if (level) {
        thread->bytes_to_sample -= size ? (int64_t)size : 1;
        if (likely(thread->bytes_to_sample >= 0)) {
            add_own(&thread->counters->heap_passed, 1);
            return false;
        }
        sample_draw(thread);
    }
    add_own(&thread->counters->heap_recorded, 1);
    return true;
}

/* Whether to record this allocation. Costs one subtraction where not. */
static ALWAYS_INLINE bool sample_takes(struct thread *thread, uint64_t size) {
    if (likely(!is_sampling())) return true;
    if (process->has_budget) return budget_takes(thread, size, load_relaxed(shared_sample_level));
    if (process->sample_n > 1) {
        if (thread->events_to_sample-- > 1) return false;
        sample_draw(thread);
        return true;
    }
    thread->bytes_to_sample -= size ? (int64_t)size : 1;
    if (likely(thread->bytes_to_sample >= 0)) return false;
    sample_draw(thread);
    return true;
}

/* Whether an allocation of that size is certainly not recorded, for a hook that asks before it saves registers. False: heap_passes says, and
 * nothing was counted so far. A thread that has not begun has no bytes to its next sample. */
static ALWAYS_INLINE bool heap_passes_at(uint64_t size, const uint32_t *level) {
    uint32_t mode = load_relaxed(&heap_mode);
    if (unlikely(mode != HEAP_SAMPLED)) return mode == HEAP_OFF;
    if (is_paused()) return true;
    struct thread *thread = self;
    if (unlikely(thread->state != THREAD_IDLE || load_relaxed(level) != thread->passes_at || !size)) return false;
    int64_t left = thread->bytes_to_sample - (int64_t)size;
    if (unlikely(left < 0)) return false;
    thread->bytes_to_sample = left;
    count_own(&thread->counters->heap_passed);
    thread->newest = NULL;
    return true;
}

static ALWAYS_INLINE bool heap_passes_soon(uint64_t size) {
    return heap_passes_at(size, shared_sample_level);
}

/* Whether an allocation of that size is not recorded: the heap is not, recording is paused, or sampling skips it. When
 * false, the hook records it and must not ask again. In a new thread this begins the thread, in a new process the process. */
static ALWAYS_INLINE bool heap_passes(uint64_t size) {
    uint32_t mode = load_relaxed(&heap_mode);
    if (is_paused()) return true;
    if (likely(mode == HEAP_EVERY)) return false;
    if (mode == HEAP_OFF) return true;
    if (unlikely(self->state != THREAD_IDLE)) {
        struct thread *thread = thread_enter();
        if (!thread) return true;
        thread_leave(thread);
        if (is_paused() || load_relaxed(&heap_mode) == HEAP_OFF) return true; /* the first one of a process */
    }
    if (sample_takes(self, size)) return false;
    self->newest = NULL; /* the block to come is the newest, and it is not noted */
    return true;
}

/* --- locks, with a budget ------------------------------------------------------------------------------------------
 *
 * While recording each acquisition costs too much, those that need not wait are sampled: each with the probability 1 / N, as
 * LOCK_LEVEL_N says, independent of all others; it counts N times. The gap to the next one has a geometric distribution, which is the same from
 * any moment on, so a change of the level adds no bias. Whoever has to wait is recorded, and counts once. */

/* The thread goes on with that level. */
void lock_switch(struct thread *thread, uint32_t level);
/* Of a thread that passes over, when lock_left is 0: the weight of this acquisition, or 0. Needs the thread to be entered. */
uint32_t lock_draw(struct thread *thread);
/* Tells the segment of acquisitions that were recorded at level 0. */
void lock_tell(struct thread *thread);

/* Counts recorded acquisitions, in the mean where some are counted ahead. */
static ALWAYS_INLINE void lock_seen(struct thread *thread, uint32_t events) {
    enum { TELL_AFTER = 256 };
    thread->lock_events += events;
    if (unlikely(thread->lock_events >= TELL_AFTER)) lock_tell(thread);
}

/* Takes one of those that are passed over. One instruction, for a signal handler may use hooks in the middle. */
static ALWAYS_INLINE bool lock_passes(struct thread *thread) {
    bool is_below;
    __asm__("decq %0" : "+m"(thread->counters->lock_left), "=@ccs"(is_below));
    if (likely(!is_below)) return true;
    store_relaxed(&thread->counters->lock_left, 0);
    return false;
}

/* The weight of an acquisition; 0: it is passed over, unless it waits. */
static ALWAYS_INLINE uint32_t lock_weight(struct thread *thread, uint32_t level) {
    if (unlikely(level != thread->lock_level)) lock_switch(thread, level);
    if (likely(!thread->lock_level)) return 1;
    return lock_passes(thread) ? 0 : lock_draw(thread);
}

/* The weight of an event without a size (lock, cell); 0: it is not recorded. */
static ALWAYS_INLINE uint32_t sample_event(struct thread *thread) {
    if (likely(process->sample_n <= 1)) return 1;
    if (thread->events_to_sample-- > 1) return 0;
    sample_draw(thread);
    return process->sample_n;
}

#endif
