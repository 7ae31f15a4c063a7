/* joins.h: which thread of the kernel a pthread_t means, for the events of joins (TRACE_WAIT). */
#ifndef CLEAR_SHIM_JOINS_H
#define CLEAR_SHIM_JOINS_H

#include <pthread.h>

#include "ingest/shim/core/runtime.h"

/* The calling thread begins, or ends. */
void join_begins(void);
void join_ends(void);

/* The thread of the kernel; 0: unknown. has_ended: it was joined just now, so its id may be another thread's soon, and is forgotten. */
int32_t join_thread(pthread_t id, bool has_ended);

#endif
