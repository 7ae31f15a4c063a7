/* cpu_stack.h: whose a CPU sample is that met the runtime: the program's, which called a function by way of its hook, or the runtime's
 * own, which is the cost of the recording. */
#ifndef CLEAR_SHIM_CPU_STACK_H
#define CLEAR_SHIM_CPU_STACK_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

/* Removes the runtime's frames from a stack that the timer found. True: the runtime itself was running, or a function that it called
 * for its own ends; the leaf is then LEAF_RECORDER, above the frames of the program that called the hook. A function that a hook
 * tried first (pthread_mutex_trylock) is shown as the one that the program called. */
bool cpu_stack_clean(struct thread *thread, struct walked_stack *stack);

#endif
