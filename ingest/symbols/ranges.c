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

static void add_piece(struct ranges *ranges, uint64_t start, const struct range *range) {
    if (ranges->piece_count && ranges->pieces[ranges->piece_count - 1].start == start) ranges->piece_count--;
    ranges->pieces[ranges->piece_count++] = (struct range_piece){start, range};
}

/* Ends the open ranges that end up to an address, each where no later one that begins before it goes on. Returns how many stay open. */
static size_t end_ranges(struct ranges *ranges, const struct range *const *open, size_t count, uint64_t until) {
    while (count && open[count - 1]->high <= until) {
        uint64_t end = open[count - 1]->high;
        while (count && open[count - 1]->high <= end)
            count--;
        add_piece(ranges, end, count ? open[count - 1] : NULL);
    }
    return count;
}

/* In the order of `compare_ranges` a later range is the inner one, as long as it lasts. */
void ranges_sort(struct ranges *ranges) {
    if (!ranges->count) return;
    qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_ranges);
    const struct range **open = xmalloc(ranges->count * sizeof *open);
    size_t count = 0;
    ranges->pieces = xrealloc(ranges->pieces, 2 * ranges->count * sizeof *ranges->pieces);
    ranges->piece_count = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        count = end_ranges(ranges, open, count, ranges->items[i].low);
        open[count++] = &ranges->items[i];
        add_piece(ranges, ranges->items[i].low, &ranges->items[i]);
    }
    end_ranges(ranges, open, count, UINT64_MAX);
    free((void *)open);
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address) {
    size_t above = SEARCH_ABOVE(struct range_piece, ranges->pieces, ranges->piece_count, start, address);
    return above ? ranges->pieces[above - 1].range : NULL;
}

void ranges_free(struct ranges *ranges) {
    free(ranges->items);
    free(ranges->pieces);
    *ranges = (struct ranges){0};
}
