/* stackrange.h: how far a stack may be read. A walk must never leave the mapping it is in.
 *
 * A thread's own stack is asked for once. Other stacks (fibers, sigaltstack) are found in /proc/self/maps and remembered a thread;
 * like libunwind's cache of valid pages, that memory is not told when a stack is unmapped. */
#ifndef CLEAR_SHIM_STACKRANGE_H
#define CLEAR_SHIM_STACKRANGE_H

#include "ingest/shim/runtime.h"

struct stack_range stack_range_foreign(struct thread *thread, uintptr_t sp);
void stack_range_start(struct thread *thread); /* fills thread->stack for the calling thread */

static ALWAYS_INLINE struct stack_range stack_range_of(struct thread *thread, uintptr_t sp) {
    if (likely(sp >= thread->stack.low && sp < thread->stack.high)) return thread->stack;
    return stack_range_foreign(thread, sp);
}

#endif
