/* syscall_filter.h: whether a process has forbidden itself system calls (seccomp), as /proc/PID/status says. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_SYSCALL_FILTER_H
#define CLEAR_INGEST_RECORD_KERNEL_SYSCALL_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

/* True if the process with that number has no filter in any thread, has asked for no new privileges, and has the same number for itself as for us: no other
 * process that only goes by that number here. What cannot be read is no. */
bool syscall_filter_is_absent(pid_t pid);
/* The same of the text of a status file. */
bool syscall_filter_is_absent_in(const char *status, pid_t pid);

#endif
