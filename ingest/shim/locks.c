/* The hooks of pthread locks. They hold a lock no longer than the program would:
 *   - the counters of the lock are looked up before it is acquired;
 *   - the clock is read before an uncontended acquisition (a trylock that succeeds takes next to no time), and before
 *     and after the wait of a contended one;
 *   - a release reads the clock before it unlocks (about 9 ns), and counts afterwards;
 *   - a shared acquisition has no hold that is timed, so without contention it reads no clock.
 * A wait on a condition variable unlocks its mutex and locks it again: the hold ends and another begins, and that
 * counts neither as an acquisition nor as contention. The release of a lock that this thread is not known to hold is
 * ignored. */
#include <errno.h>
#include <pthread.h>

#include "ingest/shim/lockrecord.h"
#include "ingest/shim/real.h"

COLD void lock_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_locks, 1);
}

static struct lock_counters *counters_of_part(struct thread *thread, void *lock, enum segment_object_kind kind,
                                              uint32_t part) {
    struct object_key key = {.address = (uintptr_t)lock, .class = CLASS_LOCK, .part = part};
    uint32_t id = object_intern(thread, key, kind);
    struct lock_counters *counters = id ? lock_counters_of(thread, id) : NULL;
    if (unlikely(!counters)) lock_dropped();
    return counters;
}

COLD struct lock_counters *lock_counters_lookup(struct thread *thread, void *lock, enum segment_object_kind kind,
                                                struct known_object *known) {
    struct lock_counters *counters = counters_of_part(thread, lock, kind, 0);
    if (counters) *known = (struct known_object){.object = lock, .counters = counters};
    return counters;
}

struct lock_counters *lock_counters_by_stack(struct thread *thread, void *lock, enum segment_object_kind kind,
                                             struct frame frame) {
    uint32_t stack = callstack(thread, frame);
    if (stack) return counters_of_part(thread, lock, kind, stack);
    lock_dropped();
    return NULL;
}

static inline bool is_acquired(int result) {
    return result == 0 || result == EOWNERDEAD;
}

static void lock_had_after_wait(struct thread *thread, void *lock, struct attempt attempt, enum mode mode) {
    uint64_t now = clock_ticks(), wait = now > attempt.asked ? now - attempt.asked : 0;
    attempt.asked = now;
    lock_got_waiting(thread, lock, attempt, mode, wait);
}

/* The one shape of an acquiring hook: try, and wait only where that fails. So contention is exact. It suits every kind
 * of mutex: one that checks errors answers EBUSY to the try and EDEADLK to the real call. */
#define ACQUIRE(lock, kind, mode, try_call, wait_call)                                                                 \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return wait_call;                                                                           \
    struct attempt attempt;                                                                                            \
    RECORD(thread, attempt = lock_ask(thread, lock, kind, mode, CALLER_FRAME()));                                      \
    int result = try_call;                                                                                             \
    if (likely(is_acquired(result))) {                                                                                 \
        lock_got(thread, lock, attempt, mode);                                                                         \
        thread_leave(thread);                                                                                          \
        return result;                                                                                                 \
    }                                                                                                                  \
    if (mode == SHARED && attempt.weight) attempt.asked = clock_ticks();                                               \
    thread_leave(thread); /* a signal handler that runs during the wait is recorded */                                 \
    result = wait_call;                                                                                                \
    if (is_acquired(result) && attempt.weight && (thread = lock_enter())) {                                            \
        RECORD(thread, lock_had_after_wait(thread, lock, attempt, mode));                                              \
        thread_leave(thread);                                                                                          \
    }                                                                                                                  \
    return result

#define TRY(lock, kind, mode, try_call)                                                                                \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return try_call;                                                                            \
    struct attempt attempt;                                                                                            \
    RECORD(thread, attempt = lock_ask(thread, lock, kind, mode, CALLER_FRAME()));                                      \
    int result = try_call;                                                                                             \
    if (is_acquired(result)) lock_got(thread, lock, attempt, mode);                                                    \
    thread_leave(thread);                                                                                              \
    return result

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

/* --- condition variables -------------------------------------------------------------------------------------- */

struct interrupted_hold {
    struct held_lock held;
    bool is_known;
};

static void hold_pauses(pthread_mutex_t *mutex, struct interrupted_hold *pause) {
    pause->is_known = false;
    struct thread *thread = lock_enter_holding();
    if (!thread) return;
    struct held_lock *held = find_held(thread, mutex);
    if (held) {
        pause->held = *held;
        pause->is_known = true;
        *held = thread->held[--thread->held_count];
        hold_ended(&pause->held, clock_ticks());
    }
    thread_leave(thread);
}

/* A cancelled wait unwinds and does not come here; the unlock in its cleanup handler then ends no hold. */
static void hold_resumes(const struct interrupted_hold *pause) {
    struct thread *thread = pause->is_known ? thread_enter() : NULL;
    if (!thread) return;
    if (thread->held_count < HELD_LOCKS) {
        thread->held[thread->held_count] = pause->held;
        thread->held[thread->held_count++].since = clock_ticks();
    }
    thread_leave(thread);
}

#define WAIT(mutex, call)                                                                                              \
    struct interrupted_hold pause;                                                                                     \
    hold_pauses(mutex, &pause);                                                                                        \
    int result = call;                                                                                                 \
    hold_resumes(&pause);                                                                                              \
    return result

HOOK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    WAIT(mutex, real.pthread_cond_wait(condition, mutex));
}

HOOK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    WAIT(mutex, real.pthread_cond_timedwait(condition, mutex, until));
}

HOOK int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                const struct timespec *until) {
    WAIT(mutex, real.pthread_cond_clockwait(condition, mutex, clock, until));
}
