/* preemptions.h: when the kernel took the processor from a thread that would have run on, and when the thread had one again.
 *
 * perf_event_open(2) tells each switch of the threads of our own processes without rights (perf_event_paranoid up to 2) and from outside: the
 * program makes no call for it. A thread that is started later is told of, too, because it inherits the event (Linux 5.13 and later). Where the kernel
 * refuses, nothing is known. What a thread waits after it was woken is none: no switch begins it. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_PREEMPTIONS_H
#define CLEAR_INGEST_RECORD_KERNEL_PREEMPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/map.h"

/* On CLOCK_MONOTONIC. */
struct preemption {
    int32_t process, tid;
    int64_t start_ns, duration_ns;
};

struct preemption_ring {
    int leader; /* the descriptor whose memory it is; -1: none */
    unsigned char *pages;
};

/* A zeroed struct has seen nothing. */
struct preemptions {
    struct preemption_ring *rings; /* of each processor; NULL: none yet */
    size_t ring_count;
    struct buffer files; /* int: open descriptors */
    size_t files_most;
    struct map watched;       /* processes */
    struct map out;           /* thread -> since when it has no processor; 0: it has one, or waits */
    struct buffer switches;   /* those that came and may not be in order yet */
    struct preemption *items; /* in the order of their ends */
    size_t count, capacity;
    uint64_t lost;               /* switches that found no room, and preemptions beyond PREEMPTIONS_MOST */
    int64_t shortest_ns, due_ns; /* shorter ones are none; CLOCK_MONOTONIC: when to take next */
};
enum { PREEMPTIONS_MOST = 1000000 };

/* Begins with the threads of a process that is not watched yet, at most 64 processes. */
void preemptions_watch(struct preemptions *preemptions, pid_t process);
/* Takes what came; to be called every 50 ms, for there is room for 10,000 switches of a processor. */
void preemptions_take(struct preemptions *preemptions);
void preemptions_free(struct preemptions *preemptions);

/* One switch: the thread loses the processor though it would run on (is_out), waits by itself (is_blocked), or gets one. Those of one take are sorted
 * before. For the test, too. */
struct preemption_switch {
    int32_t process, tid;
    int64_t at_ns;
    int is_out, is_blocked;
};
void preemptions_add(struct preemptions *preemptions, struct preemption_switch *switches, size_t count);

#endif
