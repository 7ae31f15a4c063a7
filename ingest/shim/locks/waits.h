/* waits.h: records waits for what is no lock: condition variables, semaphores, barriers, the end of a thread, and the
 * futexes of other runtimes. Times are ticks (clock_ticks).
 *
 * What takes no time is counted for the object alone, without a clock and a stack. A wait is counted for the object and
 * the calling stack, which is walked before it begins. */
#ifndef CLEAR_SHIM_WAITS_H
#define CLEAR_SHIM_WAITS_H

#include "ingest/shim/locks/lockrecord.h"

/* A wait that began. */
struct begun_wait {
    struct wait_counters *counters; /* NULL: not recorded */
    uint64_t asked;
    uint32_t weight; /* waits that this one stands for, when sampling */
};

enum wait_result {
    WAIT_PASSED,
    WAIT_AT_ONCE,     /* without having waited, after all */
    WAIT_INTERRUPTED, /* it ended without what it was for: at its time limit, by a signal */
    WAIT_REFUSED,     /* it was no wait: an error of the caller's */
};

/* The counters of the object, of events that took no time; NULL where there are none. `caller` is CALLER(). */
struct wait_counters *wait_counters_of_object(struct thread *thread, const void *object, enum segment_object_kind kind,
                                              const uint64_t *caller);

/* Who has waited for an object, also in no time: a thread that gives back what it took uses a lock or a pool, one that never
 * waited fills a queue. */
static inline const void **waited_for(struct thread *thread, const void *object) {
    return &thread->waited_for[((uintptr_t)object >> 2 ^ (uintptr_t)object >> 10) & (KNOWN_OBJECTS - 1)];
}

/* `guard` is the mutex of a condition variable, else NULL. Both between thread_enter and thread_leave, with an entered thread. wait_ends enters by itself, and changes neither
 * errno nor anything else that a caller can see. */
struct begun_wait wait_begins(struct thread *thread, const void *object, enum segment_object_kind kind,
                              const void *guard, struct frame frame);
void wait_ends(const struct begun_wait *wait, enum wait_result result);
/* At the end of a thread: a wait that it is still in was cancelled. */
void wait_abandoned(struct thread *thread);

#endif
