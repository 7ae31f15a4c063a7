/* run_delay.h: how long the threads of the program were ready to run and had no processor.
 *
 * Linux counts it for each thread (/proc/PID/task/TID/schedstat, where the kernel has CONFIG_SCHED_INFO). It is read from outside,
 * 3 us a thread, so that the program makes no call and opens no file for it: every 20 ms of a young run, then each fortieth of its age, at most
 * every second, and never for more than a fiftieth of a processor. The kernel counts a stay in the queue when it is over. Where a look finds threads
 * without a processor, the next ones also ask whether those are ready that have not run since the last (state R): a thread whose last
 * stay took most of its life would end before that is counted. What a thread waits after the last look that saw it is not counted, and
 * threads that live between two looks are not either: the sum is a lower bound. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_RUN_DELAY_H
#define CLEAR_INGEST_RECORD_KERNEL_RUN_DELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

/* A thread that was seen. */
struct thread_delay {
    int32_t process, tid;
    uint64_t read_ns, turns; /* what the kernel said at the last look */
    uint64_t pending_ns;     /* of its stay in the queue that is not over: in ns, and not yet in read_ns */
    bool is_seen, is_ready;  /* at the last look: is_ready of it */
    uint64_t ran_ns, ns;     /* it ran, as the kernel says; it was ready and had no processor, as far as looks saw it */
    char name[16];           /* of the kernel, as of when ns was DELAY_NAMED_NS first; "" before */
};
enum { DELAY_NAMED_NS = 1000000 };

/* What a look finds of it. */
struct thread_look {
    uint64_t ran_ns, delay_ns,
        turns; /* it ran, had no processor, and got one so often, up to the beginning of its stay in the queue */
    uint64_t since_ns; /* time since the last look */
    bool is_ready;     /* it has not run since the last look, and its state is R; false: not asked */
};
bool thread_delay_has_run(const struct thread_delay *seen, const struct thread_look *look);
/* Returns how long it had no processor since the last look. */
uint64_t thread_delay_add(struct thread_delay *seen, const struct thread_look *look);

/* A process that is looked at. */
struct watched_process {
    pid_t pid;
    uint64_t untaken_ns; /* that its threads had no processor, since run_delay_take */
};

/* The lock holds all that follows it. */
struct run_delay {
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    pthread_t thread; /* of run_delay_look_beside */
    bool has_thread, is_stopping;
    int64_t started_ns;              /* CLOCK_MONOTONIC: the run */
    struct watched_process *watched; /* in no order */
    size_t watched_count, watched_capacity;
    struct map index;             /* process and thread -> its index in threads */
    struct thread_delay *threads; /* also those that have ended */
    size_t count, capacity;
    uint64_t ns;                   /* of all threads that were seen */
    bool is_known;                 /* the kernel counts it */
    int64_t due_ns;                /* CLOCK_MONOTONIC: the next look */
    int64_t looked_ns, looking_ns; /* the same clock: the last look at all, and this one */
    uint64_t looked_sum_ns;        /* ns then */
    bool asks_states;              /* threads had no processor between the last two */
};

/* Of a run that began at `started_ns` (CLOCK_MONOTONIC). */
void run_delay_open(struct run_delay *delay, int64_t started_ns);
void run_delay_close(struct run_delay *delay);
/* From here on a thread of the recorder looks where run_delay_look comes too late: to read the symbols of a program can take longer than it
 * runs. Without memory for a thread nothing changes. */
void run_delay_look_beside(struct run_delay *delay);

/* Looks at this process too, until it is gone or run_delay_take is told that it is over. */
void run_delay_watch(struct run_delay *delay, pid_t process);
/* Looks at the threads of all processes, at most 1,024 of each, if a look is due. */
void run_delay_look(struct run_delay *delay);
/* How long the threads of that process had no processor, since the last call. `is_over`: nobody looks at it any more, for its number may soon
 * be another process's. */
uint64_t run_delay_take(struct run_delay *delay, pid_t process, bool is_over);

struct run_delay_sum {
    uint64_t ns;
    bool is_known;
};
struct run_delay_sum run_delay_sum(struct run_delay *delay);
/* Those of a process that had none for DELAY_NAMED_NS or longer: an array that the caller frees, or NULL. */
struct thread_delay *run_delay_threads(struct run_delay *delay, pid_t process, size_t *count);

/* How long to rest after a look that took `cpu_ns`, in a run of that age. */
int64_t run_delay_rest(int64_t age_ns, int64_t cpu_ns);

#endif
