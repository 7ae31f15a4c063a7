/* stackrange.h: the bounds of the stack that a walk is on. A walk must never read beyond the mapping that it is in.
 *
 * The bounds of a thread's own stack are looked up when the thread begins. Other stacks (fibers, sigaltstack) are
 * looked up in /proc/self/maps and cached for each thread. Like libunwind's cache of valid pages, this one does not
 * learn of a stack that is unmapped. */
#ifndef CLEAR_SHIM_STACKRANGE_H
#define CLEAR_SHIM_STACKRANGE_H

#include "ingest/shim/core/runtime.h"

struct stack_range stack_range_foreign(struct thread *thread, uintptr_t sp);
struct stack_range stack_range_first(struct thread *thread); /* what is mapped now of the first thread's stack */
void stack_range_start(struct thread *thread);               /* fills thread->stack for the calling thread */
/* The calling thread is on a stack that is not its own: it is filled at the next walk. */
void stack_range_forget(struct thread *thread);

static ALWAYS_INLINE struct stack_range stack_range_of(struct thread *thread, uintptr_t sp) {
    if (likely(sp >= thread->stack.low && sp < thread->stack.high)) return thread->stack;
    return stack_range_foreign(thread, sp);
}

#endif
