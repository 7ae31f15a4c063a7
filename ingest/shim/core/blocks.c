#include "ingest/shim/core/blocks.h"

#include <sys/mman.h>

#include "ingest/shim/core/locked_table.h"
#include "ingest/shim/core/slots.h"

HOT_WORD struct block_node **block_root;

enum {
    LOOK_BACK = 1 << BLOCK_LARGE_BITS,
    OVERFLOW_LEVEL_SHIFT = 32, /* above the id */
    LEAF_SLOTS = BLOCK_MARKS_AT + BLOCK_MARKS / sizeof(uint32_t),
    KNOWN_FROM = 4096, /* bytes: smaller blocks are found in few steps, and would take the place of larger ones */
};

static struct locked_table *
    overflow; /* TABLE_SHARDS of them, behind the root: address -> id, level and size of blocks that do not fit the tree */

/* The child at *slot, made where there is none. Threads that race for it agree by compare-and-swap. */
static void *child_of(void **slot, size_t size) {
    void *child = load_acquire(slot), *made;
    if (child || !(made = private_memory(size))) return child;
    if (compare_exchange(slot, &child, made)) return made;
    private_memory_free(made, size);
    return child;
}

/* With FEATURE_LIFETIMES the births follow the entries. A late runtime has room for them always: the next recording may want them. */
static size_t leaf_size(void) {
    bool has_births = process->features & FEATURE_LIFETIMES || is_late();
    return LEAF_SLOTS * sizeof(uint32_t) + (has_births ? BLOCK_LEAF_ENTRIES * sizeof(struct block_birth) : 0);
}

struct block_birth *block_birth(uintptr_t address) {
    const uint32_t *slot = block_slot(address);
    if (!slot) return NULL;
    uintptr_t index = address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1);
    return (struct block_birth *)(slot - index + LEAF_SLOTS) + index;
}

static uint32_t *make_leaf(uintptr_t address) {
    void **place = (void **)&block_root[address >> BLOCK_MID_BITS & (BLOCK_ROOT_ENTRIES - 1)];
    struct block_node *node = child_of(place, sizeof *node);
    return node ? child_of(&node->children[address >> BLOCK_LEAF_BITS & (BLOCK_MID_ENTRIES - 1)], leaf_size()) : NULL;
}

static uint32_t *make_slot(uintptr_t address) {
    if (address >> BLOCK_ADDRESS_BITS || address & 7) return NULL;
    uint32_t *leaf = make_leaf(address);
    return leaf ? &leaf[address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1)] : NULL;
}

/* False when there is no memory. */
static bool mark_address(uintptr_t address) {
    const uint32_t *leaf = make_leaf(address);
    if (leaf) fetch_or_acq_rel(block_marks(leaf, address), block_mark(address));
    return leaf;
}

static bool mark_around(uintptr_t address) {
    const uint32_t *leaf = make_leaf(address);
    if (leaf) store_relaxed(block_marks(leaf, address), BLOCK_MARKS_ALL);
    return leaf;
}

/* So that whoever frees one of its blocks asks. No block of the heap is beside them. */
static bool mark_early_pool(void) {
    for (size_t at = 0; at < EARLY_POOL_SIZE; at += 1 << BLOCK_MARK_BITS)
        if (!mark_around((uintptr_t)early_pool + at)) return false;
    return mark_around((uintptr_t)early_pool + EARLY_POOL_SIZE - 1);
}

bool blocks_start(void) {
    size_t root_size = BLOCK_ROOT_ENTRIES * sizeof *block_root;
    if (!block_root) block_root = wiped_memory(root_size + TABLE_SHARDS * sizeof *overflow);
    if (!block_root) return false;
    overflow = (void *)((char *)block_root + root_size);
    return mark_early_pool();
}

/* --- the side table ------------------------------------------------------------------------------------------- */

static bool overflow_put(uintptr_t address, struct heap_block block) {
    struct table_entry old;
    store_relaxed(&process->has_overflow, 1);
    if (!mark_address(address)) return false;
    uint64_t first = (uint64_t)block.level << OVERFLOW_LEVEL_SHIFT | block.id;
    return table_put(table_shard(overflow, address), (struct table_entry){address, first, block.size}, &old);
}

static struct heap_block overflow_block(struct table_entry entry) {
    return (struct heap_block){
        .id = (uint32_t)entry.first, .level = (uint32_t)(entry.first >> OVERFLOW_LEVEL_SHIFT), .size = entry.second};
}

static bool overflow_take(uintptr_t address, struct heap_block *block) {
    struct table_entry entry;
    if (!table_take(table_shard(overflow, address), address, &entry)) return false;
    *block = overflow_block(entry);
    return true;
}

/* --- the slow paths -------------------------------------------------------------------------------------------- */

/* Whether the block is still there. A torn pair, which another thread writes just now, is equal to no entry. */
static bool is_still_there(const struct known_block *known, uintptr_t start, uint64_t value) {
    const uint32_t *slot = value ? block_slot(start & ~(uintptr_t)7) : NULL;
    return slot && block_load(slot) == value && load_relaxed(&known->start) == start;
}

/* In the place of one that was freed if there is one, else of the oldest. */
static void note_large(uintptr_t address, uint64_t value) {
    size_t next = fetch_add_relaxed(&process->large_next, 1), at = next % LARGE_BLOCKS;
    for (size_t i = 0; i < LARGE_BLOCKS; i++) {
        const struct known_block *known = &process->large_blocks[(next + i) % LARGE_BLOCKS];
        if (is_still_there(known, load_relaxed(&known->start), load_relaxed(&known->value))) continue;
        at = (next + i) % LARGE_BLOCKS;
        break;
    }
    store_relaxed(&process->large_blocks[at].value, 0);
    store_relaxed(&process->large_blocks[at].start, address);
    store_relaxed(&process->large_blocks[at].value, value);
}

COLD bool block_put_slowly(uintptr_t address, struct heap_block block, struct heap_block *stale) {
    uint32_t *slot = make_slot(address);
    uint64_t entry = slot ? block_load(slot) : 0;
    stale->id = 0;
    if (entry && (entry & SLOT_PLACE) == slot_place(address)) {
        *stale = block_unpack(entry);
        slots_empty(slot, entry);
    } else if (!overflow_take(address, stale)) {
        stale->id = 0;
    }
    if (!slot || block.size >> BLOCK_SIZE_BITS || !slots_fill(slot, address, block))
        return overflow_put(address, block);
    if (block.size >> BLOCK_LARGE_BITS) note_large(address, block_load(slot));
    return true;
}

static bool may_have_block(const uint32_t *slot) {
    return load_relaxed(slot) || load_relaxed(&process->has_overflow);
}

/* Who puts a block writes its slots and then the mark. One that came between the two looks here is seen by the second, for the change of the marks is a
 * barrier; until then a free of it would be missed, as one inside a hook is. */
void block_unmark(uintptr_t address) {
    const uint32_t *slot = block_slot(address);
    if (!slot) return;
    uint8_t *marks = block_marks(block_leaf_of(slot, address), address), mark = block_mark(address);
    if (may_have_block(slot)) return;
    fetch_and_acq_rel(marks, (uint8_t)~mark);
    if (may_have_block(slot)) fetch_or_acq_rel(marks, mark);
}

COLD bool block_take_slowly(uintptr_t address, struct heap_block *block) {
    return overflow_take(address, block);
}

/* Where the block begins whose entry is that of the slot of the grain. */
static uintptr_t entry_start(uintptr_t grain, uint64_t entry) {
    return grain | (entry & SLOT_PLACE) << 1;
}

/* So many slots are looked at by loads of four. */
enum { SLOTS_AT_ONCE = 16 };
typedef uint32_t four_slots __attribute__((vector_size(16), may_alias, aligned(4)));

/* Most of a leaf is empty, mostly. */
static bool has_slots(const uint32_t *slots) {
    const volatile four_slots *fours = (const void *)slots;
    four_slots any = fours[0] | fours[1] | fours[2] | fours[3];
    return any[0] | any[1] | any[2] | any[3];
}

static void leaf_each(const uint32_t *leaf, uintptr_t base, void (*visit)(void *, uintptr_t, struct heap_block),
                      void *context) {
    for (uintptr_t i = 0; i < BLOCK_LEAF_ENTRIES; i++) {
        if (i % SLOTS_AT_ONCE == 0 && !has_slots(&leaf[i])) {
            i += SLOTS_AT_ONCE - 1;
            continue;
        }
        uint64_t entry = block_load(&leaf[i]);
        if (entry) visit(context, entry_start(base | i << BLOCK_GRAIN_BITS, entry), block_unpack(entry));
    }
}

void blocks_each(void (*visit)(void *context, uintptr_t address, struct heap_block block), void *context) {
    for (uintptr_t root = 0; root < BLOCK_ROOT_ENTRIES; root++) {
        struct block_node *node = load_acquire(&block_root[root]);
        for (uintptr_t i = 0; node && i < BLOCK_MID_ENTRIES; i++) {
            const uint32_t *leaf = load_acquire((uint32_t **)&node->children[i]);
            if (leaf) leaf_each(leaf, root << BLOCK_MID_BITS | i << BLOCK_LEAF_BITS, visit, context);
        }
    }
    for (size_t shard = 0; shard < TABLE_SHARDS; shard++)
        for (uint64_t slot = 0; slot < overflow[shard].slots; slot++) {
            struct table_entry entry = overflow[shard].entries[slot];
            if (!entry.key) continue;
            visit(context, entry.key, overflow_block(entry));
        }
}

/* The pages are zeros again, at the same addresses: a hook that began before the end may still be at one. */
void blocks_forget(void) {
    for (uintptr_t root = 0; block_root && root < BLOCK_ROOT_ENTRIES; root++) {
        struct block_node *node = load_acquire(&block_root[root]);
        for (uintptr_t i = 0; node && i < BLOCK_MID_ENTRIES; i++)
            if (load_acquire(&node->children[i])) madvise(node->children[i], leaf_size(), MADV_DONTNEED);
    }
    for (size_t shard = 0; block_root && shard < TABLE_SHARDS; shard++)
        for (uint64_t slot = 0; slot < overflow[shard].slots; slot++) {
            struct table_entry old;
            uint64_t key = load_relaxed(&overflow[shard].entries[slot].key);
            while (key && table_take(&overflow[shard], key, &old))
                key = load_relaxed(&overflow[shard].entries[slot].key);
        }
}

/* The region of 1 MiB that an address is in. Each has the block around it that was found last, modulo the size of the
 * cache. */
static struct known_block *known_around(uintptr_t address) {
    return &process->known_blocks[address / LOOK_BACK % KNOWN_BLOCKS];
}

/* Whether the block is still there, and holds the address. */
static bool is_in_known(const struct known_block *known, uintptr_t address) {
    if (!known->value || address < known->start || address - known->start >= block_unpack(known->value).size)
        return false;
    const uint32_t *slot = block_slot(known->start & ~(uintptr_t)7);
    return slot && block_load(slot) == known->value;
}

static bool find_around(uintptr_t address, struct known_block *found) {
    uintptr_t lowest = address > LOOK_BACK ? address - LOOK_BACK : 0;
    for (uintptr_t at = address | ((1 << BLOCK_GRAIN_BITS) - 1); at > lowest; at -= 1 << BLOCK_GRAIN_BITS) {
        const uint32_t *slot = block_slot(at & ~(uintptr_t)7);
        uint64_t value = slot ? block_load(slot) : 0;
        if (!value || (slot && block_load(slot) != value)) continue;
        uintptr_t start = entry_start(at & ~(uintptr_t)((1 << BLOCK_GRAIN_BITS) - 1), value);
        if (start > address) continue;
        *found = (struct known_block){start, value};
        return address - start < block_unpack(value).size;
    }
    return false;
}

static bool find_known(const struct known_block *blocks, size_t count, uintptr_t address, struct known_block *found) {
    for (size_t i = 0; i < count; i++) {
        *found = (struct known_block){load_relaxed(&blocks[i].start), load_relaxed(&blocks[i].value)};
        if (is_in_known(found, address)) return true;
    }
    return false;
}

bool block_around(uintptr_t address, struct heap_block *block, uint64_t *offset) {
    struct known_block *known = known_around(address), found;
    if (is_in_known(known, address))
        found = *known;
    else if (!find_known(process->known_blocks, KNOWN_BLOCKS, address, &found) &&
             !find_known(process->large_blocks, LARGE_BLOCKS, address, &found) && !find_around(address, &found))
        return false;
    if (block_unpack(found.value).size >= KNOWN_FROM) *known = found;
    *block = block_unpack(found.value);
    *offset = address - found.start;
    return true;
}
