/* entries.h: counters of pairs of a stack and a number, for what few stacks have: entries of list chunks, which a thread finds
 * by an index of its own. Counters of every stack are arrays (COUNTER_KINDS in runtime.h). */
#ifndef CLEAR_SHIM_ENTRIES_H
#define CLEAR_SHIM_ENTRIES_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

/* How entries of a kind are stored. An entry begins with the pair, as struct entry_key; its counters follow. */
struct entry_shape {
    enum chunk_kind chunk;
    uint32_t size, per_chunk; /* size: bytes of an entry, a multiple of ENTRY_ALIGNMENT */
};
struct entry_key {
    uint32_t stack, part;
};
enum { ENTRY_ALIGNMENT = 16 };

/* Room for one more in *chunk, or in a new one of `most`; NULL: none. list_added makes it visible. Both need
 * process->lock. */
void *list_room(struct chunk **chunk, size_t size, uint32_t most, enum chunk_kind kind);
void list_added(struct chunk *chunk);

void *entry_slowly(struct thread *thread, struct entries *entries, struct entry_key key, struct entry_shape shape);

static ALWAYS_INLINE uint64_t entry_hash(struct entry_key key) {
    uint64_t hash = ((uint64_t)key.stack << 32 | key.part) * 0x9e3779b97f4a7c15ull;
    return (hash ^ hash >> 32) | 1ull << 63;
}

/* The entry of a pair in this thread, made at first use; NULL: no room. `shape` should be a constant. */
static ALWAYS_INLINE void *entry_of(struct thread *thread, struct entries *entries, struct entry_key key,
                                    struct entry_shape shape) {
    uint32_t place = likely(entries->index) ? index_find(entries->index, entry_hash(key)) : 0;
    if (unlikely(!place)) return entry_slowly(thread, entries, key, shape);
    return (char *)process->segment + (uint64_t)place * ENTRY_ALIGNMENT;
}

#endif
