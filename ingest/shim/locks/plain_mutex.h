/* plain_mutex.h: plain and recursive mutexes of glibc, taken and given back in place.
 *
 * Where each acquisition is passed over or only counted, the way through the call slots to glibc and back is most of what a hook of such a mutex adds.
 * What glibc does to these two kinds is a few stores, and their place is part of its binary interface: a mutex that is initialized statically has them
 * in the program's data. What it stores is not taken on trust: at the start glibc's own functions are called on a mutex of ours, and unless
 * they leave there what these leave, each call goes to them (plain_kinds is 0). So it does where another library stands before glibc.
 *
 * Other kinds, a mutex that somebody else has, one with waiters and what is an error (the release of a mutex of another thread, too many acquisitions of
 * a recursive one) are glibc's. */
#ifndef CLEAR_SHIM_PLAIN_MUTEX_H
#define CLEAR_SHIM_PLAIN_MUTEX_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "ingest/shim/core/atomic.h"

/* Kinds (__kind of pthread_mutex_t) below this are taken here: 0, or PTHREAD_MUTEX_TIMED_NP and PTHREAD_MUTEX_RECURSIVE_NP. */
extern HIDDEN uint32_t plain_kinds;
/* Tries whether they are as expected. For the start of a process, when the real functions are known. */
void plain_mutexes_try(void);

/* The calling thread's id, from where glibc keeps it and mutexes have their owners from. */
static ALWAYS_INLINE int32_t plain_owner(void) {
    int32_t tid;
    __asm__("movl %%fs:0x2d0, %0" : "=r"(tid)); /* struct pthread, tid; plain_mutexes_try compares it */
    return tid;
}

/* As plain_kinds says. */
static ALWAYS_INLINE uint32_t plain_kind_of(const pthread_mutex_t *mutex) {
    return (uint32_t)load_relaxed(&mutex->__data.__kind);
}

static ALWAYS_INLINE bool plain_word_becomes(pthread_mutex_t *mutex, int before, int after, bool is_alone) {
    int expected = before;
    if (!is_alone) return compare_exchange(&mutex->__data.__lock, &expected, after);
    store_relaxed(&mutex->__data.__lock, after);
    return true;
}

/* Of a plain kind. `is_alone`: the process has one thread, so plain stores do. False: it did nothing. In the order of glibc, for signal handlers. */
static ALWAYS_INLINE bool plain_mutex_take_as(pthread_mutex_t *mutex, uint32_t kind, bool is_alone) {
    if (unlikely(load_relaxed(&mutex->__data.__lock))) {
        if (kind != PTHREAD_MUTEX_RECURSIVE_NP || load_relaxed(&mutex->__data.__owner) != plain_owner() ||
            mutex->__data.__count == UINT_MAX)
            return false;
        mutex->__data.__count++;
        return true;
    }
    if (unlikely(!plain_word_becomes(mutex, 0, 1, is_alone))) return false;
    if (kind) mutex->__data.__count = 1;
    store_relaxed(&mutex->__data.__owner, plain_owner());
    mutex->__data.__nusers++;
    return true;
}

/* Where somebody began to wait in the middle of it, all is put back: the mutex is still ours then. */
static ALWAYS_INLINE bool plain_mutex_give_as(pthread_mutex_t *mutex, uint32_t kind, bool is_alone) {
    if (unlikely(load_relaxed(&mutex->__data.__lock) != 1)) return false;
    if (kind) {
        if (unlikely(load_relaxed(&mutex->__data.__owner) != plain_owner())) return false;
        if (mutex->__data.__count != 1) {
            mutex->__data.__count--;
            return true;
        }
        mutex->__data.__count = 0;
    }
    store_relaxed(&mutex->__data.__owner, 0);
    mutex->__data.__nusers--;
    if (likely(plain_word_becomes(mutex, 1, 0, is_alone))) return true;
    mutex->__data.__nusers++;
    store_relaxed(&mutex->__data.__owner, plain_owner());
    if (kind) mutex->__data.__count = 1;
    return false;
}

static ALWAYS_INLINE bool plain_mutex_take(pthread_mutex_t *mutex) {
    uint32_t kind = plain_kind_of(mutex);
    return likely(kind < load_relaxed(&plain_kinds)) && plain_mutex_take_as(mutex, kind, __libc_single_threaded);
}

static ALWAYS_INLINE bool plain_mutex_give(pthread_mutex_t *mutex) {
    uint32_t kind = plain_kind_of(mutex);
    return likely(kind < load_relaxed(&plain_kinds)) && plain_mutex_give_as(mutex, kind, __libc_single_threaded);
}

#endif
