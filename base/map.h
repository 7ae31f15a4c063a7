/* map.h: a hash map from byte strings to 64-bit values. It interns traces, locations and names. Keys are copied into
 * the map's own arena; what values mean is the caller's business. A zeroed struct is an empty map. Entries cannot be
 * removed. They are iterated in the order of insertion. */
#ifndef CLEAR_BASE_MAP_H
#define CLEAR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct map_entry {
    const void *key;
    size_t size;
    uint64_t hash;
    int64_t value;
};

struct map_slot {
    uint32_t
        tag; /* the upper half of the entry's hash, which tells most other keys apart without reading their entries */
    uint32_t entry; /* its index + 1, 0 where free */
};

struct map {
    struct map_entry *entries; /* dense, in insertion order */
    size_t count, capacity;
    struct map_slot *slots; /* a power of two of them, at most 3/4 full */
    size_t slot_count;
    struct arena keys;
};

/* The entry of that key, or NULL. The pointer is valid until the next map_put. */
struct map_entry *map_find(const struct map *map, const void *key, size_t size);
/* The entry of that key, made with value 0 if it is new; then *added is true. `added` may be NULL. */
struct map_entry *map_put(struct map *map, const void *key, size_t size, bool *added);
void map_free(struct map *map);

#endif
