/* sample.h: which events are recorded when not all are, and for how many each stands.
 *
 * By number (--sample=N): every Nth heap event, lock acquisition and cell event of a thread counts N times. N is the mean of intervals
 * drawn at random between 1 and 2N - 1: a fixed one falls into step with programs that do things by turns (measured on sqlite3,
 * N = 100: 9.5 % too few allocations, 5.7 % too many locks).
 * By bytes (--sample=512KiB): a Poisson process with that mean over the bytes a thread allocates. A block of s bytes is met with
 * p = 1 - exp(-s / mean) and stands for 1/p blocks. 1/p is rounded up or down by a hash of the address, with
 * odds that make the mean exact, so that the block's free works out the same weight without anything being stored. */
#ifndef CLEAR_SHIM_SAMPLE_H
#define CLEAR_SHIM_SAMPLE_H

#include "ingest/shim/runtime.h"

/* The weight of a block that was recorded: 1 when nothing is sampled. */
uint64_t sample_weight_slowly(uintptr_t address, uint64_t size);
/* Draws the events or bytes to the next sample. */
void sample_draw(struct thread *thread);
/* Begins a thread at a random phase, so that a thread of one event does not count N times for sure. */
void sample_start(struct thread *thread);

static ALWAYS_INLINE bool is_sampling(void) {
    return load_relaxed(&heap_mode) == HEAP_SAMPLED;
}

static ALWAYS_INLINE uint64_t sample_weight(uintptr_t address, uint64_t size) {
    return likely(!is_sampling()) ? 1 : sample_weight_slowly(address, size);
}

/* Whether this allocation is to be recorded. One subtraction where it is not. */
static ALWAYS_INLINE bool sample_takes(struct thread *thread, uint64_t size) {
    if (likely(!is_sampling())) return true;
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

/* Whether an allocation of that size goes straight to the allocator: the heap is not recorded or not now, or it is sampled and this is not its
 * turn. Where it is, the hook records it without asking again. A thread's first allocation makes the thread known first. */
static ALWAYS_INLINE bool heap_passes(uint64_t size) {
    uint32_t mode = load_relaxed(&heap_mode);
    if (is_paused()) return true;
    if (likely(mode == HEAP_EVERY)) return false;
    if (mode == HEAP_OFF) return true;
    if (unlikely(self->state != THREAD_IDLE)) {
        struct thread *thread = thread_enter();
        if (!thread) return true;
        thread_leave(thread);
    }
    return !sample_takes(self, size);
}

/* The same for events without a size (locks, cells): the number that this one counts for, 0 where it is not recorded. */
static ALWAYS_INLINE uint32_t sample_event(struct thread *thread) {
    if (likely(process->sample_n <= 1)) return 1;
    if (thread->events_to_sample-- > 1) return 0;
    sample_draw(thread);
    return process->sample_n;
}

#endif
