#include "ingest/record/kernel/thread_records.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

enum { CHUNKS_AT_ONCE = 4096 };

bool thread_records_open(struct thread_records *records, int directory, const char *name) {
    struct segment head;
    *records = (struct thread_records){.file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
                                       .walked = SEGMENT_HEADER_SIZE};
    if (thread_records_head(records, &head) && head.magic == SEGMENT_MAGIC && head.version == SEGMENT_VERSION &&
        head.pid > 0) {
        records->pid = head.pid;
        return true;
    }
    thread_records_close(records);
    return false;
}

static void add_place(struct thread_records *records, uint64_t place) {
    if (records->count == records->capacity) {
        records->capacity = records->capacity ? records->capacity * 2 : 16;
        records->places = xrealloc(records->places, records->capacity * sizeof *records->places);
    }
    records->places[records->count++] = place;
}

void thread_records_find(struct thread_records *records, uint64_t used) {
    for (int i = 0; i < CHUNKS_AT_ONCE && records->walked < used; i++) {
        struct chunk chunk;
        bool is_read = pread(records->file, &chunk, sizeof chunk, (off_t)records->walked) == (ssize_t)sizeof chunk;
        if (!is_read || !chunk.kind || chunk.size < sizeof chunk || chunk.size % SEGMENT_ALIGNMENT ||
            chunk.size > used - records->walked)
            return;
        if (chunk.kind == CHUNK_THREAD && chunk.size >= sizeof chunk + sizeof(struct thread_counters))
            add_place(records, records->walked + sizeof chunk);
        records->walked += chunk.size;
    }
}

bool thread_records_head(const struct thread_records *records, struct segment *head) {
    return records->file >= 0 && pread(records->file, head, sizeof *head, 0) == (ssize_t)sizeof *head;
}

bool thread_records_read(const struct thread_records *records, size_t index, struct thread_counters *counters) {
    return pread(records->file, counters, sizeof *counters, (off_t)records->places[index]) == (ssize_t)sizeof *counters;
}

void thread_records_close(struct thread_records *records) {
    if (records->file >= 0) close(records->file);
    free(records->places);
    *records = (struct thread_records){.file = -1};
}
