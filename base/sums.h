/* sums.h: rows of integers in memory, summed by key; some columns keep the maximum instead. For the rows of a profile
 * that are not written yet, and as a map from integer keys to integers.
 *
 * A row is its keys and values side by side: a row of `sites` takes 48 bytes, and 11 to 21 for its slot. */
#ifndef CLEAR_BASE_SUMS_H
#define CLEAR_BASE_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct sums_slot {
    uint32_t tag; /* the upper half of the keys' hash, which tells most other rows apart without reading them */
    uint32_t row; /* its index + 1; 0: free */
};

struct sums {
    size_t keys, width;      /* integers of a key, and of a row */
    uint64_t maxima;         /* bit i: column i keeps the maximum */
    int64_t *cells;          /* [row][column] */
    struct sums_slot *slots; /* a power of two of them, at most 3/4 full */
    size_t count, capacity, slot_count;
};

void sums_init(struct sums *rows, size_t keys, size_t values, uint64_t maxima);
/* `row` is `width` integers, keys first. -1: a sum is beyond 64 bits. */
int sums_add(struct sums *rows, const int64_t *row);
/* The row of those keys, or NULL. Valid until the next sums_add. Not after sums_sort. */
const int64_t *sums_find(const struct sums *rows, const int64_t *keys);
/* Sorts by keys, which is the order of the table. Nothing can be added after this. */
void sums_sort(struct sums *rows);
void sums_free(struct sums *rows);

#endif
