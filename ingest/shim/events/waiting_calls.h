/* waiting_calls.h: what a thread is in, for the recorder's looks at its state (TRACE_WALL, --wall): the call of the C library that may wait,
 * and who called it. No signal and no clock is needed for that: the recorder asks the kernel whether the thread runs, and reads here
 * what it waits in. Locks and other waits publish themselves already (wait_publish).
 *
 * Costs a walk of the stack and two stores a call, and one load without --wall. */
#ifndef CLEAR_SHIM_WAITING_CALLS_H
#define CLEAR_SHIM_WAITING_CALLS_H

#include "ingest/shim/events/trace.h"

/* By enum segment_io_call and enum segment_waiting_call. */
extern HIDDEN const char *const call_names[WAITING_CALLS];

/* With an entered thread: it is about to make the call. Threads past their end share one record, and tell nothing. */
static ALWAYS_INLINE void call_published(struct thread *thread, uint32_t call, uint32_t stack) {
    if (traces(TRACE_WALL) && !thread->orphan) store_relaxed(&thread->counters->in_call, (uint64_t)call << 32 | stack);
}

/* The same by itself. Leaves errno as it is. */
void call_begins_slowly(enum segment_waiting_call call, const uint64_t *caller);
static ALWAYS_INLINE void call_begins(enum segment_waiting_call call, const uint64_t *caller) {
    if (traces(TRACE_WALL)) call_begins_slowly(call, caller);
}

/* It is over. A call that is cancelled is over with its thread. One that was interrupted by a handler which made another is no
 * longer published, so what a handler leaves by longjmp does not stay. */
static ALWAYS_INLINE void call_ends(void) {
    struct thread *thread = self;
    if (traces(TRACE_WALL) && thread->counters) store_relaxed(&thread->counters->in_call, 0);
}

#endif
