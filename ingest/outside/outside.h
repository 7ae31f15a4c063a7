/* outside.h: what the kernel alone can tell of processes: samples of their CPU time, of the times that they do not run, and of their page
 * faults, by perf_event_open(2). Nothing is loaded into them, and no thread is stopped.
 *
 * The room ingest/outside does for them what `perf record -g -p` does, where perf is not installed or where it is more than is wanted: it
 * writes a file in perf's own form, which ingest/read/perf reads. All threads are recorded, and those and the processes that they start. */
#ifndef CLEAR_INGEST_OUTSIDE_OUTSIDE_H
#define CLEAR_INGEST_OUTSIDE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct outside_request {
    const pid_t *pids;
    size_t pid_count;
    uint32_t hz; /* samples per second of CPU time */
    bool
        has_waits; /* also when they stop to run, and for how long: the kind off-cpu. Needs the right to look into the kernel */
    bool has_faults;    /* also page faults */
    bool copies_stacks; /* 8 KiB of its stack with each sample, for code without frame pointers; Go's has them */
};

/* Whether the kernel lets us record this process: opens one event and closes it. -1 with the error set: one sentence with the reason.
 * *sees_kernel (may be NULL): whether also what the kernel does for it, and so has_waits. */
int outside_check(pid_t pid, bool *sees_kernel, struct error *err);

/* Records into the file `output` until SIGINT or SIGTERM comes, and completes the file. Writes "ack\n" to the descriptor `answer` once all
 * events are open. For a process of its own: it has these signals handled, and raises its limit of open files to the most that it may have. */
int outside_record(const struct outside_request *request, const char *output, int answer, struct error *err);

#endif
