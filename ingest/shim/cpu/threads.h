/* threads.h: how many threads the process has, how long they live, and which stacks start them.
 *
 * A thread is counted from its first instruction where pthread_create or thrd_create made it, and from its first hook
 * otherwise; its life ends when the destructors of its thread-specific data run. Threads that begin after the process was
 * sealed are not counted. */
#ifndef CLEAR_SHIM_THREADS_H
#define CLEAR_SHIM_THREADS_H

#include "ingest/shim/core/runtime.h"

/* The calling thread begins, or ends. */
void life_begins(struct thread *thread);
void life_ends(struct thread *thread);

/* The process is about to end or to exec, so all lives end now; and it goes on after all. They may be called by a child that
 * shares its parent's memory. */
void lives_end(void);
void lives_go_on(void);

#endif
