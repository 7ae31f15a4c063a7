/* ranges.h: finds the address range that holds an address. Add all ranges, sort once, then look up: O(log n), however they nest or overlap,
 * for those of a hostile file do so a million deep. A zeroed struct is an empty set; the owner calls ranges_free. */
#ifndef CLEAR_INGEST_SYMBOLS_RANGES_H
#define CLEAR_INGEST_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t low, high; /* [low, high) */
    size_t index;       /* the caller's */
};

/* From here to the next piece, addresses are in that range, or in none. */
struct range_piece {
    uint64_t start;
    const struct range *range;
};

struct ranges {
    struct range *items;
    size_t count, capacity;
    struct range_piece *pieces; /* made by ranges_sort; at most two a range */
    size_t piece_count;
};

void ranges_add(struct ranges *ranges, uint64_t low, uint64_t high, size_t index); /* an empty range is left out */
void ranges_sort(struct ranges *ranges);
/* The innermost range around `address`: the one with the highest `low`, then the lowest `high`, then the highest index.
 * NULL for none. */
const struct range *ranges_find(const struct ranges *ranges, uint64_t address);
void ranges_free(struct ranges *ranges);

#endif
