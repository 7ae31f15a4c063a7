/* sample.h: which events are recorded when sampling, and the weight of each.
 *
 * By number (--sample=N): one of N heap events, lock acquisitions and cell events of a thread is recorded, with weight
 * N. The interval to the next is drawn at random between 1 and 2N - 1, with mean N, because a fixed one can fall into
 * step with a program that alternates (measured on sqlite3 with N = 100: 9.5 % too few allocations, 5.7 % too many
 * locks). By bytes (--sample=512KiB): a Poisson process over the bytes that a thread allocates, with that mean. A block
 * of s bytes is recorded with probability p = 1 - exp(-s / mean), and its weight is 1/p. A hash of the block's address
 * decides whether 1/p is rounded up or down, with the probability that makes the mean exact. So the block's free
 * computes the same weight, and nothing needs to be stored. */
#ifndef CLEAR_SHIM_SAMPLE_H
#define CLEAR_SHIM_SAMPLE_H

#include "ingest/shim/core/runtime.h"

/* The weight of a recorded block: 1 without sampling. */
uint64_t sample_weight_slowly(uintptr_t address, uint64_t size);
/* Draws the number of events or bytes until the next sample. */
void sample_draw(struct thread *thread);
/* Begins a thread at a random phase: else the first event of every thread would be recorded. */
void sample_start(struct thread *thread);

static ALWAYS_INLINE bool is_sampling(void) {
    return load_relaxed(&heap_mode) == HEAP_SAMPLED;
}

static ALWAYS_INLINE uint64_t sample_weight(uintptr_t address, uint64_t size) {
    return likely(!is_sampling()) ? 1 : sample_weight_slowly(address, size);
}

/* Adds the variance of the number of blocks that a recorded one stands for. What is rounded up or down at random has the variance
 * w * w * p - 1, of which w * (w - 1) for each recorded block is an estimate without a bias. */
static ALWAYS_INLINE void sample_vary(_Atomic uint64_t *sum, uint64_t weight) {
    enum { WEIGHT_MAX = 1 << 24 }; /* so that 65,000 blocks of it fit; a number of such blocks is not known anyway */
    if (likely(weight == 1)) return;
    uint64_t counted = weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
    fetch_add_relaxed(sum, counted * (counted - 1));
}

/* Whether to record this allocation. Costs one subtraction where not. */
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

/* The weight of an event without a size (lock, cell); 0: it is not recorded. */
static ALWAYS_INLINE uint32_t sample_event(struct thread *thread) {
    if (likely(process->sample_n <= 1)) return 1;
    if (thread->events_to_sample-- > 1) return 0;
    sample_draw(thread);
    return process->sample_n;
}

#endif
