#include "ingest/symbols/ranges.h"

#include <stdlib.h>

#include "base/search.h"

#include "base/error.h"

enum { FIRST_CAPACITY = 16 };

void ranges_add(struct ranges *ranges, uint64_t low, uint64_t high, size_t index) {
    if (low >= high) return;
    if (ranges->count == ranges->capacity) {
        ranges->capacity = ranges->capacity ? ranges->capacity * 2 : FIRST_CAPACITY;
        ranges->items = xrealloc(ranges->items, ranges->capacity * sizeof *ranges->items);
    }
    ranges->items[ranges->count++] = (struct range){.low = low, .high = high, .index = index};
}

static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high > b->high ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

void ranges_sort(struct ranges *ranges) {
    if (!ranges->count) return;
    qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_ranges);
    uint64_t reach = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->items[i].high > reach) reach = ranges->items[i].high;
        ranges->items[i].reach = reach;
    }
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address) {
    size_t low = SEARCH_ABOVE(struct range, ranges->items, ranges->count, low, address);
    while (low-- > 0 && ranges->items[low].reach > address)
        if (ranges->items[low].high > address) return &ranges->items[low];
    return NULL;
}

void ranges_free(struct ranges *ranges) {
    free(ranges->items);
    *ranges = (struct ranges){0};
}
