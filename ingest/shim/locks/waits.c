/* The hooks of waits for what is no lock. Where there is a call that tries, it comes first, so a wait is one that waited.
 * The calls that may be cancelled may be so here too: pthread_testcancel stands for what the waiting call would do
 * first. A cancelled call never returns; the end of its thread closes the account (wait_abandoned). */
#include "ingest/shim/locks/waits.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/locks/joins.h"
#include "ingest/shim/locks/spins.h"
#include "ingest/shim/stacks/local_frames.h"

/* The first time that the process meets the object without a wait, the stack is walked: of a condition variable that is
 * who wakes its waiters. */
static struct wait_counters *counters_without_wait(struct thread *thread, const void *object,
                                                   enum segment_object_kind kind, const uint64_t *caller) {
    struct object_key key = {.address = (uintptr_t)object, .class = CLASS_WAIT};
    uint32_t id = index_find(load_acquire(&process->objects), object_hash(key));
    if (!id) {
        key.first = callstack(thread, frame_at(caller));
        id = object_intern(thread, key, kind);
    }
    return id ? wait_counters_of(thread, id) : NULL;
}

struct wait_counters *wait_counters_of_object(struct thread *thread, const void *object, enum segment_object_kind kind,
                                              const uint64_t *caller) {
    struct known_object *known = known_of(thread->known_waits, object);
    if (likely(known->object == object)) return known->counters;
    struct wait_counters *counters = counters_without_wait(thread, object, kind, caller);
    if (counters)
        *known = (struct known_object){.object = object, .counters = counters};
    else
        lock_dropped();
    return counters;
}

struct begun_wait wait_begins(struct thread *thread, const void *object, enum segment_object_kind kind,
                              const void *guard, struct frame frame) {
    struct begun_wait wait = {.weight = sample_event(thread)};
    if (!wait.weight) return wait;
    struct object_key key = {
        .address = (uintptr_t)object, .class = CLASS_WAIT, .part = callstack(thread, frame), .guard = (uintptr_t)guard};
    uint32_t id = object_intern(thread, key, kind);
    wait.counters = id ? wait_counters_of(thread, id) : NULL;
    if (!wait.counters) {
        lock_dropped();
        return wait;
    }
    holds_mark(thread);
    if (traces(TRACE_WAIT)) trace_wait_begins(thread, id, 0);
    wait.asked = clock_ticks();
    thread->waiting = wait.counters;
    thread->waiting_since = wait.asked;
    thread->waiting_weight = wait.weight;
    wait_publish(thread, id, wait.weight, EXCLUSIVE, (struct lock_owner){0}, wait.asked);
    return wait;
}

static void count_wait_time(const struct begun_wait *wait, uint64_t now) {
    uint64_t took = now > wait->asked ? now - wait->asked : 0;
    add_own(&wait->counters->wait, wait->weight * took);
    max_own(&wait->counters->wait_max, took);
}

void wait_ends(const struct begun_wait *wait, enum wait_result result) {
    struct thread *thread = wait->counters ? thread_enter() : NULL;
    if (!thread) return;
    wait_unpublish(thread);
    thread->waiting = NULL;
    if (result == WAIT_PASSED || result == WAIT_AT_ONCE) add_own(&wait->counters->passes, wait->weight);
    if (result == WAIT_PASSED) add_own(&wait->counters->waited, wait->weight);
    if (result == WAIT_INTERRUPTED) add_own(&wait->counters->timeouts, wait->weight);
    if (result == WAIT_PASSED || result == WAIT_INTERRUPTED) {
        uint64_t now = clock_ticks();
        count_wait_time(wait, now);
        if (traces(TRACE_WAIT))
            trace_wait_ended(thread, EVENT_WAIT, wait->asked, now, result == WAIT_PASSED ? 0 : EVENT_LATE);
    }
    thread->traced_object = 0;
    thread_leave(thread);
}

/* The thread ends: if it was in a wait, that was cancelled. */
void wait_abandoned(struct thread *thread) {
    struct begun_wait wait = {
        .counters = thread->waiting, .asked = thread->waiting_since, .weight = thread->waiting_weight};
    wait_unpublish(thread);
    thread->waiting = NULL;
    if (!wait.counters) return;
    uint64_t now = clock_ticks();
    add_own(&wait.counters->timeouts, wait.weight);
    count_wait_time(&wait, now);
    if (traces(TRACE_WAIT)) trace_wait_ended(thread, EVENT_WAIT, wait.asked, now, EVENT_LATE);
}

/* Counts `member` of the object by one event. */
#define COUNT(thread, object, kind, member)                                                                            \
    do {                                                                                                               \
        uint32_t weight_ = sample_event(thread);                                                                       \
        struct wait_counters *counters_ = weight_ ? wait_counters_of_object(thread, object, kind, CALLER()) : NULL;    \
        if (counters_) add_own(&counters_->member, weight_);                                                           \
    } while (0)

/* --- condition variables -------------------------------------------------------------------------------------- */

/* A wake is lost where a signal meets nobody, and then a thread waits that did not look for what was signalled: its wait
 * ends at the time limit, and then it finds it. A thread that looks does so with the mutex: where it has released that
 * since the signal it saw what there was. Only condition variables whose waits end at a limit are watched. */

static struct missed_signal *missed_signal_of(const void *condition) {
    return &process->missed_signals[((uintptr_t)condition >> 4 ^ (uintptr_t)condition >> 12) & (MISSED_SIGNALS - 1)];
}

/* glibc's count of those who wait, above three bits of flags, of a pthread_cond_t and of a cnd_t; its pthread_cond_signal asks the same. */
static bool is_waited_on(const void *condition) {
    return load_relaxed(&((const pthread_cond_t *)condition)->__data.__wrefs) >> 3;
}

/* Before a signal. What the waiting thread tells itself is no wake. */
static ALWAYS_INLINE void signal_begins(struct thread *thread, const void *condition) {
    struct missed_signal *missed = missed_signal_of(condition);
    if (likely(load_relaxed(&missed->condition) != condition)) return;
    if (!is_waited_on(condition) && *waited_for(thread, condition) != condition)
        store_relaxed(&missed->at, clock_ticks());
}

/* Whether a signal was missed since the thread last had the mutex. The fast path of a mutex does not say when that was: of
 * one that is taken so often it is not known. */
static bool has_missed_signal(const struct thread *thread, const void *condition, const struct held_lock *held) {
    const struct missed_signal *missed = missed_signal_of(condition);
    if (held->weight != 1 || thread->lock_level) return false; /* nor of one whose holds are sampled */
    return thread->late.mutex == held->lock && load_relaxed(&missed->condition) == condition &&
           load_relaxed(&missed->at) > thread->late.looked && load_relaxed(&held->counters->acquires) < HOLDS_TIMED;
}

static void late_begins(struct thread *thread, const void *condition, const void *mutex, struct wait_counters *counters,
                        uint32_t weight) {
    struct missed_signal *missed = missed_signal_of(condition);
    if (load_relaxed(&missed->condition) != condition) {
        store_relaxed(&missed->at, 0);
        store_relaxed(&missed->condition, condition);
    }
    thread->late = (struct late_wait){.mutex = mutex, .looked = clock_ticks(), .counters = counters, .weight = weight};
}

/* A wait on a condition variable gives its mutex back and takes it again: the hold ends and another begins, and that is
 * neither an acquisition of the mutex nor contention for it. */
struct condition_wait {
    struct held_lock held;
    bool is_held;   /* the mutex is known to be held by this thread */
    bool is_futile; /* and has been since this condition variable woke the thread: that was in vain */
    bool is_missed; /* a signal was, which the thread did not look for */
    struct begun_wait wait;
};

static void hold_pauses(struct thread *thread, const void *condition, void *mutex, struct condition_wait *pause,
                        const uint64_t *caller) {
    struct held_lock *held = held_with_light(thread, mutex);
    pause->is_held = held != NULL;
    if (!held) return;
    add_own(&held->counters->condition_waits, held->weight);
    pause->held = *held;
    pause->is_futile = held->woken_by == condition;
    pause->is_missed = has_missed_signal(thread, condition, held);
    if (thread->late.mutex == mutex) thread->late.counters = NULL;
    *waited_for(thread, condition) = condition;
    *held = thread->held[--thread->held_count];
    if (pause->held.holds) hold_ended(thread, &pause->held, clock_ticks(), caller);
}

static void condition_begins(void *condition, void *mutex, struct condition_wait *pause, const uint64_t *caller) {
    *pause = (struct condition_wait){0};
    struct thread *thread = lock_enter_holding();
    if (!thread) return;
    int saved_errno = *thread->errno_at;
    hold_pauses(thread, condition, mutex, pause, caller);
    if (!is_paused()) pause->wait = wait_begins(thread, condition, OBJECT_COND, mutex, frame_at(caller));
    if (pause->is_futile && pause->wait.counters) add_own(&pause->wait.counters->futile, pause->wait.weight);
    *thread->errno_at = saved_errno;
    thread_leave(thread);
}

static void condition_ends(const struct condition_wait *pause, const void *condition, enum wait_result result) {
    wait_ends(&pause->wait, result);
    struct thread *thread = pause->is_held ? thread_enter() : NULL;
    if (!thread) return;
    if (thread->held_count < HELD_LOCKS) {
        struct held_lock *held = &thread->held[thread->held_count++];
        *held = pause->held;
        held->woken_by = result == WAIT_PASSED ? condition : NULL;
        if (held->holds == HOLD_MARKED) held->holds = 0;
        if (held->holds) held->since = clock_ticks();
        if (result == WAIT_INTERRUPTED)
            late_begins(thread, condition, held->lock, pause->is_missed ? pause->wait.counters : NULL,
                        pause->wait.weight);
        else if (thread->late.mutex == held->lock)
            thread->late.looked = clock_ticks();
    }
    thread_leave(thread);
}

/* The object may be gone once the call was made, so it is counted first. */
#define COUNTED_SIGNAL(condition, member, call)                                                                        \
    struct thread *thread = lock_enter();                                                                              \
    if (thread) {                                                                                                      \
        RECORD(thread, COUNT(thread, condition, OBJECT_COND, member));                                                 \
        signal_begins(thread, condition);                                                                              \
        thread_leave(thread);                                                                                          \
    }                                                                                                                  \
    return call

#define CONDITION_WAIT(condition, mutex, ended, call)                                                                  \
    struct condition_wait pause;                                                                                       \
    condition_begins(condition, mutex, &pause, CALLER());                                                              \
    int result = call;                                                                                                 \
    condition_ends(&pause, condition, ended);                                                                          \
    return result

static enum wait_result wait_result(int result) {
    return result == 0 ? WAIT_PASSED : result == ETIMEDOUT ? WAIT_INTERRUPTED : WAIT_REFUSED;
}

static enum wait_result wait_result_c11(int result) {
    return result == thrd_success ? WAIT_PASSED : result == thrd_timedout ? WAIT_INTERRUPTED : WAIT_REFUSED;
}

HOOK int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    CONDITION_WAIT(condition, mutex, wait_result(result), real.pthread_cond_wait(condition, mutex));
}

HOOK int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    CONDITION_WAIT(condition, mutex, wait_result(result), real.pthread_cond_timedwait(condition, mutex, until));
}

HOOK int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                const struct timespec *until) {
    CONDITION_WAIT(condition, mutex, wait_result(result), real.pthread_cond_clockwait(condition, mutex, clock, until));
}

HOOK int pthread_cond_signal(pthread_cond_t *condition) {
    COUNTED_SIGNAL(condition, signals, real.pthread_cond_signal(condition));
}

HOOK int pthread_cond_broadcast(pthread_cond_t *condition) {
    COUNTED_SIGNAL(condition, broadcasts, real.pthread_cond_broadcast(condition));
}

HOOK int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    CONDITION_WAIT(condition, mutex, wait_result_c11(result), real.cnd_wait(condition, mutex));
}

HOOK int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until) {
    CONDITION_WAIT(condition, mutex, wait_result_c11(result), real.cnd_timedwait(condition, mutex, until));
}

HOOK int cnd_signal(cnd_t *condition) {
    COUNTED_SIGNAL(condition, signals, real.cnd_signal(condition));
}

HOOK int cnd_broadcast(cnd_t *condition) {
    COUNTED_SIGNAL(condition, broadcasts, real.cnd_broadcast(condition));
}

/* --- semaphores ----------------------------------------------------------------------------------------------- */

/* Their errors are in errno. A try that fails must leave it as it was, because a wait that succeeds does. */
#define SEMAPHORE_WAIT(semaphore, wait_call)                                                                           \
    pthread_testcancel();                                                                                              \
    struct thread *thread = lock_enter();                                                                              \
    if (!thread) return wait_call;                                                                                     \
    int before = *thread->errno_at;                                                                                    \
    *waited_for(thread, semaphore) = semaphore;                                                                        \
    if (real.sem_trywait(semaphore) == 0) {                                                                            \
        RECORD(thread, COUNT(thread, semaphore, OBJECT_SEM, passes));                                                  \
        thread_leave(thread);                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    struct begun_wait wait = wait_begins(thread, semaphore, OBJECT_SEM, NULL, CALLER_FRAME());                         \
    *thread->errno_at = before;                                                                                        \
    thread_leave(thread);                                                                                              \
    int result = wait_call;                                                                                            \
    wait_ends(&wait, semaphore_result(result));                                                                        \
    return result

static enum wait_result semaphore_result(int result) {
    return result == 0 ? WAIT_PASSED : errno == ETIMEDOUT || errno == EINTR ? WAIT_INTERRUPTED : WAIT_REFUSED;
}

HOOK int sem_wait(sem_t *semaphore) {
    SEMAPHORE_WAIT(semaphore, real.sem_wait(semaphore));
}

HOOK int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    SEMAPHORE_WAIT(semaphore, real.sem_timedwait(semaphore, until));
}

HOOK int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
    SEMAPHORE_WAIT(semaphore, real.sem_clockwait(semaphore, clock, until));
}

HOOK int sem_trywait(sem_t *semaphore) {
    struct thread *thread = lock_enter();
    if (!thread) return real.sem_trywait(semaphore);
    int result = real.sem_trywait(semaphore);
    int saved_errno = *thread->errno_at;
    if (result == 0) {
        *waited_for(thread, semaphore) = semaphore;
        COUNT(thread, semaphore, OBJECT_SEM, passes);
    } else if (saved_errno == EAGAIN) {
        COUNT(thread, semaphore, OBJECT_SEM, failed_tries);
        spin_tried(thread, CALLER());
    }
    *thread->errno_at = saved_errno;
    thread_leave(thread);
    return result;
}

static void count_post(struct thread *thread, const sem_t *semaphore, const uint64_t *caller) {
    uint32_t weight = sample_event(thread);
    struct wait_counters *counters = weight ? wait_counters_of_object(thread, semaphore, OBJECT_SEM, caller) : NULL;
    if (!counters) return;
    add_own(&counters->signals, weight);
    if (*waited_for(thread, semaphore) == semaphore) add_own(&counters->own_wakes, weight);
}

/* As COUNTED: the semaphore may be gone once the call was made. */
HOOK int sem_post(sem_t *semaphore) {
    struct thread *thread = lock_enter();
    if (thread) {
        RECORD(thread, count_post(thread, semaphore, CALLER()));
        thread_leave(thread);
    }
    return real.sem_post(semaphore);
}

/* --- barriers ------------------------------------------------------------------------------------------------- */

/* The last thread that comes is told that it was the last, and waits for nobody. */
HOOK int pthread_barrier_wait(pthread_barrier_t *barrier) {
    struct thread *thread = lock_enter();
    if (!thread) return real.pthread_barrier_wait(barrier);
    struct begun_wait wait;
    RECORD(thread, wait = wait_begins(thread, barrier, OBJECT_BARRIER, NULL, CALLER_FRAME()));
    thread_leave(thread);
    int result = real.pthread_barrier_wait(barrier);
    wait_ends(&wait, result == PTHREAD_BARRIER_SERIAL_THREAD ? WAIT_AT_ONCE : result == 0 ? WAIT_PASSED : WAIT_REFUSED);
    return result;
}

/* --- the end of a thread -------------------------------------------------------------------------------------- */

/* All joins are of one object: threads come and go, and what matters is who waits. */
#define JOINED ((const void *)1)

/* The owner of a join is the thread that it waits for. That may not have begun before. */
static void name_joined(pthread_t id, bool has_ended) {
    struct thread *thread = self;
    if (traces(TRACE_WAIT) && thread->traced_object) thread->traced_owner = join_thread(id, has_ended);
}

#define JOIN(thread_id, took_call, ended, wait_call)                                                                   \
    pthread_testcancel();                                                                                              \
    struct thread *thread = lock_enter();                                                                              \
    if (!thread) return wait_call;                                                                                     \
    thread_leave(thread); /* libc frees what the thread that ended had, and the stacks of others */                    \
    bool has_ended = took_call == 0;                                                                                   \
    thread = thread_enter();                                                                                           \
    if (!thread) return has_ended ? 0 : wait_call;                                                                     \
    if (has_ended) {                                                                                                   \
        RECORD(thread, COUNT(thread, JOINED, OBJECT_JOIN, passes));                                                    \
        thread_leave(thread);                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    struct begun_wait wait;                                                                                            \
    RECORD(thread, wait = wait_begins(thread, JOINED, OBJECT_JOIN, NULL, CALLER_FRAME());                              \
           local_frames_note(thread, CALLER_FRAME()));                                                                 \
    thread_leave(thread);                                                                                              \
    int result = wait_call;                                                                                            \
    name_joined(thread_id, result == 0);                                                                               \
    wait_ends(&wait, ended);                                                                                           \
    return result

HOOK int pthread_join(pthread_t id, void **value) {
    JOIN(id, real.pthread_tryjoin_np(id, value), wait_result(result), real.pthread_join(id, value));
}

HOOK int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *until) {
    JOIN(id, real.pthread_tryjoin_np(id, value), wait_result(result), real.pthread_timedjoin_np(id, value, until));
}

HOOK int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock, const struct timespec *until) {
    JOIN(id, real.pthread_tryjoin_np(id, value), wait_result(result),
         real.pthread_clockjoin_np(id, value, clock, until));
}

HOOK int pthread_tryjoin_np(pthread_t id, void **value) {
    int result = real.pthread_tryjoin_np(id, value); /* outside, because it frees */
    struct thread *thread = lock_enter();
    if (!thread) return result;
    if (result == 0) RECORD(thread, COUNT(thread, JOINED, OBJECT_JOIN, passes));
    if (result == EBUSY) RECORD(thread, COUNT(thread, JOINED, OBJECT_JOIN, failed_tries); spin_tried(thread, CALLER()));
    thread_leave(thread);
    return result;
}

/* glibc hands a C11 thread's int through the same pointer. */
static int try_join_c11(thrd_t id, int *value) {
    void *pointer;
    int result = real.pthread_tryjoin_np(id, &pointer);
    if (result == 0 && value) *value = (int)(intptr_t)pointer;
    return result;
}

HOOK int thrd_join(thrd_t id, int *value) {
    JOIN(id, try_join_c11(id, value), wait_result_c11(result), real.thrd_join(id, value));
}
