/* sums.h: the rows of one profile that are not written yet. Equal keys are summed, or the greatest is kept. Everything is
 * an integer, and a row is its keys and values side by side: a row of `sites` takes 48 bytes and 11 to 21 for its slot.
 * Also the memory of what stands under integer keys (the keys of sites): rows that are never added to twice. */
#ifndef CLEAR_INGEST_STORE_SUMS_H
#define CLEAR_INGEST_STORE_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct sums_slot {
    uint32_t tag; /* the upper half of the keys' hash, so that other rows are told apart without a look at them */
    uint32_t row; /* its number + 1, 0 where free */
};

struct sums {
    size_t keys, width;      /* integers of a key, and of a row */
    uint64_t maxima;         /* bit i: column i keeps the greatest */
    int64_t *cells;          /* [row][column] */
    struct sums_slot *slots; /* a power of two, at most 3/4 full */
    size_t count, capacity, slot_count;
};

void sums_init(struct sums *rows, size_t keys, size_t values, uint64_t maxima);
/* `row` is `width` integers, keys first. -1: a sum is beyond 64 bits. */
int sums_add(struct sums *rows, const int64_t *row);
/* The row of those keys, or NULL. Good until the next sums_add. Not after sums_sort. */
const int64_t *sums_find(const struct sums *rows, const int64_t *keys);
/* By keys, so that they are written in the order in which the table keeps them. Nothing can be added after this. */
void sums_sort(struct sums *rows);
void sums_free(struct sums *rows);

#endif
