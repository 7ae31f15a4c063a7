/* blocks.h: maps the address of a live block to the stack that allocated it and to its size.
 *
 * A radix tree over the 47-bit address space with a slot of 4 bytes for every 32 bytes of heap (a grain). Its nodes
 * are made where there are blocks. It needs no hash, no lock and no pause to grow, and neighbours in the heap are
 * neighbours here.
 *
 * A block of 64 bytes and more has two grains that no other block begins in, so it takes two slots (wide): with one entry of
 * 8 bytes a grain, the tree took a quarter of the heap. A smaller one takes one slot, where its size fits beside the stack.
 *
 * glibc never has two blocks in one grain. Blocks that share one (size classes of 8 bytes in jemalloc and tcmalloc),
 * that do not begin at a multiple of 8 (a program's own arena), that overlap one whose free no hook saw, that have 1 GiB and
 * more, or that are small and of a stack beyond the first 2^22 (2^18 with a budget), go to a locked side table.
 *
 * Where allocations are sampled, most frees are of blocks that are not here. Behind the slots of a leaf there is a bit, its mark, for each grain, in a
 * byte for four of them: 0 says that no block was put there. So a free that is passed over does not read the slots, which are an eighth of the heap: of
 * a heap of 1 MiB those took the first-level cache. (With one mark for 128 bytes, blocks that are used over and over beside one that is noted
 * and stays were asked for each time: a sixth of what a budget took of sqlite3.)
 *
 * The slots of a block are written by the thread that allocates or frees it, and by no other at that time. block_around reads
 * those of others, and may meet a pair of which one is old; it asks again. So relaxed loads and stores suffice. */
#ifndef CLEAR_SHIM_BLOCKS_H
#define CLEAR_SHIM_BLOCKS_H

#include "ingest/shim/core/real.h"
#include "ingest/shim/core/runtime.h"

enum {
    BLOCK_GRAIN_BITS = 5,
    BLOCK_LEAF_BITS = 22, /* a leaf covers 4 MiB with 512 KiB of slots */
    BLOCK_MID_BITS = 35,  /* a middle node covers 32 GiB with 64 KiB of pointers */
    BLOCK_ADDRESS_BITS = 47,
    BLOCK_LEAF_ENTRIES = 1 << (BLOCK_LEAF_BITS - BLOCK_GRAIN_BITS),
    BLOCK_MID_ENTRIES = 1 << (BLOCK_MID_BITS - BLOCK_LEAF_BITS),
    BLOCK_ROOT_ENTRIES = 1 << (BLOCK_ADDRESS_BITS - BLOCK_MID_BITS),
    BLOCK_MARK_BITS = 7, /* a byte of marks covers 128 bytes */
    BLOCK_MARK_SLOTS = 1 << (BLOCK_MARK_BITS - BLOCK_GRAIN_BITS),
    BLOCK_MARKS_ALL = (1 << BLOCK_MARK_SLOTS) - 1,
    BLOCK_MARKS = 1 << (BLOCK_LEAF_BITS - BLOCK_MARK_BITS),
    BLOCK_MARKS_AT = BLOCK_LEAF_ENTRIES + 16, /* the last block of a leaf may need one slot more; births stay aligned */
    BLOCK_LEVEL_BITS = 4,
    BLOCK_SIZE_BITS = 30,
    BLOCK_WIDE_FROM = 64,  /* bytes: two grains at least */
    BLOCK_LARGE_BITS = 20, /* a block of 1 MiB or more is put by the slow path, which notes it for block_around */
};

/* What a slot is, in its lowest 2 bits; a slot that is 0 is free. Behind them are 2 bits for the position in the grain (in steps
 * of 8 bytes), but in SLOT_SIZE. */
enum {
    SLOT_NARROW = 0,       /* 6 bits size, 22 bits stack id; level 0 */
    SLOT_NARROW_LEVEL = 1, /* 6 bits size, 4 bits level, 18 bits stack id */
    SLOT_WIDE = 2,         /* 4 bits level, 24 bits stack id; the next slot is SLOT_SIZE */
    SLOT_SIZE = 3,         /* 30 bits size */
    SLOT_KIND = 3,
    SLOT_PLACE = 12, /* mask */
    NARROW_SIZE_SHIFT = 4,
    NARROW_ID_SHIFT = 10,
    NARROW_LEVEL_ID_SHIFT = NARROW_ID_SHIFT + BLOCK_LEVEL_BITS,
    WIDE_LEVEL_SHIFT = 4,
    WIDE_ID_SHIFT = WIDE_LEVEL_SHIFT + BLOCK_LEVEL_BITS,
    SIZE_SHIFT = 2,
};

/* What the slots of a block say. As one number, its entry: the first slot, and above it the second one of a wide block; 0 is none. */
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

extern HIDDEN struct block_node **block_root; /* BLOCK_ROOT_ENTRIES of them; set before the process is READY */

bool blocks_start(void); /* false when there is no memory */
void blocks_forget(
    void); /* of a late runtime whose recording is over: the next one starts without them, in the same memory */

/* 2 loads beyond the root pointer. NULL where no block was put into that part of the tree. Of addresses beyond the tree it is that of others. */
static ALWAYS_INLINE uint32_t *block_leaf(uintptr_t address) {
    struct block_node *node = load_acquire(&block_root[address >> BLOCK_MID_BITS & (BLOCK_ROOT_ENTRIES - 1)]);
    if (unlikely(!node)) return NULL;
    return load_acquire((uint32_t **)&node->children[address >> BLOCK_LEAF_BITS & (BLOCK_MID_ENTRIES - 1)]);
}

/* The slot of the grain of `address`, or NULL where no block was put into its part of the tree. The one behind it may be read, too. */
static ALWAYS_INLINE uint32_t *block_slot(uintptr_t address) {
    if (unlikely(address >> BLOCK_ADDRESS_BITS || address & 7)) return NULL;
    uint32_t *leaf = block_leaf(address);
    return likely(leaf) ? &leaf[address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1)] : NULL;
}

/* The birth beside that entry; NULL where there is none. Only with FEATURE_LIFETIMES. */
struct block_birth *block_birth(uintptr_t address);

static ALWAYS_INLINE uint32_t slot_place(uintptr_t address) {
    return address >> 1 & SLOT_PLACE;
}

/* Whether the slot is the first one of a block at the address. */
static ALWAYS_INLINE bool slot_is_of(uint32_t slot, uintptr_t address) {
    return slot && (slot & SLOT_KIND) != SLOT_SIZE && (slot & SLOT_PLACE) == slot_place(address);
}

static ALWAYS_INLINE struct heap_block block_unpack(uint64_t entry) {
    uint32_t slot = (uint32_t)entry, level_mask = (1u << BLOCK_LEVEL_BITS) - 1;
    if (likely((slot & SLOT_KIND) == SLOT_WIDE))
        return (struct heap_block){.id = slot >> WIDE_ID_SHIFT,
                                   .level = slot >> WIDE_LEVEL_SHIFT & level_mask,
                                   .size = entry >> (32 + SIZE_SHIFT)};
    struct heap_block block = {.id = slot >> NARROW_ID_SHIFT,
                               .size = slot >> NARROW_SIZE_SHIFT & (BLOCK_WIDE_FROM - 1)};
    if (unlikely((slot & SLOT_KIND) == SLOT_NARROW_LEVEL)) {
        block.level = block.id & level_mask;
        block.id >>= BLOCK_LEVEL_BITS;
    }
    return block;
}

/* The entry of the block whose first slot that is; 0 where none begins there. */
static ALWAYS_INLINE uint64_t block_load(const uint32_t *slot) {
    uint32_t first = load_relaxed(&slot[0]);
    if ((first & SLOT_KIND) == SLOT_WIDE) return (uint64_t)load_relaxed(&slot[1]) << 32 | first;
    return (first & SLOT_KIND) == SLOT_SIZE ? 0 : first;
}

/* 0: it does not fit. */
static ALWAYS_INLINE uint32_t block_pack_narrow(uintptr_t address, struct heap_block block) {
    uint32_t both = slot_place(address) | (uint32_t)block.size << NARROW_SIZE_SHIFT;
    if (likely(!block.level))
        return block.id >> (32 - NARROW_ID_SHIFT) ? 0 : both | block.id << NARROW_ID_SHIFT | SLOT_NARROW;
    if (block.id >> (32 - NARROW_LEVEL_ID_SHIFT)) return 0;
    return both | block.level << NARROW_ID_SHIFT | block.id << NARROW_LEVEL_ID_SHIFT | SLOT_NARROW_LEVEL;
}

/* The byte with the mark of the address, in its leaf, and the mark. */
static ALWAYS_INLINE uint8_t *block_marks(const uint32_t *leaf, uintptr_t address) {
    return (uint8_t *)&leaf[BLOCK_MARKS_AT] + (address >> BLOCK_MARK_BITS & (BLOCK_MARKS - 1));
}
static ALWAYS_INLINE uint8_t block_mark(uintptr_t address) {
    return (uint8_t)(1u << (address >> BLOCK_GRAIN_BITS & (BLOCK_MARK_SLOTS - 1)));
}

/* The leaf whose slot of the address that is. */
static ALWAYS_INLINE const uint32_t *block_leaf_of(const uint32_t *slot, uintptr_t address) {
    return slot - (address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1));
}

/* Puts a block of less than 1 GiB where its slots are free; else, or where it does not fit, false. */
static ALWAYS_INLINE bool slots_fill(uint32_t *slot, uintptr_t address, struct heap_block block) {
    uint32_t value;
    if (load_relaxed(&slot[0])) return false;
    if (block.size < BLOCK_WIDE_FROM) {
        if (unlikely(!(value = block_pack_narrow(address, block)))) return false;
    } else {
        if (unlikely(load_relaxed(&slot[1]))) return false;
        store_relaxed(&slot[1], (uint32_t)block.size << SIZE_SHIFT | SLOT_SIZE);
        value = block.id << WIDE_ID_SHIFT | block.level << WIDE_LEVEL_SHIFT | slot_place(address) | SLOT_WIDE;
    }
    store_release(&slot[0], value);
    if (unlikely(load_relaxed(&heap_mode) == HEAP_SAMPLED))
        fetch_or_acq_rel(block_marks(block_leaf_of(slot, address), address), block_mark(address));
    return true;
}

static ALWAYS_INLINE void slots_empty(uint32_t *slot, uint64_t entry) {
    store_relaxed(&slot[0], 0);
    if ((entry & SLOT_KIND) == SLOT_WIDE) store_relaxed(&slot[1], 0);
}

bool block_put_slowly(uintptr_t address, struct heap_block block, struct heap_block *stale);
bool block_take_slowly(uintptr_t address, struct heap_block *block);

/* Puts a new block. False when there is no memory. When a block was still there, no hook saw its free (it happened
 * inside a hook, or around the hooks): then *stale is that block, else stale->id is 0. */
static ALWAYS_INLINE bool block_put(uintptr_t address, struct heap_block block, struct heap_block *stale) {
    uint32_t *slot = block_slot(address);
    stale->id = 0;
    if (likely(slot && block.size >> BLOCK_LARGE_BITS == 0 && slots_fill(slot, address, block))) return true;
    return block_put_slowly(address, block, stale);
}

/* Takes a block out; false where it is not known. */
static ALWAYS_INLINE bool block_take(uintptr_t address, struct heap_block *block) {
    uint32_t *slot = block_slot(address);
    uint64_t entry = slot ? block_load(slot) : 0;
    if (likely(entry && (entry & SLOT_PLACE) == slot_place(address))) {
        slots_empty(slot, entry);
        *block = block_unpack(entry);
        return true;
    }
    return block_take_slowly(address, block);
}

/* The block at the address; of id 0 where there is none, or in the side table. Of another thread's it may be too old. */
static ALWAYS_INLINE struct heap_block block_look(uintptr_t address) {
    const uint32_t *slot = block_slot(address);
    uint64_t entry = slot ? block_load(slot) : 0;
    return block_unpack((entry & SLOT_PLACE) == slot_place(address) ? entry : 0);
}

/* Where allocations are sampled: whether a free must be looked at, or the block is of the early pool; false is sure. In a forked child the root is
 * zeros until that records. */
static ALWAYS_INLINE bool block_is_marked(uintptr_t address) {
    const uint32_t *leaf = block_leaf(address);
    if (unlikely(!leaf)) return is_pool_block((const void *)address);
    return unlikely(load_relaxed(block_marks(leaf, address)) & block_mark(address));
}
/* Takes the mark away where no block is left in the grain. */
void block_unmark(uintptr_t address);

/* Whether there may be a block at the address; false is sure. A process that does not record yet, a forked child too, has none. */
static ALWAYS_INLINE bool block_may_be_noted(uintptr_t address) {
    if (load_relaxed(&process->state) != PROCESS_READY) return false;
    const uint32_t *slot = block_slot(address);
    return (slot && load_relaxed(slot)) || load_relaxed(&process->has_overflow);
}

/* Calls `visit` for every block, those of the tree by address and then those of the side table. */
void blocks_each(void (*visit)(void *context, uintptr_t address, struct heap_block block), void *context);

/* The live block that holds `address`, and the distance from its start. Looks back at most 1 MiB, a step for each grain,
 * unless the block is one of those that it found last: then it takes a few loads (100,000 locks in one block took 86 us
 * each). Of larger blocks the LARGE_BLOCKS newest are known. For the names of locks. Needs process->lock. */
bool block_around(uintptr_t address, struct heap_block *block, uint64_t *offset);

#endif
