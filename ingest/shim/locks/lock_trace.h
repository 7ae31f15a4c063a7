/* lock_trace.h: events of locks: holds, and releases for which others waited. All leave errno as it is; `caller` is CALLER(). */
#ifndef CLEAR_SHIM_LOCK_TRACE_H
#define CLEAR_SHIM_LOCK_TRACE_H

#include <pthread.h>

#include "ingest/shim/events/trace.h"

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

/* These enter by themselves. A lock that others waited for was released at `at`. The lock may be gone. */
void trace_released(const void *lock, uint64_t at, const uint64_t *caller);
/* A hold that began at `since` ended with the release at `at`: others waited, or it was long. */
void trace_held(const void *lock, uint64_t since, uint64_t at, bool is_waited_for, const uint64_t *caller);

/* When the hold of a lock began, before it is released: 0 where it was not timed or goes on, because the mutex is recursive. */
uint64_t trace_hold_since(const void *lock);

#endif
