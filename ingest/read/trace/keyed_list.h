/* keyed_list.h: structs that are found by a key, in one array. */
#ifndef CLEAR_INGEST_READ_TRACE_KEYED_LIST_H
#define CLEAR_INGEST_READ_TRACE_KEYED_LIST_H

#include <string.h>

#include "base/error.h"
#include "base/map.h"

/* The entry of a list that the map numbers, new ones zeroed; the pointer is valid until the next. */
static inline void *keyed_list_entry(struct map *map, const void *key, size_t key_size, void **list, size_t size) {
    bool is_new;
    struct map_entry *entry = map_put(map, key, key_size, &is_new);
    if (is_new) {
        entry->value = (int64_t)map->count - 1;
        if ((map->count & (map->count - 1)) == 0) *list = xrealloc(*list, 2 * map->count * size);
        memset((char *)*list + (size_t)entry->value * size, 0, size);
    }
    return (char *)*list + (size_t)entry->value * size;
}

#endif
