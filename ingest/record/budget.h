/* budget.h: holds what recording adds to a program's CPU time (--budget), by how allocations and acquisitions of locks are sampled.
 *
 * A thread of the recorder looks at each process: what the hooks of the heap took by its segment (struct segment: budget_ticks), and its CPU
 * time by the kernel's clock of it. The program makes no call for it. Looks are 5 ms apart in a young run, and 100 ms from its first second on.
 * Where the cost since the last decision is more than the share of the rest of the CPU time, the mean of the sampling is raised by a factor of
 * two or four (enum: SAMPLE_LEVELS, from 1 KiB on); while the run as a whole is above its budget, as after a start in which each allocation was
 * recorded, half of the share counts. It is lowered by a factor of two after five decisions in a row of which each foresees that the cost would
 * still be below 0.7 of the share, so it does not swing.
 *
 * Locks likewise, from one of 64 acquisitions that need not wait to one of 4,096 (LOCK_LEVEL_N), by factors of four. Where both together take too
 * much, each whose part is more than half of what is left for them is raised. What they cost is their number, which the runtime tells, at 10 ns
 * for an acquisition that is recorded with its release where each is (measured in storms: 7.0 of one mutex, 10.4 of 64, 12.2 where a half are locks of
 * readers and writers, on 6.6 to 12.0 ns of their own), 60 ns for one that stands for others, whose hold is timed, and 3 ns for one that is passed over.
 *
 * What the other kinds cost is estimated from their events: 100 ns for a wait, a call of input and output and others with a stack. It is part of the
 * cost, and is not sampled. What is known by numbers alone is 0.55 of the CPU time at most. So where what cannot be sampled is above the budget,
 * the others are sampled until they have a tenth of the share, and the report says what the cost is. */
#ifndef CLEAR_INGEST_RECORD_BUDGET_H
#define CLEAR_INGEST_RECORD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the decision, apart from clocks and processes ---- */

/* Of a time, in ns of CPU time; cpu_ns with all of the others. */
struct budget_sums {
    double recorded_ns, events; /* allocations and frees that were recorded */
    double passed_ns, passed;   /* allocations that were passed over, with their frees */
    double locks, locks_sampled,
        locks_passed; /* acquisitions: where each was recorded; that stood for others; that were passed over */
    double other_ns;  /* the other kinds */
    double cpu_ns;
};

struct budget_state {
    double share;                /* of the CPU time without the cost */
    uint32_t level, lock_level;  /* as in struct control: sample_level, lock_level */
    uint32_t roomy, locks_roomy; /* decisions in a row that foresaw room for a finer level of each */
    struct budget_sums all;      /* since the start */
};

/* The cost as a share of the rest of the CPU time; 0 where there is none. */
double budget_share_of(const struct budget_sums *sums);
/* Adds what happened since the last decision, and sets `level` for what comes. */
void budget_decide(struct budget_state *state, const struct budget_sums *since);

/* ---- the thread that looks ---- */

struct budget;

/* `directory` is that of the segments; it stays the caller's and must outlive the looks. NULL: no thread could be started. */
struct budget *budget_start(int directory, double share, bool uses_tsc);
void budget_stop(struct budget *budget); /* safe on NULL */

/* Of allocations, and of locks. */
struct budget_levels {
    uint32_t heap, locks;
};

/* Of the other kinds, so many events since the start that have a stack. */
void budget_note_others(struct budget *budget, uint64_t events);
/* A window ends: the highest levels that were in force in it. budget_window_failed: it could not be written, so the next one has its time too. */
struct budget_levels budget_window(struct budget *budget);
void budget_window_failed(struct budget *budget, struct budget_levels levels);

struct budget_result {
    double cost;                   /* a share, as far as it is known */
    struct budget_levels coarsest; /* the highest so far */
    int64_t exact_ns;              /* so long after its start each allocation was recorded; -1: to the end */
    int64_t locks_exact_ns;        /* the same of acquisitions of locks */
};
struct budget_result budget_result(struct budget *budget);

#endif
