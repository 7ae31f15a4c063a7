/* fiber.h: records fibers of the program's own scheduler, which reports through clear.h. They count at the task site
 * that spawned them. A fiber whose spawn was not recorded is ignored. */
#ifndef CLEAR_SHIM_FIBER_H
#define CLEAR_SHIM_FIBER_H

#include "ingest/shim/core/runtime.h"

void fiber_spawned(struct thread *thread, uint64_t fiber, uint32_t site, struct frame frame);
void fiber_ran(struct thread *thread, uint64_t fiber, uint32_t scheduler);
/* It gave its thread back. */
void fiber_parked(struct thread *thread, uint64_t fiber);
void fiber_exited(struct thread *thread, uint64_t fiber);

#endif
