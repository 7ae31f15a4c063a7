/* kernel_kept.h: addresses that the program gave to the kernel and may have nowhere else. The search for lost blocks (leaks.h) begins at
 * them, too.
 *
 * They are what epoll gives back with an event (epoll_data, by /proc/self/fdinfo), and the signal stack of each thread (sigaltstack; Linux shows it
 * to the thread alone, so cpu.c notes it). Not known are those of io_uring. */
#ifndef CLEAR_SHIM_KERNEL_KEPT_H
#define CLEAR_SHIM_KERNEL_KEPT_H

#include <stdint.h>

/* `text`: PROC_LINE bytes (proc_lines.h). */
void kernel_kept_each(char *text, void (*visit)(void *context, uintptr_t word), void *context);

#endif
