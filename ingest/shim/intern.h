/* intern.h: stacks, and locks, cells, channels and task sites, to dense ids, from 1. */
#ifndef CLEAR_SHIM_INTERN_H
#define CLEAR_SHIM_INTERN_H

#include "ingest/shim/runtime.h"

struct walked_stack {
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

/* 0 when the stack could not be stored (no room, or --profile-max reached). */
uint32_t stack_intern_slowly(struct thread *thread, const struct walked_stack *stack);

static ALWAYS_INLINE uint32_t stack_intern(struct thread *thread, const struct walked_stack *stack) {
    uint32_t id = index_find(load_acquire(&process->stacks), stack->hash);
    return likely(id) ? id : stack_intern_slowly(thread, stack);
}

/* What tells one object from another: classes may share an address (a cell whose first member is its lock). */
enum object_class { CLASS_LOCK = 1, CLASS_CELL, CLASS_CHANNEL, CLASS_TASK_SITE };

struct object_key {
    uintptr_t address;
    enum object_class class;
    uint32_t part; /* of a lock or cell: the caller's stack, or 0; of a task site: the scheduler + 1, or 0 */
};

/* 0 when it could not be stored. */
uint32_t object_intern_slowly(struct thread *thread, struct object_key key, enum segment_object_kind kind);

static ALWAYS_INLINE uint64_t object_hash(struct object_key key) {
    uint64_t x = ((uint64_t)key.address ^ (uint64_t)key.part << 40 ^ (uint64_t)key.class << 61) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 32) * 0xff51afd7ed558ccdull;
    return (x ^ x >> 32) | 1ull << 63;
}

static ALWAYS_INLINE uint32_t object_intern(struct thread *thread, struct object_key key,
                                            enum segment_object_kind kind) {
    uint32_t id = index_find(load_acquire(&process->objects), object_hash(key));
    return likely(id) ? id : object_intern_slowly(thread, key, kind);
}

/* A channel and what is known of it; an address that was known with another capacity or name becomes another object. */
uint32_t channel_intern(struct thread *thread, uintptr_t address, uint64_t capacity, const char *name);

/* An empty index with room for `slots` (a power of two); NULL when there is no memory. */
struct index *index_new(uint64_t slots);

#endif
