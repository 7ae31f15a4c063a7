/* fiber.h: fibers of the program's own scheduler, counted by the task site that spawned them. */
#ifndef CLEAR_SHIM_FIBER_H
#define CLEAR_SHIM_FIBER_H

#include "ingest/shim/runtime.h"

void fiber_spawned(struct thread *thread, uint64_t fiber, uint32_t site);
void fiber_ran(struct thread *thread, uint64_t fiber, uint32_t scheduler);
void fiber_exited(struct thread *thread, uint64_t fiber);

#endif
