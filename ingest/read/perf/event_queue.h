/* event_queue.h: sorts the records of several CPUs by time. For perf_data.c alone.
 *
 * perf writes the ring buffers in turn, and a FINISHED_ROUND record after each turn. Then no record that is older than
 * the newest of the turn before can follow. So the queue holds the records of two turns and not of the whole file. */
#ifndef CLEAR_INGEST_READ_PERF_EVENT_QUEUE_H
#define CLEAR_INGEST_READ_PERF_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue_entry {
    uint64_t time;
    const unsigned char *record;
    size_t block; /* the caller's number of the memory that the record is in */
};

struct queue {
    struct queue_entry *entries, *spare;
    size_t count, capacity, spare_capacity;
    uint64_t newest, complete; /* times */
};

void queue_add(struct queue *queue, struct queue_entry entry);
/* Sorts, and returns the number of entries at the front that are complete: those of a finished round, or at the end
 * all. */
size_t queue_round(struct queue *queue);
size_t queue_all(struct queue *queue);
void queue_drop(struct queue *queue, size_t count); /* from the front */
void queue_free(struct queue *queue);

#endif
