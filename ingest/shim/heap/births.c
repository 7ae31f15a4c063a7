#include "ingest/shim/heap/births.h"

#include "ingest/shim/stacks/entries.h"

enum {
    TALLIES_PER_CHUNK = 256,
    RATE_SHIFT = 32,
    TIMED_ENOUGH_NS = 1000000, /* the two clocks are compared once, over this time at least */
};

/* The highest power of two that is not above the value; 0 of 0. As its exponent + 1. */
static uint32_t bucket_of(uint64_t value) {
    return value ? 64u - (uint32_t)__builtin_clzll(value) : 0;
}

static void add(struct thread *thread, uint32_t id, enum segment_histogram histogram, uint64_t value, uint64_t weight) {
    static const struct entry_shape shape = {CHUNK_TALLY, sizeof(struct segment_tally), TALLIES_PER_CHUNK};
    struct entry_key key = {.stack = id, .part = (uint32_t)histogram << TALLY_BUCKET_BITS | bucket_of(value)};
    struct segment_tally *tally = entry_of(thread, &thread->tallies, key, shape);
    if (likely(tally))
        add_own(&tally->count, weight);
    else
        fetch_add_relaxed(&process->segment->dropped_lifetimes, 1);
}

static uint64_t ns_of(uint64_t ticks) {
    if (!(process->features & FEATURE_TSC)) return ticks;
    uint64_t rate = load_relaxed(&process->tick_rate);
    if (unlikely(!rate)) {
        uint64_t ns = clock_monotonic_ns() - process->segment->start_monotonic_ns;
        uint64_t elapsed = clock_ticks() - process->segment->start_ticks;
        rate = elapsed ? (uint64_t)(((unsigned __int128)ns << RATE_SHIFT) / elapsed) : 0;
        if (ns >= TIMED_ENOUGH_NS) store_relaxed(&process->tick_rate, rate);
    }
    return (uint64_t)((unsigned __int128)ticks * rate >> RATE_SHIFT);
}

/* Threads are numbered when they first allocate; 0 is none, as of threads past their own end, which share one record. */
static uint32_t number_of(struct thread *thread) {
    if (unlikely(!thread->birth_number && !thread->orphan))
        thread->birth_number = fetch_add_relaxed(&process->births_threads, 1) + 1;
    return thread->birth_number;
}

static uint32_t place_in_grain(uintptr_t address) {
    return address >> 3 & 3;
}

void birth_note(struct thread *thread, uintptr_t address, uint64_t size, uint32_t id, uint64_t weight) {
    struct block_birth *birth = block_birth(address);
    add(thread, id, HISTOGRAM_SIZE, size, weight);
    thread->allocated += weight;
    if (!birth) return;
    *birth = (struct block_birth){.ticks = clock_ticks(),
                                  .allocated = (uint32_t)thread->allocated,
                                  .thread = number_of(thread) << 2 | place_in_grain(address)};
}

struct block_birth birth_take(uintptr_t address) {
    struct block_birth *at = block_birth(address), birth = {0};
    if (!at || (at->thread & 3) != place_in_grain(address)) return birth;
    birth = *at;
    at->ticks = 0;
    return birth;
}

void birth_put_back(uintptr_t address, struct block_birth birth) {
    struct block_birth *at = block_birth(address);
    if (at && birth.ticks) *at = birth;
}

void birth_ended(struct thread *thread, struct block_birth birth, uint32_t id, uint64_t weight) {
    if (!birth.ticks) return;
    uint64_t now = clock_ticks();
    add(thread, id, HISTOGRAM_LIFETIME, ns_of(now > birth.ticks ? now - birth.ticks : 0), weight);
    if (birth.thread >> 2 && birth.thread >> 2 == thread->birth_number)
        add(thread, id, HISTOGRAM_PASSED, (uint32_t)thread->allocated - birth.allocated, weight);
}
