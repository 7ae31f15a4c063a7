/* blocks.h: which stack allocated the block at an address, and how large it is.
 *
 * A radix tree over the 47-bit address space with 8 bytes for every 32 bytes of heap, made lazily where there are blocks:
 * no hashing, no lock, no growth pauses, and neighbours in the heap are neighbours here. glibc never has two blocks
 * within 32 bytes; blocks that are nearer to each other (jemalloc, tcmalloc: 8-byte classes), that begin at no multiple of 8 (an
 * arena of the program's own), or that are 256 GiB and more, go to a small
 * locked side table. Only the thread that owns a block touches its entry, so entries need no atomics beyond untorn stores. */
#ifndef CLEAR_SHIM_BLOCKS_H
#define CLEAR_SHIM_BLOCKS_H

#include "ingest/shim/runtime.h"

enum {
    BLOCK_GRAIN_BITS = 5,
    BLOCK_LEAF_BITS = 22, /* a leaf covers 4 MiB with 1 MiB of entries */
    BLOCK_MID_BITS = 35,  /* a middle node covers 32 GiB with 64 KiB of pointers */
    BLOCK_ADDRESS_BITS = 47,
    BLOCK_LEAF_ENTRIES = 1 << (BLOCK_LEAF_BITS - BLOCK_GRAIN_BITS),
    BLOCK_MID_ENTRIES = 1 << (BLOCK_MID_BITS - BLOCK_LEAF_BITS),
    BLOCK_ROOT_ENTRIES = 1 << (BLOCK_ADDRESS_BITS - BLOCK_MID_BITS),
    BLOCK_SIZE_BITS = 38,
};

/* An entry: 2 bits which of the 4 eight-byte steps inside the grain, 24 bits stack id, 38 bits size. 0 is "no block". */
struct heap_block {
    uint32_t id;
    uint64_t size;
};

struct block_node {
    void *children[BLOCK_MID_ENTRIES];
};

extern struct block_node **block_root; /* BLOCK_ROOT_ENTRIES of them; good once the process is READY */

bool blocks_start(void);

/* The entry of the grain of `address`, or NULL where nothing near was ever put. 2 loads beyond the root pointer. */
static ALWAYS_INLINE uint64_t *block_entry(uintptr_t address) {
    if (unlikely(address >> BLOCK_ADDRESS_BITS || address & 7)) return NULL;
    struct block_node *node = load_acquire(&block_root[address >> BLOCK_MID_BITS]);
    if (unlikely(!node)) return NULL;
    uint64_t *leaf = load_acquire((uint64_t **)&node->children[address >> BLOCK_LEAF_BITS & (BLOCK_MID_ENTRIES - 1)]);
    if (unlikely(!leaf)) return NULL;
    return &leaf[address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1)];
}

static ALWAYS_INLINE uint64_t block_pack(uintptr_t address, struct heap_block block) {
    return (address >> 3 & 3) << 62 | (uint64_t)block.id << BLOCK_SIZE_BITS | block.size;
}

static ALWAYS_INLINE struct heap_block block_unpack(uint64_t entry) {
    return (struct heap_block){.id = entry >> BLOCK_SIZE_BITS & STACK_ID_MAX,
                               .size = entry & ((1ull << BLOCK_SIZE_BITS) - 1)};
}

bool block_put_slowly(uintptr_t address, struct heap_block block, struct heap_block *stale);
bool block_take_slowly(uintptr_t address, struct heap_block *block);

/* Note a new block. False when it could not be noted. Where the address was still noted, its free was missed (it happened inside a
 * hook, or by a way around the hooks): then that block is returned in *stale, else stale->id is 0. */
static ALWAYS_INLINE bool block_put(uintptr_t address, struct heap_block block, struct heap_block *stale) {
    uint64_t *entry = block_entry(address);
    stale->id = 0;
    if (likely(entry && block.size >> BLOCK_SIZE_BITS == 0 && load_relaxed(entry) == 0)) {
        store_relaxed(entry, block_pack(address, block));
        return true;
    }
    return block_put_slowly(address, block, stale);
}

/* Forget a block and return it; false where it is not known. */
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

/* Whether the address may be noted; false is sure. The process must be READY. */
static ALWAYS_INLINE bool block_is_noted(uintptr_t address) {
    const uint64_t *entry = block_entry(address);
    return (entry && load_relaxed(entry)) || load_relaxed(&process->has_overflow);
}

/* The live block that holds `address` and the distance from its start; looks back at most 1 MiB. For naming locks. */
bool block_around(uintptr_t address, struct heap_block *block, uint64_t *offset);

#endif
