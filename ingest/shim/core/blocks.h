/* blocks.h: maps the address of a live block to the stack that allocated it and to its size.
 *
 * A radix tree over the 47-bit address space with an entry of 8 bytes for every 32 bytes of heap (a grain). Its nodes
 * are made where there are blocks. It needs no hash, no lock and no pause to grow, and neighbours in the heap are
 * neighbours here.
 *
 * glibc never has two blocks in one grain. Blocks that share one (size classes of 8 bytes in jemalloc and tcmalloc),
 * that do not begin at a multiple of 8 (a program's own arena), or that have 16 GiB and more, go to a locked side
 * table.
 *
 * An entry is written by the thread that allocates or frees its block, and by no other at that time. block_around reads
 * those of others. So relaxed loads and stores suffice. */
#ifndef CLEAR_SHIM_BLOCKS_H
#define CLEAR_SHIM_BLOCKS_H

#include "ingest/shim/core/runtime.h"

enum {
    BLOCK_GRAIN_BITS = 5,
    BLOCK_LEAF_BITS = 22, /* a leaf covers 4 MiB with 1 MiB of entries */
    BLOCK_MID_BITS = 35,  /* a middle node covers 32 GiB with 64 KiB of pointers */
    BLOCK_ADDRESS_BITS = 47,
    BLOCK_LEAF_ENTRIES = 1 << (BLOCK_LEAF_BITS - BLOCK_GRAIN_BITS),
    BLOCK_MID_ENTRIES = 1 << (BLOCK_MID_BITS - BLOCK_LEAF_BITS),
    BLOCK_ROOT_ENTRIES = 1 << (BLOCK_ADDRESS_BITS - BLOCK_MID_BITS),
    BLOCK_SIZE_BITS = 34,
    BLOCK_LEVEL_BITS = 4,
    BLOCK_ID_SHIFT = BLOCK_SIZE_BITS + BLOCK_LEVEL_BITS,
    BLOCK_LARGE_BITS = 20, /* a block of 1 MiB or more is put by the slow path, which notes it for block_around */
};

/* An unpacked entry. Packed: 2 bits for the position in the grain (in steps of 8 bytes), 24 bits stack id, 4 bits level, 34 bits
 * size; 0 is no block. */
struct heap_block {
    uint32_t id;
    uint32_t level; /* of sampling, when it was allocated (sample.h) */
    uint64_t size;
};

/* What births.h keeps of a block, beside its entry. */
struct block_birth {
    uint64_t ticks;     /* when it was allocated; 0: no block that is known */
    uint32_t allocated; /* blocks that the thread had allocated, modulo 2^32 */
    uint32_t thread;    /* its number, and in the lowest 2 bits the position in the grain */
};

struct block_node {
    void *children[BLOCK_MID_ENTRIES];
};

extern struct block_node **block_root; /* BLOCK_ROOT_ENTRIES of them; set before the process is READY */

bool blocks_start(void); /* false when there is no memory */
void blocks_forget(
    void); /* of a late runtime whose recording is over: the next one starts without them, in the same memory */

/* The entry of the grain of `address`, or NULL where no block was put into its part of the tree. 2 loads beyond the
 * root pointer. */
static ALWAYS_INLINE uint64_t *block_entry(uintptr_t address) {
    if (unlikely(address >> BLOCK_ADDRESS_BITS || address & 7)) return NULL;
    struct block_node *node = load_acquire(&block_root[address >> BLOCK_MID_BITS]);
    if (unlikely(!node)) return NULL;
    uint64_t *leaf = load_acquire((uint64_t **)&node->children[address >> BLOCK_LEAF_BITS & (BLOCK_MID_ENTRIES - 1)]);
    if (unlikely(!leaf)) return NULL;
    return &leaf[address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1)];
}

/* The birth beside that entry; NULL where there is none. Only with FEATURE_LIFETIMES. */
struct block_birth *block_birth(uintptr_t address);

static ALWAYS_INLINE uint64_t block_pack(uintptr_t address, struct heap_block block) {
    return (address >> 3 & 3) << 62 | (uint64_t)block.id << BLOCK_ID_SHIFT | (uint64_t)block.level << BLOCK_SIZE_BITS |
           block.size;
}

static ALWAYS_INLINE struct heap_block block_unpack(uint64_t entry) {
    return (struct heap_block){.id = entry >> BLOCK_ID_SHIFT & STACK_ID_MAX,
                               .level = entry >> BLOCK_SIZE_BITS & ((1u << BLOCK_LEVEL_BITS) - 1),
                               .size = entry & ((1ull << BLOCK_SIZE_BITS) - 1)};
}

bool block_put_slowly(uintptr_t address, struct heap_block block, struct heap_block *stale);
bool block_take_slowly(uintptr_t address, struct heap_block *block);

/* Puts a new block. False when there is no memory. When a block was still there, no hook saw its free (it happened
 * inside a hook, or around the hooks): then *stale is that block, else stale->id is 0. */
static ALWAYS_INLINE bool block_put(uintptr_t address, struct heap_block block, struct heap_block *stale) {
    uint64_t *entry = block_entry(address);
    stale->id = 0;
    if (likely(entry && block.size >> BLOCK_LARGE_BITS == 0 && load_relaxed(entry) == 0)) {
        store_relaxed(entry, block_pack(address, block));
        return true;
    }
    return block_put_slowly(address, block, stale);
}

/* Takes a block out; false where it is not known. */
static ALWAYS_INLINE bool block_take(uintptr_t address, struct heap_block *block) {
    uint64_t *entry = block_entry(address);
    uint64_t value = entry ? load_relaxed(entry) : 0;
    if (likely(value && value >> 62 == (address >> 3 & 3))) {
        store_relaxed(entry, 0);
        *block = block_unpack(value);
        return true;
    }
    return block_take_slowly(address, block);
}

/* The block at the address; of id 0 where there is none, or in the side table. Of another thread's it may be too old. */
static ALWAYS_INLINE struct heap_block block_look(uintptr_t address) {
    const uint64_t *entry = block_entry(address);
    uint64_t value = entry ? load_relaxed(entry) : 0;
    return block_unpack(value >> 62 == (address >> 3 & 3) ? value : 0);
}

/* Whether there may be a block at the address; false is sure. The process must be READY. */
static ALWAYS_INLINE bool block_is_noted(uintptr_t address) {
    const uint64_t *entry = block_entry(address);
    return (entry && load_relaxed(entry)) || load_relaxed(&process->has_overflow);
}

/* Calls `visit` for every block, those of the tree by address and then those of the side table. */
void blocks_each(void (*visit)(void *context, uintptr_t address, struct heap_block block), void *context);

/* The live block that holds `address`, and the distance from its start. Looks back at most 1 MiB, a step for each grain,
 * unless the block is one of those that it found last: then it takes a few loads (100,000 locks in one block took 86 us
 * each). Of larger blocks the LARGE_BLOCKS newest are known. For the names of locks. Needs process->lock. */
bool block_around(uintptr_t address, struct heap_block *block, uint64_t *offset);

#endif
