/* cpu.h: CPU sampling. Each thread has a timer on its own CPU clock; the handler of the timer's signal records a stack.
 *
 * The signal is SIGPROF, because debuggers pass it on without stopping. A program that wants it for itself (sigaction,
 * signal) gets it: our timers then end for good. System calls are restarted where the kernel can (SA_RESTART). poll,
 * epoll_wait and sleeps that were about to wait when the timer expired still return EINTR, as under every profiler that
 * uses signals. Timers run on CPU time, so a thread that waits gets no signals. */
#ifndef CLEAR_SHIM_CPU_H
#define CLEAR_SHIM_CPU_H

#include "ingest/shim/core/runtime.h"

uint64_t cpu_interval_ns(void); /* between two ticks of a thread; 0: there are none. Another thread may end them */
/* Once a process, before its first thread; false where SIGPROF is the program's. `is_child`: it was forked from one that was recorded. */
bool cpu_start(bool is_child);
void cpu_note_signal_stack(struct thread *thread); /* the calling thread's, of a late runtime; before its timer */
void cpu_begin(struct thread *thread);             /* the calling thread's timer */
void cpu_end(struct thread *thread);
void cpu_stop(void);         /* ends all timers of the process; needs process->lock */
void cpu_again(uint32_t hz); /* makes them anew; the same */

/* Of a late runtime, when its recording ends: the timers and what the program was not to see of the signal; and some time later, when no
 * tick is pending any more, the handler. `thread` is the calling one. */
void cpu_over(struct thread *thread);
void cpu_leave(void);
/* When it begins: handlers that run on a signal stack are masked as if the program had set them now. */
void cpu_mask_handlers(void);

/* A tick takes up to 6 KiB of a thread's stack, of which the kernel's frame has half. A thread with a smaller stack than this that was given no more
 * for that has no timer: one of the program's own, or one from before the recording. */
enum { CPU_SMALL_STACK = 65536 };

/* Whether the program believes that the calling thread blocks the signal: a thread has the mask of the one that made it. */
bool cpu_tick_is_hidden(void);
/* In a new thread: what cpu_tick_is_hidden says in the thread that made it, and whether its stack was made larger for ticks. */
void cpu_inherit(bool is_hidden, bool has_more_stack);

#endif
