/* unseen_cpu.h: the CPU time that the kernel counted for the program and that no recorder in it saw.
 *
 * A recorder ends before its process does: the kernel takes 0.2 to 0.5 ms to take a small process down, more for a large one. And
 * nothing is seen of processes that nothing can be preloaded into. What is missing is credited to the function [unsampled], without a
 * caller, so that the CPU time of a run is that of getrusage(2). */
#ifndef CLEAR_INGEST_RECORD_UNSEEN_CPU_H
#define CLEAR_INGEST_RECORD_UNSEEN_CPU_H

#include <sys/types.h>

#include "ingest/record/resolve.h"

struct unseen_cpu {
    uint64_t used_ns; /* by the program and the children that it waited for, in user and kernel mode; 0: not known */
    uint64_t recorded_ns; /* of them, the recorder's own share included */
    uint64_t processes;   /* that were recorded */
};

/* Stores what is missing at the end of a run, if it is 1 % of what was used or more, and sets *credited_ns. `pid`: the program's. *text
 * says so where it is so much that it cannot be the ends of processes, else it is NULL; free it. */
int unseen_cpu_store(struct resolver *resolver, int64_t run_id, pid_t pid, const struct unseen_cpu *cpu,
                     uint64_t *credited_ns, char **text, struct error *err);

#endif
