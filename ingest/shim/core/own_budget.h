/* own_budget.h: the budget of a program that clear did not start (`clear env --budget`). Nobody looks at it while it runs, so each process holds its
 * own, by the rule of ingest/budget_rule.h: a hook that tells the segment what was recorded looks at the CPU time of the process, at most every
 * 2^24 ticks at its start and 2^27 later (5 and 50 ms), one thread at a time. That is one call of clock_gettime, which enters the kernel. What waits,
 * input and output cost is not known here. */
#ifndef CLEAR_SHIM_OWN_BUDGET_H
#define CLEAR_SHIM_OWN_BUDGET_H

#include "ingest/shim/core/runtime.h"

/* Where the recording is one of a program that clear did not start; needs the control file and the segment. */
void own_budget_start(void);
/* Of a process that holds its own budget; nothing else happens in others. Leaves errno as it is. */
void own_budget_look_slowly(void);
static ALWAYS_INLINE void own_budget_look(void) {
    if (unlikely(process->own_budget.is_on)) own_budget_look_slowly();
}

#endif
