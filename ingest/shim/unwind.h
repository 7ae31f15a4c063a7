/* unwind.h: the stack of the caller of a hook.
 *
 * Every return address has an unwind rule, worked out once from the module's call frame information (.eh_frame) and kept
 * in a table of the process. Nearly all rules have one of three shapes: "plain frame pointer", "stack pointer plus constant",
 * "frame pointer plus constant", so a step is a look-up and two loads. Nothing is guessed: a frame is passed only by the
 * rule of its own address, so code with and without frame pointers mixes freely; where there is no information (code of a
 * JIT) the stack ends and says so (STACK_INCOMPLETE). */
#ifndef CLEAR_SHIM_UNWIND_H
#define CLEAR_SHIM_UNWIND_H

#include "ingest/shim/intern.h"
#include "ingest/shim/runtime.h"

/* Of the caller of the function this is written in, which must have a frame pointer (the runtime is compiled with them). */
#define CALLER_FRAME()                                                                                                 \
    ({                                                                                                                 \
        const uint64_t *frame_ = __builtin_frame_address(0);                                                           \
        (struct frame){.pc = frame_[1], .sp = (uintptr_t)(frame_ + 2), .bp = frame_[0]};                               \
    })

/* Fills thread->pc and *stack; counts truncated and incomplete stacks. */
void unwind(struct thread *thread, struct frame frame, struct walked_stack *stack);

/* The same, and notes in *trail every word of the stack that the walk depended on. */
void unwind_noting(struct thread *thread, struct frame frame, struct walked_stack *stack, struct trail *trail);

/* Takes the runtime's own frames out of a stack that a timer found inside a hook. */
void unwind_drop_own(struct walked_stack *stack);

bool rules_start(void);                         /* makes the table of rules */
void rules_forget(uint64_t low, uint64_t high); /* of code at these addresses; needs process->lock */

#endif
