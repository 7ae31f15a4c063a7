/* wait_delays.h: how much of the waits for locks was for a processor, and not for the lock: while a thread waits for a lock whose holder
 * is ready to run and has no processor, or is ready itself, it waits for the machine.
 *
 * A thread that waits publishes since when, for what, and who has the lock (struct thread_counters). A look meets such a wait and asks the
 * kernel for the run delay of both threads (thread_clock.h); the first look behind its end asks again. The difference, at most the wait, is
 * its delay. All is read from outside, so the program makes no call for it, and has no descriptor.
 *
 * What is known is a lower bound. A wait that no look meets is not seen: of those that are shorter than the time between two looks, the
 * seen ones stand for the others. A wait of less than 1 ms counts as seen and has no delay: a thread that lost its processor is rarely back
 * sooner. Who has a spin lock, or reads under an rwlock, says so in its own record; of several readers it is followed who still does. Where nothing ever
 * says who has a lock (one of the program's own), only who waits is asked. Who has a mutex later is told by the threads that begin to wait then. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_WAIT_DELAYS_H
#define CLEAR_INGEST_RECORD_KERNEL_WAIT_DELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "ingest/record/kernel/thread_records.h"

/* Of the waits for one lock by one stack; all only grow. */
struct wait_delay {
    uint32_t object;        /* id in the segment */
    uint64_t seen_ns;       /* waits that were seen, with those that they stand for */
    uint64_t delay_ns;      /* of them: the holder or who waits was ready and had no processor; at most seen_ns */
    uint64_t hold_delay_ns; /* the holder was; where several threads wait for it at once, once */
    bool has_owner;         /* one of these waits knew who had the lock: those that do not are left out from then on */
};

/* Of one process. */
struct wait_delays {
    struct thread_records records;
    struct watched_wait *waits; /* by record */
    size_t count, capacity;
    struct map index; /* object -> its index in sums */
    struct wait_delay *sums;
    size_t sum_count, sum_capacity;
};

/* A moment, on CLOCK_MONOTONIC and on the clock of lock times, of which `rate_ticks` take `rate_ns`. */
struct wait_look {
    uint64_t now_ns, now_ticks, rate_ns, rate_ticks;
    uint64_t gap_ns; /* since the last look, if that is one of a series; else 0 */
};

void wait_delays_init(struct wait_delays *delays);
/* Looks at the threads of the process with that segment, at most 1,024 of them. True: one of them waits for a lock, or has since the last look. */
bool wait_delays_look(struct wait_delays *delays, int directory, const char *segment, const struct wait_look *look);
/* The thread that has the lock which the thread of that record waits for, as of the last look; 0: not known, or it waits for none. */
uint32_t wait_owner_of(const struct wait_delays *delays, size_t record);
void wait_delays_free(struct wait_delays *delays);

#endif
