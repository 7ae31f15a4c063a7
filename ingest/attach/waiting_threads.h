/* waiting.h: what the threads of a process wait for when it is attached to: locks, condition variables, semaphores, barriers, other threads, and
 * words of their own (futex). Seen from outside, by what the kernel tells of a system call and by the thread's stack; no thread is stopped. */
#ifndef CLEAR_INGEST_ATTACH_WAITING_THREADS_H
#define CLEAR_INGEST_ATTACH_WAITING_THREADS_H

#include <sys/types.h>

#include "ingest/attach/running.h"
#include "ingest/attach/stand.h"

/* Writes the file that the runtime reads (ATTACH_WAITS_FILE of ingest/segment.h), of the first ATTACH_WAITS_MOST threads that wait, as far as they are
 * seen in a second. Where it cannot, nothing is told of these waits. */
void waiting_threads_note(struct stand *stand, const struct running *running, const char *directory);
/* Removes it. */
void waiting_threads_forget(pid_t pid, const char *directory);

#endif
