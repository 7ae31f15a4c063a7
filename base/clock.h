/* clock.h: the clocks, in nanoseconds. They cannot fail. */
#ifndef CLEAR_BASE_CLOCK_H
#define CLEAR_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_monotonic_ns(void);  /* CLOCK_MONOTONIC: for durations and deadlines; it never goes back */
int64_t clock_thread_cpu_ns(void); /* CLOCK_THREAD_CPUTIME_ID: that the calling thread has run */
int64_t clock_realtime_ns(void);   /* CLOCK_REALTIME: since the epoch; somebody may set it */

#endif
