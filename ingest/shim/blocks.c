#include "ingest/shim/blocks.h"

#include <sys/mman.h>

struct block_node **block_root;

enum { OVERFLOW_FIRST = 1 << 12, LOOK_BACK = 1 << 20 };

/* What does not fit the tree: open addressing by address, one lock, backward-shift deletion. Lives in `struct overflow` that a
 * fork must not keep, as everything here, so it hangs off block_root's memory. */
struct overflow_entry {
    uintptr_t address; /* 0 is free */
    struct block block;
};
struct overflow {
    uint32_t lock;
    uint64_t count, slots;
    struct overflow_entry *entries;
};

static struct overflow *overflow;

bool blocks_start(void) {
    size_t root_size = BLOCK_ROOT_ENTRIES * sizeof *block_root;
    block_root = private_memory(root_size + sizeof *overflow);
    if (block_root) overflow = (void *)((char *)block_root + root_size);
    return block_root != NULL;
}

/* The child at *slot, made where there is none. Threads that race for it agree by compare-and-swap. */
static void *child_of(void **slot, size_t size) {
    void *child = load_acquire(slot), *made;
    if (child || !(made = private_memory(size))) return child;
    if (compare_exchange(slot, &child, made)) return made;
    private_memory_free(made, size);
    return child;
}

static uint64_t *make_entry(uintptr_t address) {
    if (address >> BLOCK_ADDRESS_BITS) return NULL;
    struct block_node *node = child_of((void **)&block_root[address >> BLOCK_MID_BITS], sizeof *node);
    if (!node) return NULL;
    uint64_t *leaf = child_of(&node->children[address >> BLOCK_LEAF_BITS & (BLOCK_MID_ENTRIES - 1)],
                              BLOCK_LEAF_ENTRIES * sizeof *leaf);
    return leaf ? &leaf[address >> BLOCK_GRAIN_BITS & (BLOCK_LEAF_ENTRIES - 1)] : NULL;
}

/* --- the side table ------------------------------------------------------------------------------------------- */

static void overflow_lock(void) {
    while (exchange_acq_rel(&overflow->lock, 1))
        __builtin_ia32_pause();
}

static void overflow_unlock(void) {
    store_release(&overflow->lock, 0);
}

static uint64_t overflow_slot(uintptr_t address) {
    return (address * 0x9e3779b97f4a7c15ull >> 20) & (overflow->slots - 1);
}

static struct overflow_entry *overflow_find(uintptr_t address) {
    uint64_t slot = overflow_slot(address);
    while (overflow->entries[slot].address && overflow->entries[slot].address != address)
        slot = (slot + 1) & (overflow->slots - 1);
    return &overflow->entries[slot];
}

static bool overflow_grow(void) {
    struct overflow old = *overflow;
    uint64_t slots = old.slots ? old.slots * 2 : OVERFLOW_FIRST;
    struct overflow_entry *entries = private_memory(slots * sizeof *entries);
    if (!entries) return false;
    overflow->entries = entries;
    overflow->slots = slots;
    for (uint64_t i = 0; i < old.slots; i++)
        if (old.entries[i].address) *overflow_find(old.entries[i].address) = old.entries[i];
    if (old.entries) private_memory_free(old.entries, old.slots * sizeof *entries);
    return true;
}

static bool overflow_put(uintptr_t address, struct block block, struct block *stale) {
    overflow_lock();
    bool room = overflow->count * 2 < overflow->slots || overflow_grow();
    if (room) {
        struct overflow_entry *entry = overflow_find(address);
        if (entry->address)
            *stale = entry->block;
        else
            store_relaxed(&overflow->count, overflow->count + 1);
        *entry = (struct overflow_entry){address, block};
    }
    overflow_unlock();
    return room;
}

/* Moves later entries of the run back over the hole, so that every entry stays reachable from its own slot. */
static void overflow_remove(struct overflow_entry *hole) {
    uint64_t mask = overflow->slots - 1, at = (uint64_t)(hole - overflow->entries), next = at;
    for (;;) {
        next = (next + 1) & mask;
        if (!overflow->entries[next].address) break;
        uint64_t home = overflow_slot(overflow->entries[next].address);
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        overflow->entries[at] = overflow->entries[next];
        at = next;
    }
    overflow->entries[at].address = 0;
    store_relaxed(&overflow->count, overflow->count - 1);
}

static bool overflow_take(uintptr_t address, struct block *block) {
    if (load_relaxed(&overflow->count) == 0) return false;
    overflow_lock();
    struct overflow_entry *entry = overflow->slots ? overflow_find(address) : NULL;
    bool found = entry && entry->address;
    if (found) {
        *block = entry->block;
        overflow_remove(entry);
    }
    overflow_unlock();
    return found;
}

/* --- the unlikely halves -------------------------------------------------------------------------------------- */

COLD bool block_put_slowly(uintptr_t address, struct block block, struct block *stale) {
    uint64_t *entry = make_entry(address), value = entry ? load_relaxed(entry) : 0;
    bool is_ours = value && value >> 62 == (address >> 3 & 3);
    if (is_ours) {
        *stale = block_unpack(value);
        store_relaxed(entry, 0);
        value = 0;
    } else if (overflow_take(address, stale)) {
        is_ours = true; /* its missed free is settled; the new block may fit the tree */
    }
    if (!is_ours) stale->id = 0;
    if (entry && !value && block.size >> BLOCK_SIZE_BITS == 0) {
        store_relaxed(entry, block_pack(address, block));
        return true;
    }
    struct block other = {0};
    return overflow_put(address, block, &other);
}

COLD bool block_take_slowly(uintptr_t address, struct block *block) {
    return overflow_take(address, block);
}

bool block_around(uintptr_t address, struct block *block, uint64_t *offset) {
    uintptr_t lowest = address > LOOK_BACK ? address - LOOK_BACK : 0;
    for (uintptr_t at = address | ((1 << BLOCK_GRAIN_BITS) - 1); at > lowest; at -= 1 << BLOCK_GRAIN_BITS) {
        const uint64_t *entry = block_entry(at);
        uint64_t value = entry ? load_relaxed(entry) : 0;
        if (!value) continue;
        uintptr_t start = (at & ~(uintptr_t)((1 << BLOCK_GRAIN_BITS) - 1)) | value >> 62 << 3;
        if (start > address) continue;
        *block = block_unpack(value);
        *offset = address - start;
        return *offset < block->size;
    }
    return false;
}
