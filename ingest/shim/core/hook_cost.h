/* hook_cost.h: what the hooks of the heap cost, measured as they go, for the recorder that holds a budget (--budget).
 *
 * Of what is recorded, one event in eight in the mean is timed (one in two where allocations are sampled, and events are few), at random
 * intervals, and stands for those since the last one. What is passed over takes less than a reading of the clock: it is counted, and costs 1.25 of
 * what it took in a loop when the program began. Threads tell the segment after 16 timed events, or 2^24 ticks. */
#ifndef CLEAR_SHIM_HOOK_COST_H
#define CLEAR_SHIM_HOOK_COST_H

#include "ingest/shim/core/runtime.h"

/* Needs the segment. */
void hook_cost_start(void);
/* Measures what it costs to pass over an allocation and its free. With the calling thread, which is idle, where the runtime was loaded. */
void hook_cost_measure(struct thread *thread);

/* Around an event that is recorded. 0: it is not timed, and hook_cost_to does nothing. */
uint64_t hook_cost_from(struct thread *thread);
void hook_cost_to(struct thread *thread, uint64_t from);

#endif
