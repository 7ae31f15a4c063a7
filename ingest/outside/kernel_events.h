/* kernel_events.h: events of the kernel about the threads of processes, and the memory through which it tells them (perf_event_open(2)).
 *
 * An event counts for one thread on one processor, because only those are passed on to the threads and processes that the thread starts.
 * All events of a processor share one ring of memory. For ingest/outside alone. */
#ifndef CLEAR_INGEST_OUTSIDE_KERNEL_EVENTS_H
#define CLEAR_INGEST_OUTSIDE_KERNEL_EVENTS_H

#include <linux/perf_event.h>

#include "base/buffer.h"
#include "ingest/outside/outside.h"

enum { EVENT_CPU, EVENT_WAITS, EVENT_FAULTS, EVENT_KINDS };

struct kernel_event {
    struct perf_event_attr attr;
    struct buffer ids; /* of all descriptors that count it: words */
};

struct kernel_ring {
    int leader; /* the descriptor whose memory it is; -1: none yet */
    unsigned char *pages;
    size_t size; /* of the data behind the first page */
};

struct kernel_events {
    struct kernel_event kinds[EVENT_KINDS];
    size_t kind_count;
    struct kernel_ring *rings; /* of each processor */
    size_t ring_count;
    struct buffer files; /* int: open descriptors */
    bool is_user_only;   /* the kernel's own work is not ours to see */
};

/* Begins to count for all threads of the processes. A process that has ended meanwhile is no error, unless all have. Close in both cases. */
int kernel_events_open(struct kernel_events *events, const struct outside_request *request, struct error *err);
void kernel_events_close(struct kernel_events *events);

/* Adds the records that have come, of all processors one after the other. */
void kernel_events_take(struct kernel_events *events, struct buffer *records);

/* One event of CPU time, that is not counted. A descriptor, or -1 with errno. */
int kernel_events_try(pid_t thread, bool is_user_only);

#endif
