/* search.h: binary search in an array that is sorted by an unsigned 64-bit member of its items. */
#ifndef CLEAR_BASE_SEARCH_H
#define CLEAR_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index of the first of `count` items whose uint64_t at `offset` is above the value; `count` if none is. The item before it
 * is the last one at or below the value. */
static inline size_t search_above_at(const void *items, size_t count, size_t size, size_t offset, uint64_t value) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t key;
        memcpy(&key, (const char *)items + middle * size + offset, sizeof key);
        if (key <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define SEARCH_ABOVE(type, items, count, member, value)                                                                \
    search_above_at(items, count, sizeof(type), offsetof(type, member), value)

#endif
