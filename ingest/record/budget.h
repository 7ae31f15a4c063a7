/* budget.h: holds what recording adds to a program's CPU time (--budget), by how allocations and acquisitions of locks are sampled.
 *
 * A thread of the recorder looks at each process: what the hooks of the heap took by its segment (struct segment: budget_ticks), and its CPU
 * time by the kernel's clock of it. The program makes no call for it. Looks are 5 ms apart in a young run, and 100 ms from its first second on.
 * ingest/budget_rule.h decides by that. */
#ifndef CLEAR_INGEST_RECORD_BUDGET_H
#define CLEAR_INGEST_RECORD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/budget_rule.h"

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
