#include "base/sums.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"

enum { FIRST_ROWS = 64, FIRST_SLOTS = 128 };

void sums_init(struct sums *rows, size_t keys, size_t values, uint64_t maxima) {
    *rows = (struct sums){.keys = keys, .width = keys + values, .maxima = maxima};
}

void sums_free(struct sums *rows) {
    free(rows->cells);
    free(rows->slots);
    *rows = (struct sums){0};
}

static uint64_t hash_keys(const struct sums *rows, const int64_t *row) {
    uint64_t hash = 0;
    for (size_t i = 0; i < rows->keys; i++)
        hash = hash_combine(hash, (uint64_t)row[i]);
    return hash;
}

static uint32_t tag_of(uint64_t hash) {
    return (uint32_t)(hash >> 32);
}

static void grow_slots(struct sums *rows) {
    size_t count = rows->slot_count ? rows->slot_count * 2 : FIRST_SLOTS;
    free(rows->slots);
    rows->slots = xcalloc(count, sizeof *rows->slots);
    rows->slot_count = count;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t hash = hash_keys(rows, rows->cells + i * rows->width);
        size_t at = hash & (count - 1);
        while (rows->slots[at].row)
            at = (at + 1) & (count - 1);
        rows->slots[at] = (struct sums_slot){tag_of(hash), (uint32_t)i + 1};
    }
}

static bool has_keys(const int64_t *row, const int64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (row[i] != keys[i]) return false;
    return true;
}

static struct sums_slot *find_slot(const struct sums *rows, const int64_t *keys, uint64_t hash) {
    size_t mask = rows->slot_count - 1, at = hash & mask;
    for (; rows->slots[at].row; at = (at + 1) & mask) {
        if (rows->slots[at].tag != tag_of(hash)) continue;
        if (has_keys(rows->cells + (rows->slots[at].row - 1) * rows->width, keys, rows->keys)) break;
    }
    return &rows->slots[at];
}

const int64_t *sums_find(const struct sums *rows, const int64_t *keys) {
    if (!rows->slot_count) return NULL;
    const struct sums_slot *slot = find_slot(rows, keys, hash_keys(rows, keys));
    return slot->row ? rows->cells + (slot->row - 1) * rows->width : NULL;
}

static int add_values(const struct sums *rows, int64_t *there, const int64_t *row) {
    for (size_t i = rows->keys; i < rows->width; i++) {
        if (rows->maxima >> i & 1) {
            if (row[i] > there[i]) there[i] = row[i];
        } else if (__builtin_add_overflow(there[i], row[i], &there[i])) {
            return -1;
        }
    }
    return 0;
}

int sums_add(struct sums *rows, const int64_t *row) {
    if ((rows->count + 1) * 4 > rows->slot_count * 3) grow_slots(rows);
    uint64_t hash = hash_keys(rows, row);
    struct sums_slot *slot = find_slot(rows, row, hash);
    if (slot->row) return add_values(rows, rows->cells + (slot->row - 1) * rows->width, row);
    if (rows->count == UINT32_MAX - 1) bug("a profile of more than 2^32 rows");
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : FIRST_ROWS;
        rows->cells = xrealloc(rows->cells, rows->capacity * rows->width * sizeof *rows->cells);
    }
    memcpy(rows->cells + rows->count * rows->width, row, rows->width * sizeof *row);
    *slot = (struct sums_slot){tag_of(hash), (uint32_t)++rows->count};
    return 0;
}

static int compare_keys(const void *left, const void *right, void *context) {
    const struct sums *rows = context;
    const int64_t *a = left, *b = right;
    for (size_t i = 0; i < rows->keys; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int64_t *row_at(const struct sums *rows, size_t index) {
    return rows->cells + index * rows->width;
}

/* Rows that are greater than all before them stay in front, in their order; *kept is their number. The others are
 * copied to `others`. */
static void part_rows(struct sums *rows, int64_t *others, size_t *kept) {
    size_t size = rows->width * sizeof *rows->cells;
    *kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (*kept && compare_keys(row_at(rows, *kept - 1), row_at(rows, i), rows) > 0) {
            memcpy(others, row_at(rows, i), size);
            others += rows->width;
        } else if (i != (*kept)++) {
            memcpy(row_at(rows, *kept - 1), row_at(rows, i), size);
        }
    }
}

/* Merges the sorted rows in front and the sorted others, from the end, so that no row is overwritten before it is
 * read. */
static void merge_rows(struct sums *rows, const int64_t *others, size_t kept) {
    size_t left = rows->count - kept, size = rows->width * sizeof *rows->cells;
    for (size_t to = rows->count; left; to--) {
        const int64_t *other = others + (left - 1) * rows->width;
        bool is_other = kept == 0 || compare_keys(row_at(rows, kept - 1), other, rows) < 0;
        memcpy(row_at(rows, to - 1), is_other ? other : row_at(rows, kept - 1), size);
        *(is_other ? &left : &kept) -= 1;
    }
}

static size_t count_unsorted(struct sums *rows) {
    size_t unsorted = 0, greatest = 0;
    for (size_t i = 1; i < rows->count; i++) {
        if (compare_keys(row_at(rows, greatest), row_at(rows, i), rows) > 0)
            unsorted++;
        else
            greatest = i;
    }
    return unsorted;
}

void sums_sort(struct sums *rows) {
    free(rows->slots);
    rows->slots = NULL;
    rows->slot_count = 0;
    /* Most rows are in order already, because stacks get their ids when they are first met; and glibc's sort would copy
     * all rows. */
    size_t unsorted = count_unsorted(rows), size = rows->width * sizeof *rows->cells, kept;
    if (unsorted == 0) return;
    int64_t *others = xmalloc(unsorted * size);
    part_rows(rows, others, &kept);
    qsort_r(others, unsorted, size, compare_keys, rows);
    merge_rows(rows, others, kept);
    free(others);
}
