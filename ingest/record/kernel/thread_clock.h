/* thread_clock.h: how long a thread of another process ran, and how long it was ready to run and had no processor, as Linux counts it
 * (/proc/PID/task/TID/schedstat, where the kernel has CONFIG_SCHED_INFO). A stay in the queue counts when it is over.
 *
 * A file that is read again is kept open: a look takes 1 us so, and 3 us where it is opened. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_THREAD_CLOCK_H
#define CLEAR_INGEST_RECORD_KERNEL_THREAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct thread_clock {
    uint64_t ran_ns, ready_ns; /* as of the last look */
    int file;                  /* -1: none is kept */
};

/* A file of a thread, open for reading; -1: there is none. */
int thread_file_open(int32_t process, uint32_t tid, const char *name);
/* Looks. False: the kernel does not count it, or there is no such thread. `clock` is one of this thread, or has no file. */
bool thread_clock_look(struct thread_clock *clock, int32_t process, uint32_t tid);
void thread_clock_close(struct thread_clock *clock);

#endif
