/* trace.h: keeps single waits with their times, the latest of each thread, in rings in the segment (struct segment_event).
 *
 * An event costs a store of 40 bytes; the clock was read and the stack was walked for the counters already. A release is an
 * event only where somebody waits for the lock, which glibc notes in the lock itself. */
#ifndef CLEAR_SHIM_TRACE_H
#define CLEAR_SHIM_TRACE_H

#include <pthread.h>

#include "ingest/shim/runtime.h"

/* FEATURE_TRACE. As is_io_off: static, so that a hook with nothing to trace needs one load. */
extern uint32_t is_tracing;

/* All with an entered thread. A wait begins for the object; `owner` is the thread that has it, 0: unknown, or none. */
void trace_wait_begins(struct thread *thread, uint32_t object, int32_t owner);
/* It is over. */
void trace_wait_ended(struct thread *thread, enum segment_event_kind kind, uint64_t begin, uint64_t end,
                      uint32_t flags);

/* Whether somebody waits for a lock that the caller holds, and which thread has one: glibc's own words (pthreadP.h). */
static ALWAYS_INLINE bool mutex_is_waited_for(const pthread_mutex_t *mutex) {
    enum { INHERIT = 32, PROTECT = 64 };
    return !(mutex->__data.__kind & (INHERIT | PROTECT)) && load_relaxed(&mutex->__data.__lock) > 1;
}
static inline bool rwlock_is_waited_for(const pthread_rwlock_t *lock) {
    enum { FUTEX_USED = 2 };
    return (load_relaxed(&lock->__data.__wrphase_futex) | load_relaxed(&lock->__data.__writers_futex)) & FUTEX_USED;
}
static inline int32_t mutex_owner(const pthread_mutex_t *mutex) {
    return load_relaxed(&mutex->__data.__owner);
}
static inline int32_t rwlock_owner(const pthread_rwlock_t *lock) {
    return load_relaxed(&lock->__data.__cur_writer);
}

/* Enters by itself. A lock that others waited for was released at `at`; `caller` is CALLER(). The lock may be gone. Leaves
 * errno as it is. */
void trace_released(const void *lock, uint64_t at, const uint64_t *caller);

#endif
