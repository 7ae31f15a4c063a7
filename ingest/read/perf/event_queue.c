#include "ingest/read/perf/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#include "base/error.h"

void queue_add(struct queue *queue, struct queue_entry entry) {
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity ? queue->capacity * 2 : 1024;
        queue->entries = xrealloc(queue->entries, queue->capacity * sizeof *queue->entries);
    }
    queue->entries[queue->count++] = entry;
    if (entry.time > queue->newest) queue->newest = entry.time;
}

/* The end of the ascending run that begins at `from`. */
static size_t run_end(const struct queue_entry *entries, size_t from, size_t count) {
    size_t end = from + 1;
    while (end < count && entries[end - 1].time <= entries[end].time)
        end++;
    return end;
}

static void merge(const struct queue_entry *from, size_t low, size_t middle, size_t high, struct queue_entry *to) {
    size_t left = low, right = middle;
    for (size_t i = low; i < high; i++)
        to[i] = left < middle && (right == high || from[left].time <= from[right].time) ? from[left++] : from[right++];
}

/* A natural merge sort: the input is a few sorted runs, one for each CPU, so it takes n × log(CPUs) steps. Stable:
 * records of one time keep their order. */
static void sort(struct queue *queue) {
    while (queue->count && run_end(queue->entries, 0, queue->count) < queue->count) {
        if (queue->spare_capacity < queue->capacity) {
            queue->spare_capacity = queue->capacity;
            queue->spare = xrealloc(queue->spare, queue->spare_capacity * sizeof *queue->spare);
        }
        for (size_t low = 0; low < queue->count;) {
            size_t middle = run_end(queue->entries, low, queue->count);
            size_t high = middle < queue->count ? run_end(queue->entries, middle, queue->count) : middle;
            merge(queue->entries, low, middle, high, queue->spare);
            low = high;
        }
        struct queue_entry *sorted = queue->spare;
        queue->spare = queue->entries;
        queue->entries = sorted;
        size_t capacity = queue->spare_capacity;
        queue->spare_capacity = queue->capacity;
        queue->capacity = capacity;
    }
}

size_t queue_round(struct queue *queue) {
    sort(queue);
    size_t due = SEARCH_ABOVE(struct queue_entry, queue->entries, queue->count, time, queue->complete);
    queue->complete = queue->newest;
    return due;
}

size_t queue_all(struct queue *queue) {
    sort(queue);
    return queue->count;
}

void queue_drop(struct queue *queue, size_t count) {
    queue->count -= count;
    if (count) memmove(queue->entries, queue->entries + count, queue->count * sizeof *queue->entries);
}

void queue_free(struct queue *queue) {
    free(queue->entries);
    free(queue->spare);
    *queue = (struct queue){0};
}
