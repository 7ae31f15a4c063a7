/* perf_file.h: a file in the form of `perf record`, as far as ingest/read/perf and perf itself need it. For ingest/outside alone. */
#ifndef CLEAR_INGEST_OUTSIDE_PERF_FILE_H
#define CLEAR_INGEST_OUTSIDE_PERF_FILE_H

#include "ingest/outside/kernel_events.h"

struct perf_file {
    int file; /* -1: not open */
    uint64_t data, size;
};

/* Writes what comes before the records: the events, the machine, the clock, and what the processes are and have mapped now. */
int perf_file_open(struct perf_file *file, const char *path, const struct kernel_events *events,
                   const struct outside_request *request, struct error *err);
/* Adds records of the kernel: those of one look at all rings. */
int perf_file_add(struct perf_file *file, const struct buffer *records, struct error *err);
/* Completes it. A file that was not completed is read too, as one that ended early. */
int perf_file_close(struct perf_file *file, struct error *err);

#endif
