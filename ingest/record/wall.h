/* wall.h: looks at every thread of the recorded processes, running or not, HZ times a second (--wall), and adds up the time in which
 * they did not run by what they waited in.
 *
 * Who looks is a thread of the recorder. The program gets no signal and makes no call for it: a signal would end the sleeps, polls and
 * waits that SA_RESTART does not restart. Each thread of the program publishes the call or the lock that it waits in, with its stack
 * (struct thread_counters: in_call, wait_object). A look reads that and asks the kernel how long the thread ran and how long it was
 * ready to run (/proc/PID/task/TID/schedstat; without that file whether it runs, /proc/PID/task/TID/stat). The rest of the time since
 * the look before it waited: that time goes to what it waits in now. Where it runs now, the time goes to the next wait that a look finds.
 * So the sums are those of the kernel's clocks, and only their parts are an estimate.
 *
 * A thread is known from the first look that meets it, and until its end: up to a period of each end of its life is in no row.
 *
 * The functions may be called from one thread of the recorder; the looks lock it out for a moment. */
#ifndef CLEAR_INGEST_RECORD_WALL_H
#define CLEAR_INGEST_RECORD_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wall;

/* What a thread waited in. */
enum wall_state {
    WALL_IN_CALL,   /* `call` of the C library; `stack` called it */
    WALL_FOR,       /* a lock or another thread: `object` says which, and its stack */
    WALL_ELSEWHERE, /* a wait that no hook sees: page faults, calls by other ways; `stack`: where the thread began */
    WALL_READY,     /* for a processor; `stack`: where its last CPU sample met it; without one as above */
};

struct wall_key {
    uint32_t state;                    /* enum wall_state */
    uint32_t tid, stack, call, object; /* ids of the segment; those that the state has none of are 0 */
};
struct wall_row {
    struct wall_key key;
    uint64_t samples, ns; /* looks that found it there, and the time: both only grow */
    char name[16];        /* of the thread, as of a recent look */
};

/* `directory` is that of the segments; it stays the caller's and must outlive the looks. NULL: no thread could be started. */
struct wall *wall_start(int directory, uint32_t hz, bool is_paused);
void wall_stop(struct wall *wall); /* safe on NULL, as all others */
void wall_pause(struct wall *wall, bool is_paused);
/* Looks once more, and copies the rows of the process with that segment into *rows, which the caller frees. Returns how many. */
size_t wall_read(struct wall *wall, const char *segment, struct wall_row **rows);
/* Its rows are needed no longer. */
void wall_forget(struct wall *wall, const char *segment);

#endif
