#include "ingest/shim/intern.h"

#include <dlfcn.h>
#include <string.h>

#include "ingest/shim/blocks.h"
#include "ingest/shim/modules.h"

enum {
    STACK_CHUNK_BODY = 32 * 1024,
    LOCKS_PER_CHUNK = 256,
};

struct index *index_new(uint64_t slots) {
    struct index *index = private_memory(sizeof *index + slots * sizeof index->entries[0]);
    if (index) index->mask = slots - 1;
    return index;
}

static void index_add(struct index *index, uint64_t hash, uint64_t id) {
    uint64_t slot = hash & index->mask;
    while (index->entries[slot].hash)
        slot = (slot + 1) & index->mask;
    store_relaxed(&index->entries[slot].id, id);
    store_release(&index->entries[slot].hash, hash);
    index->count++;
}

/* Readers may still be inside the old index, so it is kept: all old ones together are as large as the new one. */
static bool index_reserve(struct index **place) {
    struct index *old = *place;
    if (old->count * 2 < old->mask) return true;
    struct index *grown = index_new((old->mask + 1) * 2);
    if (!grown) return false;
    for (uint64_t i = 0; i <= old->mask; i++)
        if (old->entries[i].hash) index_add(grown, old->entries[i].hash, old->entries[i].id);
    store_release(place, grown);
    return true;
}

static bool may_add(const _Atomic uint64_t *count) {
    uint64_t limit = process->ids_max && process->ids_max < ID_MAX ? process->ids_max : ID_MAX;
    return load_relaxed(count) < limit;
}

/* --- stacks --------------------------------------------------------------------------------------------------- */

/* Room for an entry in the list chunk that is being filled, or in a new one. */
static struct segment_stack *stack_room(uint64_t size) {
    struct chunk *chunk = process->stack_chunk;
    if (!chunk || process->stack_chunk_used + size > chunk->size - sizeof *chunk) {
        chunk = chunk_new(STACK_CHUNK_BODY);
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_STACKS);
        process->stack_chunk = chunk;
        process->stack_chunk_used = 0;
    }
    return (struct segment_stack *)((char *)chunk_body(chunk) + process->stack_chunk_used);
}

static uint32_t add_stack(const struct stack *stack) {
    uint64_t size = sizeof(struct segment_stack) + stack->depth * sizeof stack->pc[0];
    if (!may_add(&process->segment->stacks) || !index_reserve(&process->stacks)) return 0;
    struct segment_stack *entry = stack_room(size);
    if (!entry) return 0;
    uint32_t id = (uint32_t)load_relaxed(&process->segment->stacks) + 1;
    *entry = (struct segment_stack){
        .id = id, .depth = (uint16_t)stack->depth, .flags = (uint16_t)stack->flags, .epoch = process->epoch};
    memcpy(entry->pc, stack->pc, stack->depth * sizeof stack->pc[0]);
    process->stack_chunk_used += size;
    struct chunk *chunk = process->stack_chunk;
    store_release(&chunk->count, load_relaxed(&chunk->count) + 1);
    store_release(&process->segment->stacks, id);
    index_add(process->stacks, stack->hash, id);
    return id;
}

COLD uint32_t stack_intern_slowly(const struct stack *stack) {
    if (!may_add(&process->segment->stacks)) return 0;
    process_lock();
    uint32_t id = index_find(process->stacks, stack->hash);
    if (!id) id = add_stack(stack);
    process_unlock();
    return id;
}

/* --- locks ---------------------------------------------------------------------------------------------------- */

static struct segment_lock *lock_room(void) {
    struct chunk *chunk = process->lock_chunk;
    if (!chunk || load_relaxed(&chunk->count) == LOCKS_PER_CHUNK) {
        chunk = chunk_new(LOCKS_PER_CHUNK * sizeof(struct segment_lock));
        if (!chunk) return NULL;
        chunk_publish(chunk, CHUNK_LOCKS);
        process->lock_chunk = chunk;
    }
    return (struct segment_lock *)chunk_body(chunk) + load_relaxed(&chunk->count);
}

/* What the lock lies in: a global's module must be known to the collector, a heap block gives its allocating stack. */
static void describe_lock(struct segment_lock *entry) {
    struct dl_find_object object;
    struct block block;
    if (_dl_find_object((void *)(uintptr_t)entry->address, &object) == 0) {
        module_note(&object);
        entry->epoch = process->epoch;
    } else if (process->features & FEATURE_HEAP && block_around(entry->address, &block, &entry->offset)) {
        entry->owner = block.id;
    } else {
        entry->offset = 0;
    }
}

static uint32_t add_lock(uint64_t hash, void *lock, enum segment_lock_kind kind) {
    if (!may_add(&process->segment->locks) || !index_reserve(&process->locks)) return 0;
    struct segment_lock *entry = lock_room();
    if (!entry) return 0;
    uint32_t id = (uint32_t)load_relaxed(&process->segment->locks) + 1;
    *entry = (struct segment_lock){.id = id, .kind = kind, .address = (uintptr_t)lock, .epoch = process->epoch};
    describe_lock(entry);
    struct chunk *chunk = process->lock_chunk;
    store_release(&chunk->count, load_relaxed(&chunk->count) + 1);
    store_release(&process->segment->locks, id);
    index_add(process->locks, hash, id);
    return id;
}

COLD uint32_t lock_intern_slowly(uint64_t hash, void *lock, enum segment_lock_kind kind) {
    if (!may_add(&process->segment->locks)) return 0;
    process_lock();
    uint32_t id = index_find(process->locks, hash);
    if (!id) id = add_lock(hash, lock, kind);
    process_unlock();
    return id;
}
