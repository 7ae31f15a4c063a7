/* run_delay.h: how long the threads of the program were ready to run and had no processor.
 *
 * Linux counts it for each thread (/proc/PID/task/TID/schedstat, where the kernel has CONFIG_SCHED_INFO). It is read from outside,
 * 3 us a thread, so that the program makes no call and opens no file for it: every 20 ms of a young run, then each fortieth of its age, at most
 * every second, and never for more than a fiftieth of a processor. What a thread waits after the last look that saw it is not counted,
 * and threads that live between two looks are not either: the sum is a lower bound. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_RUN_DELAY_H
#define CLEAR_INGEST_RECORD_KERNEL_RUN_DELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

/* A zeroed struct has seen nothing. */
struct run_delay {
    struct map threads; /* process and thread -> ns, as of the last look */
    uint64_t ns;        /* of all threads that were seen */
    bool is_known;      /* the kernel counts it */
    int64_t due_ns;     /* CLOCK_MONOTONIC: the next look */
};

/* Looks at the threads of a process, at most 1,024 of them. One that is gone has none. */
void run_delay_look(struct run_delay *delay, pid_t process);
/* Sets when the next look is due, after one that took `cpu_ns` and saw all processes of a run that began at `started_ns`. */
void run_delay_looked(struct run_delay *delay, int64_t cpu_ns, int64_t started_ns);
void run_delay_free(struct run_delay *delay);

#endif
