/* id_table.h: a map from the ids of a table in the warehouse to indexes in memory, below 2^32 - 1. The ids of names count from 1, so
 * those below 2^24 are places in an array: no hash, and no key to compare. Others, of a foreign or a damaged file, are in a hash map. A zeroed
 * struct is an empty table. */
#ifndef CLEAR_BASE_ID_TABLE_H
#define CLEAR_BASE_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct id_table {
    uint32_t *places; /* [id]: index + 1; 0: none */
    size_t size;
    struct map others;
};

/* False: nothing was put there; *index is then not meant. */
bool id_table_find(const struct id_table *ids, int64_t id, uint32_t *index);
void id_table_put(struct id_table *ids, int64_t id, uint32_t index);
void id_table_free(struct id_table *ids);

#endif
