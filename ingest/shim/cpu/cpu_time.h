/* cpu_time.h: the account of CPU time: how much each sample stands for, and what no sample met.
 *
 * A sample stands for an interval of the timer; the first one of a thread for no more than its clock has gone on, and
 * what threads like it left. So what is counted does not exceed the clock. A thread that is shorter than an interval, or
 * than the kernel's own ticks, is met by a sample now and then or never. So at the end of each thread its clock is compared
 * with what was counted for it, and the difference is kept as the balance of the function that such threads begin in.
 * Samples in excess (one stands for 10 ms, in a thread that lives for 1) are in it too, so samples and clocks agree on the
 * average. What a balance still has beyond a few intervals, and all of it at the end of the process, at an exec and before
 * system calls are forbidden, is credited to the leaf LEAF_UNSAMPLED below that function.
 */
#ifndef CLEAR_SHIM_CPU_TIME_H
#define CLEAR_SHIM_CPU_TIME_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

/* Once a process. An image that another one of this process has exec'ed begins where that one stopped counting. */
void cpu_time_start(void);

/* The calling thread begins in the function `routine` (0: unknown). */
void cpu_time_begin(struct thread *thread);
void cpu_time_routine(struct thread *thread, uint64_t routine, struct frame frame);

/* Counts `ticks` samples in a stack. False: no room, or the runtime's lock is taken; the time is then what no sample met. */
bool cpu_time_count(struct thread *thread, const struct walked_stack *stack, uint32_t flags, uint64_t ticks);
/* Keeps such a sample, to be counted by cpu_time_count_kept. Where one waits and the lock is still taken, its stack stands for both.
 * False: one is kept that cannot be counted, or is being counted. */
bool cpu_time_keep(struct thread *thread, const struct walked_stack *stack, uint32_t flags, uint64_t ticks);
void cpu_time_count_kept(struct thread *thread);
/* Counts the ticks that met a slow path of the runtime, where its tables could not be used. Their stacks are not known any more. */
void cpu_time_pay(struct thread *thread);
/* Recording is paused: the time until now is nobody's. */
void cpu_time_skip(struct thread *thread);

/* The calling thread ends. */
void cpu_time_end(struct thread *thread);
/* Credits all CPU time of the process that no sample met. May be called any number of times. */
void cpu_time_settle(struct thread *thread);

/* Before exec: tells the next image, and after one that failed takes that back. */
void cpu_time_hand_over(struct thread *thread);
void cpu_time_take_back(void);

#endif
