/* earlier_waits.h: waits that had begun when the process was attached to. Their threads are inside of functions that no hook saw called, so who
 * attaches looks for them (ingest/attach/waiting_threads.h), and the runtime tells of each from the moment on when it was loaded: as of a wait that
 * it saw begin. Such a wait ends with the first call of its thread that is seen, which comes some time after the wait: the thread has what
 * it waited for then. */
#ifndef CLEAR_SHIM_EARLIER_WAITS_H
#define CLEAR_SHIM_EARLIER_WAITS_H

#include "ingest/shim/core/runtime.h"

/* Tells of the waits in the file in that directory, of those threads that are still in them. */
void earlier_waits_begin(struct thread *thread, const char *directory);

/* The thread's first call that is seen: it is entered. */
void earlier_wait_ends_slowly(struct thread *thread);
static inline void earlier_wait_ends(struct thread *thread) {
    if (unlikely(load_relaxed(&process->earlier_waits))) earlier_wait_ends_slowly(thread);
}

/* Around what who attaches has the thread do, which goes back into its wait then. */
void earlier_wait_interrupted(void);
void earlier_wait_goes_on(void);

#endif
