/* The hooks of pthread locks. They hold a lock no longer than the program would:
 *   - the counters of the lock are looked up before it is acquired;
 *   - the clock is read before an uncontended acquisition (a trylock that succeeds takes next to no time) whose hold is
 *     timed, and before and after the wait of a contended one;
 *   - the stack of a contended acquisition is walked before it waits;
 *   - a release reads the clock before it unlocks (about 9 ns) where the hold is timed, and counts afterwards;
 *   - a shared acquisition has no hold that is timed, so without contention it reads no clock.
 * A wait that reaches its time limit is a wait too, and one that is not over when the process dies: the thread says in
 * its record since when it waits, and for what. waits.c has the waits on condition variables. The release of a lock that
 * this thread is not known to hold is ignored. */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "ingest/shim/lockrecord.h"
#include "ingest/shim/real.h"

COLD void lock_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_locks, 1);
}

static struct lock_counters *counters_of_part(struct thread *thread, void *lock, enum segment_object_kind kind,
                                              uint32_t part, uint32_t *id) {
    struct object_key key = {.address = (uintptr_t)lock, .class = CLASS_LOCK, .part = part};
    *id = object_intern(thread, key, kind);
    return *id ? lock_counters_of(thread, *id) : NULL;
}

COLD struct lock_counters *lock_counters_lookup(struct thread *thread, void *lock, enum segment_object_kind kind,
                                                struct known_object *known) {
    uint32_t id;
    struct lock_counters *counters = counters_of_part(thread, lock, kind, 0, &id);
    if (counters)
        *known = (struct known_object){.object = lock, .counters = counters};
    else
        lock_dropped();
    return counters;
}

struct lock_counters *lock_counters_by_stack(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             struct frame frame) {
    uint32_t stack = callstack(thread, frame), id;
    struct lock_counters *counters = stack ? counters_of_part(thread, lock, kind, stack, &id) : NULL;
    if (!counters) lock_dropped();
    return counters;
}

struct attempt lock_contended(struct thread *thread, void *lock, enum segment_object_kind kind, struct attempt attempt,
                              struct frame frame, uint32_t *id) {
    *id = 0;
    if (!attempt.counters) return attempt;
    uint32_t stack = callstack(thread, frame);
    struct lock_counters *counters = counters_of_part(thread, lock, kind, stack, id);
    if (counters) attempt.counters = counters;
    return attempt;
}

/* The next interval between timed holds: 1 to 2 * HOLDS_SAMPLED - 1, so HOLDS_SAMPLED in the mean. Marsaglia's
 * xorshift. */
void hold_draw(struct thread *thread) {
    uint32_t x = thread->hold_random ? thread->hold_random : (uint32_t)__builtin_ia32_rdtsc() | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    thread->hold_random = x;
    thread->holds_to_skip = (uint32_t)((uint64_t)x * (2 * HOLDS_SAMPLED - 1) >> 32);
}

static inline bool is_acquired(int result) {
    return result == 0 || result == EOWNERDEAD;
}

static struct attempt begin_wait(struct thread *thread, void *lock, enum segment_object_kind kind, enum mode mode,
                                 struct attempt attempt, struct frame frame) {
    uint32_t id;
    attempt = lock_contended(thread, lock, kind, attempt, frame, &id);
    attempt.asked = clock_ticks();
    if (attempt.counters) wait_publish(thread, id, attempt.weight, mode, attempt.asked);
    return attempt;
}

enum wait_end { WAIT_GOT, WAIT_TIMED_OUT, WAIT_FAILED };

static enum wait_end wait_end(int result) {
    return is_acquired(result) ? WAIT_GOT : result == ETIMEDOUT ? WAIT_TIMED_OUT : WAIT_FAILED;
}

/* With the lock held where it was acquired, so it does little. */
static void end_wait(void *lock, enum mode mode, struct attempt attempt, enum wait_end end) {
    uint64_t now = clock_ticks(), wait = now > attempt.asked ? now - attempt.asked : 0;
    struct thread *thread = attempt.counters ? thread_enter() : NULL;
    if (!thread) return;
    wait_unpublish(thread);
    attempt.asked = now;
    if (end == WAIT_GOT) {
        lock_got_waiting(thread, lock, attempt, mode, wait);
    } else if (end == WAIT_TIMED_OUT) {
        add_own(&attempt.counters->timeouts, attempt.weight);
        count_wait(attempt, mode, wait);
    }
    thread_leave(thread);
}

/* The one shape of an acquiring hook: try, and wait only where the lock is taken. So contention is exact. It suits every
 * kind of mutex: one that checks errors says that it is taken to the try, and EDEADLK to the real call. What else fails
 * fails in the same way for both. */
#define ACQUIRE_AS(lock, kind, mode, is_got, is_taken, ended, try_call, wait_call)                                     \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return wait_call;                                                                           \
    struct attempt attempt;                                                                                            \
    RECORD(thread, attempt = lock_ask(thread, lock, kind, mode, CALLER_FRAME()));                                      \
    int result = try_call;                                                                                             \
    if (likely(is_got)) lock_got(thread, lock, attempt, mode);                                                         \
    if (likely(!(is_taken))) {                                                                                         \
        thread_leave(thread);                                                                                          \
        return result;                                                                                                 \
    }                                                                                                                  \
    RECORD(thread, attempt = begin_wait(thread, lock, kind, mode, attempt, CALLER_FRAME()));                           \
    thread_leave(thread); /* a signal handler that runs during the wait is recorded */                                 \
    result = wait_call;                                                                                                \
    end_wait(lock, mode, attempt, ended);                                                                              \
    return result

#define ACQUIRE(lock, kind, mode, try_call, wait_call)                                                                 \
    ACQUIRE_AS(lock, kind, mode, is_acquired(result), result == EBUSY, wait_end(result), try_call, wait_call)

#define TRY_AS(lock, kind, mode, is_got, is_taken, try_call)                                                           \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return try_call;                                                                            \
    struct attempt attempt;                                                                                            \
    RECORD(thread, attempt = lock_ask(thread, lock, kind, mode, CALLER_FRAME()));                                      \
    int result = try_call;                                                                                             \
    if (is_got) lock_got(thread, lock, attempt, mode);                                                                 \
    if ((is_taken) && attempt.counters) add_own(&attempt.counters->failed_tries, attempt.weight);                      \
    thread_leave(thread);                                                                                              \
    return result

#define TRY(lock, kind, mode, try_call) TRY_AS(lock, kind, mode, is_acquired(result), result == EBUSY, try_call)

#define RELEASE(lock, call)                                                                                            \
    struct thread *thread = lock_enter_holding();                                                                      \
    if (unlikely(!thread)) return call;                                                                                \
    struct held_lock ended;                                                                                            \
    bool is_last = hold_release(thread, lock, &ended);                                                                 \
    uint64_t now = is_last ? clock_ticks() : 0;                                                                        \
    int result = call;                                                                                                 \
    if (is_last) hold_ended(&ended, now);                                                                              \
    thread_leave(thread);                                                                                              \
    return result

/* --- mutexes -------------------------------------------------------------------------------------------------- */

HOOK int pthread_mutex_lock(pthread_mutex_t *mutex) {
    ACQUIRE(mutex, OBJECT_MUTEX, EXCLUSIVE, real.pthread_mutex_trylock(mutex), real.pthread_mutex_lock(mutex));
}

HOOK int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    TRY(mutex, OBJECT_MUTEX, EXCLUSIVE, real.pthread_mutex_trylock(mutex));
}

HOOK int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    ACQUIRE(mutex, OBJECT_MUTEX, EXCLUSIVE, real.pthread_mutex_trylock(mutex),
            real.pthread_mutex_timedlock(mutex, until));
}

HOOK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    ACQUIRE(mutex, OBJECT_MUTEX, EXCLUSIVE, real.pthread_mutex_trylock(mutex),
            real.pthread_mutex_clocklock(mutex, clock, until));
}

HOOK int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    RELEASE(mutex, real.pthread_mutex_unlock(mutex));
}

/* --- read-write locks ----------------------------------------------------------------------------------------- */

HOOK int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    ACQUIRE(lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock), real.pthread_rwlock_rdlock(lock));
}

HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    TRY(lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock));
}

HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
    ACQUIRE(lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock),
            real.pthread_rwlock_timedrdlock(lock, until));
}

HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
    ACQUIRE(lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock),
            real.pthread_rwlock_clockrdlock(lock, clock, until));
}

HOOK int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    ACQUIRE(lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock), real.pthread_rwlock_wrlock(lock));
}

HOOK int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    TRY(lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock));
}

HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
    ACQUIRE(lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock),
            real.pthread_rwlock_timedwrlock(lock, until));
}

HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
    ACQUIRE(lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock),
            real.pthread_rwlock_clockwrlock(lock, clock, until));
}

HOOK int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    RELEASE(lock, real.pthread_rwlock_unlock(lock));
}

/* --- spin locks ----------------------------------------------------------------------------------------------- */

HOOK int pthread_spin_lock(pthread_spinlock_t *lock) {
    ACQUIRE((void *)lock, OBJECT_SPIN, EXCLUSIVE, real.pthread_spin_trylock(lock), real.pthread_spin_lock(lock));
}

HOOK int pthread_spin_trylock(pthread_spinlock_t *lock) {
    TRY((void *)lock, OBJECT_SPIN, EXCLUSIVE, real.pthread_spin_trylock(lock));
}

HOOK int pthread_spin_unlock(pthread_spinlock_t *lock) {
    RELEASE((void *)lock, real.pthread_spin_unlock(lock));
}

/* --- mutexes of C11, which glibc makes of its own below the functions that are hooked ------------------------------ */

#define ACQUIRE_C11(mutex, wait_call)                                                                                  \
    ACQUIRE_AS(mutex, OBJECT_MUTEX, EXCLUSIVE, result == thrd_success, result == thrd_busy, wait_end_c11(result),      \
               real.mtx_trylock(mutex), wait_call)

static enum wait_end wait_end_c11(int result) {
    return result == thrd_success ? WAIT_GOT : result == thrd_timedout ? WAIT_TIMED_OUT : WAIT_FAILED;
}

HOOK int mtx_lock(mtx_t *mutex) {
    ACQUIRE_C11(mutex, real.mtx_lock(mutex));
}

HOOK int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until) {
    ACQUIRE_C11(mutex, real.mtx_timedlock(mutex, until));
}

HOOK int mtx_trylock(mtx_t *mutex) {
    TRY_AS(mutex, OBJECT_MUTEX, EXCLUSIVE, result == thrd_success, result == thrd_busy, real.mtx_trylock(mutex));
}

HOOK int mtx_unlock(mtx_t *mutex) {
    RELEASE(mutex, real.mtx_unlock(mutex));
}
