/* perf_data_queue.h: puts records of several CPUs into the order of their times. For perf_data.c alone.
 *
 * perf writes the ring buffers one after the other, and a FINISHED_ROUND record after each turn: whatever is older than
 * the newest record of the turn before is complete then. So the queue holds two turns, not the file. */
#ifndef CLEAR_INGEST_READ_PERF_EVENT_QUEUE_H
#define CLEAR_INGEST_READ_PERF_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue_entry {
    uint64_t time;
    const unsigned char *record;
    size_t block; /* the caller's: which memory the record lies in */
};

struct queue {
    struct queue_entry *entries, *spare;
    size_t count, capacity, spare_capacity;
    uint64_t newest, complete; /* times */
};

void queue_add(struct queue *queue, struct queue_entry entry);
/* How many entries at the front, now in order, can be taken: those of a finished round, or all (at the end). */
size_t queue_round(struct queue *queue);
size_t queue_all(struct queue *queue);
void queue_drop(struct queue *queue, size_t count); /* from the front */
void queue_free(struct queue *queue);

#endif
