/* cpu.h: where the CPU time goes: a timer on the CPU clock of each thread, whose signal takes a stack.
 *
 * The signal is SIGPROF, as debuggers pass it without stopping. A program that wants it for itself (sigaction, signal) gets it: our timers
 * end then, for good. The handler restarts system calls where the kernel can (SA_RESTART); poll, epoll_wait and sleeps that were
 * just going to wait when the timer ran out still return EINTR, as under every profiler by signals. Timers run on CPU time,
 * so a thread that waits gets no signals. */
#ifndef CLEAR_SHIM_CPU_H
#define CLEAR_SHIM_CPU_H

#include "ingest/shim/runtime.h"

bool cpu_start(void);                  /* once a process, before its first thread; false where it cannot be */
void cpu_begin(struct thread *thread); /* by the thread itself */
void cpu_end(struct thread *thread);
void cpu_stop(void); /* all timers of the process, for good; needs process->lock */

#endif
