/* thread_records.h: the records of the threads (struct thread_counters) of a segment that its process writes to, read while it does. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_THREAD_RECORDS_H
#define CLEAR_INGEST_RECORD_KERNEL_THREAD_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/segment.h"

struct thread_records {
    int file; /* of the segment; -1: it cannot be read, or is over */
    int32_t pid;
    uint64_t walked; /* the end of the last chunk that was met */
    uint64_t *places;
    size_t count, capacity;
};

/* Opens a segment of that directory. False: it is not there, or its header is not yet. */
bool thread_records_open(struct thread_records *records, int directory, const char *name);
/* Finds the records that were added since, up to `used` of the header. Nothing in the segment is trusted: a size that leads nowhere ends
 * the walk. */
void thread_records_find(struct thread_records *records, uint64_t used);
/* Copies the header, or a record. False: it cannot be read. */
bool thread_records_head(const struct thread_records *records, struct segment *head);
bool thread_records_read(const struct thread_records *records, size_t index, struct thread_counters *counters);
/* Closes the file, and forgets the records. */
void thread_records_close(struct thread_records *records);

#endif
