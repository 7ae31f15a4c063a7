/* local_frames.h: in which frame of a thread's stack an object lies, so that it can be named as a local variable.
 *
 * Asked when an object is met for the first time. On the own stack the calls that are on now are walked. On another thread's stack,
 * whose calls cannot be walked from here, it is what that thread noted when it last started or joined a thread: who shares a local variable with
 * another thread mostly did one of these in the function that has it. A noted frame counts while its return address is where it was. */
#ifndef CLEAR_SHIM_LOCAL_FRAMES_H
#define CLEAR_SHIM_LOCAL_FRAMES_H

#include "ingest/shim/core/runtime.h"

/* A frame that an address lies in; pc 0: none. */
struct local_frame {
    uint64_t pc;               /* the return address in its function */
    int64_t offset;            /* of the address from the canonical frame address: negative */
    uint32_t size;             /* bytes from the stack pointer at the call to the canonical frame address */
    uint64_t frame, return_pc; /* the canonical frame address, and the return address below it */
};

/* On the stack that the hook was called on. It must not be called in the timer's handler. */
struct local_frame local_frame_here(struct thread *thread, uint64_t address);
/* On the stack of another thread. Needs process->lock. */
struct local_frame local_frame_elsewhere(const struct thread *thread, uint64_t address);
/* Remembers whose an object is that was met. Needs process->lock. */
void local_frame_keep(uint64_t address, uint64_t hash, struct local_frame frame);
/* Notes the calls that led to `frame`, and forgets what lies in calls that are over: another variable may lie there now. About 20 ns a frame, for hooks that
 * start and join threads. */
void local_frames_note(struct thread *thread, struct frame frame);

#endif
