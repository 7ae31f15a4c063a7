#include "ingest/shim/stacks/entries.h"

void *list_room(struct chunk **chunk, size_t size, uint32_t most, enum chunk_kind kind) {
    if (!*chunk || load_relaxed(&(*chunk)->count) == most) {
        struct chunk *made = chunk_new(most * size);
        if (!made) return NULL;
        chunk_publish(made, kind);
        *chunk = made;
    }
    return (char *)chunk_body(*chunk) + load_relaxed(&(*chunk)->count) * size;
}

void list_added(struct chunk *chunk) {
    store_release(&chunk->count, load_relaxed(&chunk->count) + 1);
}

COLD void *entry_slowly(struct thread *thread, struct entries *entries, struct entry_key key,
                        struct entry_shape shape) {
    if (!entries->index) entries->index = index_small(thread);
    if (!entries->index || !process_lock_from(thread)) return NULL;
    struct entry_key *entry = list_room(&entries->chunk, shape.size, shape.per_chunk, shape.chunk);
    if (entry) {
        *entry = key;
        list_added(entries->chunk);
    }
    process_unlock();
    if (!entry) return NULL;
    uint64_t place = (uint64_t)((char *)entry - (char *)process->segment) / ENTRY_ALIGNMENT;
    return place <= UINT32_MAX && index_put(&entries->index, entry_hash(key), place) ? entry : NULL;
}
