/* unwind.h: walks the stack of a hook's caller.
 *
 * Every return address has an unwind rule, which is computed once from the module's call frame information (.eh_frame)
 * and kept in a table of the process. Most rules have one of three forms: plain frame pointer, stack pointer plus
 * constant, frame pointer plus constant. So a step is a look-up and two loads. Nothing is guessed: each frame is left
 * by the rule of its own address, so code with and without frame pointers may alternate. Where there is no information the stack ends and is
 * marked STACK_INCOMPLETE. Code of a JIT is left by its frame pointer, if that is one; the stack is marked all the same. */
#ifndef CLEAR_SHIM_UNWIND_H
#define CLEAR_SHIM_UNWIND_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

/* The frame of the caller of the function that this stands in. That function needs a frame pointer; the runtime is
 * compiled with them. CALLER is where it is, for functions that seldom need it. */
#define CALLER()       ((const uint64_t *)__builtin_frame_address(0))
#define CALLER_FRAME() frame_at(CALLER())

static ALWAYS_INLINE struct frame frame_at(const uint64_t *caller) {
    return (struct frame){.pc = caller[1], .sp = (uintptr_t)(caller + 2), .bp = caller[0]};
}

/* Fills *stack; its addresses are in thread->pc (thread->tick_pc in the handler of the timer) until the next walk.
 * Counts truncated and incomplete stacks. */
void unwind(struct thread *thread, struct frame frame, struct walked_stack *stack);

/* The same. Returns every word of the stack that the walk depended on: the thread's, until its next walk. */
const struct trail *unwind_noting(struct thread *thread, struct frame frame, struct walked_stack *stack);

/* The same as unwind, with the stack pointer of each frame, and behind the last one that of its caller, in sp[0 .. depth]. Counts nothing. */
void unwind_places(struct thread *thread, struct frame frame, struct walked_stack *stack, uint64_t *sp);

/* Makes the hash of a stack whose addresses were changed. */
void unwind_changed(struct walked_stack *stack);
/* Has the module of an address noted that no walk may have met. */
void unwind_note(struct thread *thread, uint64_t pc);
/* The same for a stack that was walked while the runtime's lock was taken, and makes its hash. False: it is taken still, by this thread or in its way. */
bool unwind_note_all(struct thread *thread, struct walked_stack *stack);
/* Whether it is a return address into the kernel's signal frame: what is above it in the stack was interrupted. */
bool unwind_is_signal(struct thread *thread, uint64_t pc);

bool rules_start(void);                         /* makes the table of rules */
void rules_forget(uint64_t low, uint64_t high); /* of code at these addresses; needs process->lock */

#endif
