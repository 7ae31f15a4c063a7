/* intern.h: gives dense ids, from 1, to stacks and to objects (locks, cells, channels, task sites), and stores each in
 * the segment once. */
#ifndef CLEAR_SHIM_INTERN_H
#define CLEAR_SHIM_INTERN_H

#include "ingest/shim/core/runtime.h"

struct walked_stack {
    const uint64_t *pc; /* leaf first */
    uint32_t depth;
    uint32_t flags; /* enum segment_stack_flag */
    uint64_t hash;  /* of pc and the epoch, never 0 */
};

/* The id of a hash, or 0. Two stacks count as one when their hashes are equal. These have 63 bits (the highest is
 * always set), so with a million distinct stacks the probability that any two collide is below 6 in 100 million (n * n
 * / 2^64). */
static ALWAYS_INLINE uint32_t index_find(const struct index *index, uint64_t hash) {
    for (uint64_t slot = hash & index->mask;; slot = (slot + 1) & index->mask) {
        uint64_t found = load_acquire(&index->entries[slot].hash);
        if (likely(found == hash)) return (uint32_t)load_relaxed(&index->entries[slot].id);
        if (found == 0) return 0;
    }
}

/* Has what index_find will look at brought near: of many stacks it is in none of the caches. */
static ALWAYS_INLINE void stack_expect(uint64_t hash) {
    const struct index *index = load_acquire(&process->stacks);
    __builtin_prefetch(&index->entries[hash & index->mask]);
}

/* The id of a stack, stored where it is new; beyond --profile-max that of its innermost frames, which is marked as
 * truncated and counted so. 0 when it could not be stored: no room. */
uint32_t stack_intern_slowly(struct thread *thread, const struct walked_stack *stack);

static ALWAYS_INLINE uint32_t stack_intern(struct thread *thread, const struct walked_stack *stack) {
    uint32_t id = index_find(load_acquire(&process->stacks), stack->hash);
    return likely(id) ? id : stack_intern_slowly(thread, stack);
}

/* Objects of different classes may have one address: a cell whose first member is its lock. */
enum object_class { CLASS_LOCK = 1, CLASS_CELL, CLASS_CHANNEL, CLASS_TASK_SITE, CLASS_WAIT, CLASS_NAME };

struct object_key {
    uintptr_t address;
    enum object_class class;
    uint32_t part;   /* of a lock, cell or wait: the caller's stack, or 0; of a task site: the scheduler + 1, or 0 */
    uint32_t first;  /* of a lock or wait that is met now: the caller's stack; no part of the key */
    uintptr_t guard; /* of a condition variable that is met now: its mutex; no part of the key */
};

/* As stack_intern. */
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

/* Another object may lie at that address from now on; `hash` is that of one of its keys. Needs process->lock. */
void object_forget(uint64_t address, uint64_t hash);

/* The id of a channel that was opened. An address that was open with another capacity or name becomes another
 * object. */
uint32_t channel_intern(struct thread *thread, uintptr_t address, uint64_t capacity, const char *name);

/* The id of a name, of which the first 47 bytes count; 0 when it could not be stored. Two names count as one when their hashes
 * are equal, as stacks do. */
uint32_t name_intern(struct thread *thread, const char *name);

/* Adds a hash that is not in the index, which may be replaced by a larger one. False: no memory. The caller is the only writer. */
bool index_put(struct index **place, uint64_t hash, uint64_t id);

/* An empty index with room for `slots` (a power of two); NULL when there is no memory. */
struct index *index_new(uint64_t slots);
struct index *index_small(struct thread *thread); /* of INDEX_SMALL slots; the thread's own */

#endif
