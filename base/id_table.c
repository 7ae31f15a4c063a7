#include "base/id_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { PLACES_MAX = 1 << 24 }; /* 64 MiB are the most that an array takes */

static bool has_place(int64_t id) {
    return id >= 0 && id < PLACES_MAX;
}

bool id_table_find(const struct id_table *ids, int64_t id, uint32_t *index) {
    if (id >= 0 && (size_t)id < ids->size) {
        *index = ids->places[id] - 1;
        return ids->places[id];
    }
    const struct map_entry *entry = has_place(id) ? NULL : map_find(&ids->others, &id, sizeof id);
    if (entry) *index = (uint32_t)entry->value;
    return entry;
}

static void grow(struct id_table *ids, size_t id) {
    size_t size = ids->size ? ids->size : 1024;
    while (size <= id)
        size *= 2;
    ids->places = xrealloc(ids->places, size * sizeof *ids->places);
    memset(ids->places + ids->size, 0, (size - ids->size) * sizeof *ids->places);
    ids->size = size;
}

void id_table_put(struct id_table *ids, int64_t id, uint32_t index) {
    if (!has_place(id)) {
        map_put(&ids->others, &id, sizeof id, NULL)->value = index;
        return;
    }
    if ((size_t)id >= ids->size) grow(ids, (size_t)id);
    ids->places[id] = index + 1;
}

void id_table_free(struct id_table *ids) {
    free(ids->places);
    map_free(&ids->others);
    *ids = (struct id_table){0};
}
