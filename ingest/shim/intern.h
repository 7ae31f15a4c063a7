/* intern.h: stacks and locks to dense ids, from 1. */
#ifndef CLEAR_SHIM_INTERN_H
#define CLEAR_SHIM_INTERN_H

#include "ingest/shim/runtime.h"

struct stack {
    const uint64_t *pc; /* leaf first */
    uint32_t depth;
    uint32_t flags; /* enum segment_stack_flag */
    uint64_t hash;  /* of pc and the epoch, never 0 */
};

/* The id of an index entry, or 0. Two stacks are taken for one when their 64-bit hashes are equal: with a million
 * distinct stacks the chance that any two collide is below 3 in 100 million (n * n / 2^65). */
static ALWAYS_INLINE uint32_t index_find(const struct index *index, uint64_t hash) {
    for (uint64_t slot = hash & index->mask;; slot = (slot + 1) & index->mask) {
        uint64_t found = load_acquire(&index->entries[slot].hash);
        if (likely(found == hash)) return (uint32_t)load_relaxed(&index->entries[slot].id);
        if (found == 0) return 0;
    }
}

uint32_t stack_intern_slowly(const struct stack *stack);
uint32_t lock_intern_slowly(uint64_t hash, void *lock, enum segment_lock_kind kind);

/* 0 when the stack or lock could not be stored (no room, or --profile-max reached). */
static ALWAYS_INLINE uint32_t stack_intern(const struct stack *stack) {
    uint32_t id = index_find(load_acquire(&process->stacks), stack->hash);
    return likely(id) ? id : stack_intern_slowly(stack);
}

static ALWAYS_INLINE uint64_t lock_hash(void *lock) {
    uint64_t x = (uintptr_t)lock * 0x9e3779b97f4a7c15ull;
    return (x ^ x >> 32) | 1ull << 63;
}

static ALWAYS_INLINE uint32_t lock_intern(void *lock, enum segment_lock_kind kind) {
    uint64_t hash = lock_hash(lock);
    uint32_t id = index_find(load_acquire(&process->locks), hash);
    return likely(id) ? id : lock_intern_slowly(hash, lock, kind);
}

/* An empty index with room for `slots` (a power of two); NULL when there is no memory. */
struct index *index_new(uint64_t slots);

#endif
