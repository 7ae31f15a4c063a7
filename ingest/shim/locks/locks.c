/* The hooks of pthread locks. They hold a lock no longer than the program would:
 *   - the counters of the lock are looked up before it is acquired; with the lock held, an acquisition without a wait is
 *     counted and noted, and all else is done before it or after the release;
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
#include <sys/single_threaded.h>
#include <threads.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/locks/lock_trace.h"
#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/locks/plain_mutex.h"
#include "ingest/shim/locks/spins.h"

COLD void lock_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_locks, 1);
}

/* Who has a lock, or waits for it, may be asked for by its kernel's id. */
static void tell_tid(struct thread *thread) {
    struct thread_counters *record = thread->counters;
    if (!load_relaxed(&record->tid) && !thread->orphan && !is_sealed())
        store_relaxed(&record->tid, (uint32_t)trace_own_tid());
}

static struct lock_counters *counters_of_part(struct thread *thread, void *lock, enum segment_object_kind kind,
                                              uint32_t part, uint32_t *id) {
    struct object_key key = {.address = (uintptr_t)lock, .class = CLASS_LOCK, .part = part};
    *id = object_intern(thread, key, kind);
    return *id ? lock_counters_of(thread, *id) : NULL;
}

/* The first time that the process meets the lock, the stack is walked, so that every lock has a place in the program. */
static struct lock_counters *counters_of_lock(struct thread *thread, void *lock, enum segment_object_kind kind,
                                              const uint64_t *caller) {
    struct object_key key = {.address = (uintptr_t)lock, .class = CLASS_LOCK};
    uint32_t id = index_find(load_acquire(&process->objects), object_hash(key));
    if (!id) {
        key.first = callstack(thread, frame_at(caller));
        id = object_intern(thread, key, kind);
    }
    return id ? lock_counters_of(thread, id) : NULL;
}

__attribute__((noinline)) struct lock_counters *lock_counters_lookup(struct thread *thread, void *lock,
                                                                     enum segment_object_kind kind,
                                                                     struct known_object *known,
                                                                     const uint64_t *caller) {
    struct lock_counters *counters;
    if (kind == OBJECT_SPIN || kind == OBJECT_RWLOCK) tell_tid(thread);
    RECORD(thread, counters = counters_of_lock(thread, lock, kind, caller));
    if (counters)
        *known = (struct known_object){.object = lock, .counters = counters};
    else
        lock_dropped();
    return counters;
}

__attribute__((noinline)) struct lock_counters *
lock_counters_by_stack(struct thread *thread, void *lock, enum segment_object_kind kind, const uint64_t *caller) {
    uint32_t stack, id;
    struct lock_counters *counters;
    if (kind == OBJECT_SPIN || kind == OBJECT_RWLOCK) tell_tid(thread);
    RECORD(thread, stack = callstack(thread, frame_at(caller));
           counters = stack ? counters_of_part(thread, lock, kind, stack, &id) : NULL);
    if (!counters) lock_dropped();
    return counters;
}

/* An acquisition that waits, of a thread that samples those that do not. Its hold is timed, because the clock is read at its end anyway. */
static struct attempt counted_once(struct thread *thread, struct attempt attempt) {
    struct thread_counters *counters = thread->counters;
    if (attempt.weight > 1) add_own(&counters->lock_excess, 1 - (uint64_t)attempt.weight);
    if (!attempt.weight) add_own(&counters->lock_passed, -1);
    attempt.weight = attempt.holds = 1;
    return attempt;
}

struct attempt lock_contended(struct thread *thread, void *lock, enum segment_object_kind kind, struct attempt attempt,
                              const uint64_t *caller, uint32_t *id) {
    *id = 0;
    if (unlikely(thread->lock_level) && attempt.kind != OBJECT_LOCK) attempt = counted_once(thread, attempt);
    if (!attempt.weight) return attempt;
    struct lock_counters *counters;
    RECORD(thread, counters = counters_of_part(thread, lock, kind, callstack(thread, frame_at(caller)), id));
    if (counters) attempt.counters = counters;
    return attempt;
}

/* Of a lock that this thread has counted before. */
static struct lock_counters *counters_of_known(struct thread *thread, const void *lock) {
    const struct known_object *known = known_of(thread->known_locks, lock);
    if (known->object == lock) return known->counters;
    struct object_key key = {.address = (uintptr_t)lock, .class = CLASS_LOCK};
    uint32_t id = index_find(load_acquire(&process->objects), object_hash(key));
    return id ? lock_counters_of(thread, id) : NULL;
}

__attribute__((noinline)) struct lock_counters *
hold_counters_of_end(struct thread *thread, const struct held_lock *held, uint64_t ticks, const uint64_t *caller) {
    struct known_object *known = known_of(thread->known_locks, held->lock);
    struct lock_counters *counters;
    uint32_t id;
    if (process->features & FEATURE_SYNC_STACKS || counters_of_known(thread, held->lock) != held->counters)
        return held->counters;
    RECORD(thread, uint32_t stack = callstack(thread, frame_at(caller));
           counters = stack ? counters_of_part(thread, held->lock, held->kind, stack, &id) : NULL);
    if (!counters) return held->counters;
    uint64_t moved = known->moved + (ticks >> SHORT_HOLD_SHIFT);
    if (known->object == held->lock) known->moved = moved < UINT32_MAX ? (uint32_t)moved : UINT32_MAX;
    return counters;
}

uint32_t hold_draw(struct thread *thread, uint32_t below) {
    uint32_t x = thread->hold_random ? thread->hold_random : (uint32_t)__builtin_ia32_rdtsc() | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    thread->hold_random = x;
    return (uint32_t)((uint64_t)x * below >> 32);
}

struct held_lock *held_with_light(struct thread *thread, void *lock) {
    if (thread->light != lock) return find_held(thread, lock);
    struct lock_counters *counters = counters_of_known(thread, lock);
    uint64_t since = thread->light_since;
    store_relaxed(&thread->light, NULL);
    thread->light_since = 0;
    if (!counters || thread->held_count == HELD_LOCKS) return NULL;
    struct held_lock *held = &thread->held[thread->held_count++];
    *held = (struct held_lock){.lock = lock,
                               .counters = counters,
                               .since = since,
                               .depth = 1,
                               .weight = 1,
                               .holds = since ? HOLD_MARKED : 0,
                               .kind = OBJECT_MUTEX};
    return held;
}

/* What a call came to. */
enum outcome { GOT, TAKEN, LATE, FAILED };

static ALWAYS_INLINE enum outcome outcome(int result) {
    switch (result) {
    case 0:
    case EOWNERDEAD: return GOT;
    case EBUSY: return TAKEN;
    case ETIMEDOUT: return LATE;
    default: return FAILED;
    }
}

static ALWAYS_INLINE enum outcome outcome_c11(int result) {
    switch (result) {
    case thrd_success: return GOT;
    case thrd_busy: return TAKEN;
    case thrd_timedout: return LATE;
    default: return FAILED;
    }
}

/* The thread that has the lock; 0: unknown. */
static int32_t owner_of(const void *lock, enum segment_object_kind kind) {
    switch (kind) {
    case OBJECT_MUTEX: return mutex_owner(lock);
    case OBJECT_RWLOCK: return rwlock_owner(lock);
    default: return 0;
    }
}

/* Who waits and for whom: the recorder asks the kernel how long these two had no processor meanwhile (ingest/record/kernel/wait_delays.h). */
static struct lock_owner owner_to_tell(struct thread *thread, const void *lock, enum segment_object_kind kind) {
    int32_t owner = owner_of(lock, kind);
    tell_tid(thread);
    return (struct lock_owner){lock, owner > 0 ? (uint32_t)owner : WAIT_OWNER_UNKNOWN};
}

static struct attempt begin_wait(struct thread *thread, void *lock, enum segment_object_kind kind, enum mode mode,
                                 struct attempt attempt, const uint64_t *caller) {
    uint32_t id;
    attempt = lock_contended(thread, lock, kind, attempt, caller, &id);
    holds_mark(thread);
    if (traces(TRACE_LOCK)) trace_wait_begins(thread, id, owner_of(lock, kind));
    struct lock_owner owner = owner_to_tell(thread, lock, kind);
    attempt.asked = clock_ticks();
    if (attempt.counters) wait_publish(thread, id, attempt.weight, mode, owner, attempt.asked);
    return attempt;
}

/* With the lock held where it was acquired, so it does little. */
static void end_wait(void *lock, enum mode mode, struct attempt attempt, enum outcome end) {
    uint64_t now = clock_ticks(), wait = now > attempt.asked ? now - attempt.asked : 0;
    struct thread *thread = attempt.counters ? thread_enter() : NULL;
    if (!thread) return;
    store_relaxed(&thread->counters->waited_until, now);
    wait_unpublish(thread);
    if (traces(TRACE_LOCK))
        trace_wait_ended(thread, mode == SHARED ? EVENT_READ : EVENT_LOCK, attempt.asked, now,
                         end == GOT ? 0 : EVENT_LATE);
    attempt.asked = now;
    if (end == GOT) {
        lock_got_waiting(thread, lock, attempt, mode, wait);
    } else if (end == LATE) {
        add_own(&attempt.counters->timeouts, attempt.weight);
        count_wait(attempt, mode, wait);
    }
    thread_leave(thread);
}

/* The one shape of an acquiring hook: try, and wait only where the lock is taken. So contention is exact. It suits every
 * kind of mutex: one that checks errors says that it is taken to the try, and EDEADLK to the real call. What else fails
 * fails in the same way for both. ACQUIRER defines the part of it after a try that failed, NAME_waiting, which is a
 * function of its own so that the hook saves few registers. */
#define ACQUIRER(name, type, kind, mode, outcome, wait_call)                                                           \
    static __attribute__((noinline)) int name##_waiting(struct thread *thread, type *lock, struct attempt attempt,     \
                                                        int result, const uint64_t *caller, clockid_t clock,           \
                                                        const struct timespec *until) {                                \
        (void)clock, (void)until;                                                                                      \
        if (outcome(result) == GOT) lock_got(thread, (void *)(uintptr_t)lock, attempt, mode);                          \
        bool is_taken = outcome(result) == TAKEN;                                                                      \
        if (is_taken) attempt = begin_wait(thread, (void *)(uintptr_t)lock, kind, mode, attempt, caller);              \
        thread_leave(thread); /* a signal handler that runs during the wait is recorded */                             \
        if (!is_taken) return result;                                                                                  \
        result = wait_call;                                                                                            \
        end_wait((void *)(uintptr_t)lock, mode, attempt, outcome(result));                                             \
        return result;                                                                                                 \
    }

#define ACQUIRE(name, lock, kind, mode, try_call, wait_call, clock, until)                                             \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return wait_call;                                                                           \
    struct attempt attempt =                                                                                           \
        lock_ask(thread, (void *)(uintptr_t)lock, kind, mode, acquisition_weight(thread), CALLER());                   \
    int result = try_call;                                                                                             \
    if (unlikely(result)) return name##_waiting(thread, lock, attempt, result, CALLER(), clock, until);                \
    lock_got(thread, (void *)(uintptr_t)lock, attempt, mode);                                                          \
    thread_leave(thread);                                                                                              \
    return result

static __attribute__((noinline)) void try_failed(struct thread *thread, struct attempt attempt,
                                                 const uint64_t *caller) {
    add_own(&attempt.counters->failed_tries, attempt.weight);
    spin_tried(thread, caller);
}

#define TRY_AS(lock, kind, mode, outcome, try_call)                                                                    \
    struct thread *thread = lock_enter();                                                                              \
    if (unlikely(!thread)) return try_call;                                                                            \
    struct attempt attempt = lock_ask(thread, (void *)(uintptr_t)lock, kind, mode, sample_event(thread), CALLER());    \
    int result = try_call;                                                                                             \
    if (likely(outcome(result) == GOT))                                                                                \
        lock_got(thread, (void *)(uintptr_t)lock, attempt, mode);                                                      \
    else if (outcome(result) == TAKEN && attempt.counters)                                                             \
        try_failed(thread, attempt, CALLER());                                                                         \
    thread_leave(thread);                                                                                              \
    return result

#define TRY(lock, kind, mode, try_call) TRY_AS(lock, kind, mode, outcome, try_call)

#define RELEASE_AFTER(told, lock, call, caller)                                                                        \
    struct thread *thread = lock_enter_holding();                                                                      \
    if (unlikely(!thread)) return call;                                                                                \
    told;                                                                                                              \
    struct held_lock *held = find_held(thread, (void *)(uintptr_t)lock);                                               \
    uint64_t now = unlikely(hold_is_ending(held)) ? clock_ticks() : 0;                                                 \
    int result = call;                                                                                                 \
    if (likely(held)) hold_released(thread, held, now, caller);                                                        \
    thread_leave(thread);                                                                                              \
    return result

#define RELEASE(lock, call, caller)         RELEASE_AFTER((void)0, lock, call, caller)
#define RELEASE_UNOWNED(lock, call, caller) RELEASE_AFTER(unowned_lost(thread, lock), lock, call, caller)

/* --- mutexes -------------------------------------------------------------------------------------------------- */

/* The try of the hooks that wait. glibc's pthread_mutex_trylock takes a robust mutex that is not recoverable, says
 * ENOTRECOVERABLE and never gives it back: whoever locks it next waits forever. Its timed lock does not, so a robust
 * mutex is tried with a time that is over. */
static COLD int try_robust(pthread_mutex_t *mutex) {
    static const struct timespec over;
    int result = real.pthread_mutex_timedlock(mutex, &over);
    return result == ETIMEDOUT ? EBUSY : result;
}

static ALWAYS_INLINE int try_mutex(pthread_mutex_t *mutex) {
    enum { ROBUST = 16 }; /* in __kind, of glibc's nptl/pthreadP.h */
    return unlikely(mutex->__data.__kind & ROBUST) ? try_robust(mutex) : real.pthread_mutex_trylock(mutex);
}

ACQUIRER(pthread_mutex_lock, pthread_mutex_t, OBJECT_MUTEX, EXCLUSIVE, outcome, real.pthread_mutex_lock(lock))

/* Before another lock is noted. A mutex that this thread asks for again was released by another one; any other gets its entry now, so
 * that one which is never released here does not stay in the way. */
static ALWAYS_INLINE void settle_light(struct thread *thread, const void *mutex) {
    const void *light = thread->light;
    if (likely(!light)) return;
    if (light != mutex) {
        held_with_light(thread, (void *)(uintptr_t)light);
        return;
    }
    store_relaxed(&thread->light, NULL);
    thread->light_since = 0;
}

/* Of a mutex that this thread holds: it is recursive, and was taken before. */
static ALWAYS_INLINE bool is_taken_again(const pthread_mutex_t *mutex) {
    enum { RECURSIVE = 1, KINDS = 3 }; /* in __kind */
    return (mutex->__data.__kind & KINDS) == RECURSIVE && mutex->__data.__count > 1;
}

/* It is an acquisition; the hold is the outer one, which may have been passed over. */
static void got_again(struct thread *thread, pthread_mutex_t *mutex, struct attempt attempt) {
    struct lock_counters *counters = attempt.counters;
    if (counters) add_own(&counters->acquires, attempt.weight);
    hold_deepens(thread, mutex);
}

__attribute__((noinline)) int mutex_lock_slowly(pthread_mutex_t *mutex, const uint64_t *caller) {
    struct thread *thread = lock_enter();
    if (unlikely(!thread)) return real.pthread_mutex_lock(mutex);
    settle_light(thread, mutex);
    struct attempt attempt = lock_ask(thread, mutex, OBJECT_MUTEX, EXCLUSIVE, acquisition_weight(thread), caller);
    int result = try_mutex(mutex);
    if (unlikely(result)) return pthread_mutex_lock_waiting(thread, mutex, attempt, result, caller, 0, NULL);
    if (likely(attempt.weight <= 1 || !is_taken_again(mutex)))
        lock_got(thread, mutex, attempt, EXCLUSIVE);
    else
        got_again(thread, mutex, attempt);
    thread_leave(thread);
    return result;
}

static __attribute__((noinline)) int lock_taken(struct thread *thread, pthread_mutex_t *mutex,
                                                struct lock_counters *counters, const uint64_t *caller) {
    struct attempt attempt = {.counters = counters, .weight = 1, .kind = OBJECT_MUTEX};
    thread->state = THREAD_BUSY;
    return pthread_mutex_lock_waiting(thread, mutex, attempt, EBUSY, caller, 0, NULL);
}

/* Of a mutex that was free. While there is one thread nobody takes it meanwhile, and glibc's lock does without the locked
 * instruction that its try has. */
static ALWAYS_INLINE int take_free(pthread_mutex_t *mutex) {
    if (plain_mutex_take(mutex)) return 0;
    return __libc_single_threaded ? real.pthread_mutex_lock(mutex) : real.pthread_mutex_trylock(mutex);
}

__attribute__((noinline)) int mutex_lock_asking(pthread_mutex_t *mutex) {
    return mutex_lock_slowly(mutex, CALLER());
}

/* One that is passed over, in a program with threads or inside of a hold that is recorded. */
__attribute__((noinline)) int mutex_take_passing(pthread_mutex_t *mutex) {
    struct thread *thread = self;
    int result = take_free(mutex);
    if (unlikely(result)) {
        struct attempt attempt = {.kind = OBJECT_MUTEX};
        thread->state = THREAD_BUSY;
        return pthread_mutex_lock_waiting(thread, mutex, attempt, result, CALLER(), 0, NULL);
    }
    if (unlikely(thread->held_count)) hold_deepens(thread, mutex);
    return 0;
}

/* Of a thread that samples what need not wait: it passes this one over, unless it waits. Nothing of the lock but its own words is touched. Other mutexes
 * than those of glibc's four plain kinds take the usual way, and so does a thread that notes each hold (its level is 0). It jumps to what
 * needs a frame, as malloc does. */
static ALWAYS_INLINE int mutex_lock_passing(struct thread *thread, pthread_mutex_t *mutex) {
    enum { PLAIN_KINDS = 4 };
    uint32_t kind = plain_kind_of(mutex);
    if (unlikely(kind >= PLAIN_KINDS || thread->state != THREAD_IDLE || is_paused() || !lock_passes(thread)))
        return mutex_lock_asking(mutex);
    if (unlikely(!__libc_single_threaded || thread->held_count)) return mutex_take_passing(mutex);
    if (likely(kind < load_relaxed(&plain_kinds)) && likely(plain_mutex_take_as(mutex, kind, true))) return 0;
    return real.pthread_mutex_lock(mutex);
}

/* For plain mutexes of which most holds are not timed. It does not enter the thread: a signal handler may use hooks in the middle of it, and finds all
 * as it is between hooks. With the mutex held it counts, and notes it in one word. A lock word that is not 0 is taken, and is not asked for twice: each
 * try takes the line from its holder. About 20 instructions besides the try. */
HOT __attribute__((noinline)) int mutex_lock_counting(pthread_mutex_t *mutex) {
    struct thread *thread = self;
    struct known_object *known = known_of(thread->known_locks, mutex);
    bool is_plain = load_relaxed(&mutex->__data.__kind) == PTHREAD_MUTEX_TIMED_NP;
    if (unlikely(known->object != mutex || !skips_hold(known) || !is_plain || thread->light ||
                 thread->state != THREAD_IDLE || is_paused()))
        return mutex_lock_slowly(mutex, CALLER());
    known->skip--;
    if (unlikely(load_relaxed(&mutex->__data.__lock) || take_free(mutex)))
        return lock_taken(thread, mutex, known->counters, CALLER());
    count_own(&((struct lock_counters *)known->counters)->acquires);
    store_relaxed(&thread->light, mutex);
    return 0;
}

HOT HOOK int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (unlikely(load_relaxed(&is_locks_off))) return real.pthread_mutex_lock(mutex);
    struct thread *thread = self;
    return thread->lock_level ? mutex_lock_passing(thread, mutex) : mutex_lock_counting(mutex);
}

HOOK int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    TRY(mutex, OBJECT_MUTEX, EXCLUSIVE, real.pthread_mutex_trylock(mutex));
}

ACQUIRER(pthread_mutex_timedlock, pthread_mutex_t, OBJECT_MUTEX, EXCLUSIVE, outcome,
         real.pthread_mutex_timedlock(lock, until))

HOOK int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    ACQUIRE(pthread_mutex_timedlock, mutex, OBJECT_MUTEX, EXCLUSIVE, try_mutex(mutex),
            real.pthread_mutex_timedlock(mutex, until), 0, until);
}

ACQUIRER(pthread_mutex_clocklock, pthread_mutex_t, OBJECT_MUTEX, EXCLUSIVE, outcome,
         real.pthread_mutex_clocklock(lock, clock, until))

HOOK int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    ACQUIRE(pthread_mutex_clocklock, mutex, OBJECT_MUTEX, EXCLUSIVE, try_mutex(mutex),
            real.pthread_mutex_clocklock(mutex, clock, until), clock, until);
}

/* Before the unlock of a mutex of which no hold is known: this thread has it since before the process was attached to, where each acquisition was noted
 * since then. It is told of as held since the recording began. What takes a mutex unseen (a function that was bound at once) would look the same, so
 * of a thread that is told a few times. */
static bool is_held_since_before(struct thread *thread, const pthread_mutex_t *mutex) {
    if (!thread->earlier_holds || thread->lock_level || is_taken_again(mutex)) return false;
    return mutex_owner(mutex) == trace_own_tid();
}

static int unlock_earlier(struct thread *thread, pthread_mutex_t *mutex, const uint64_t *caller) {
    struct held_lock held = {
        .lock = mutex, .since = process->segment->start_ticks, .weight = 1, .holds = 1, .kind = OBJECT_MUTEX};
    uint32_t id;
    thread->earlier_holds--;
    RECORD(thread,
           held.counters = counters_of_part(thread, mutex, OBJECT_MUTEX, callstack(thread, frame_at(caller)), &id));
    uint64_t now = clock_ticks();
    int result = real.pthread_mutex_unlock(mutex);
    if (held.counters) hold_ended(thread, &held, now, caller);
    thread_leave(thread);
    return result;
}

static __attribute__((noinline)) int unlock_slowly(pthread_mutex_t *mutex, const uint64_t *caller) {
    struct thread *thread = lock_enter_holding();
    if (unlikely(!thread)) return real.pthread_mutex_unlock(mutex);
    struct held_lock *held = find_held(thread, mutex);
    if (unlikely(!held && is_held_since_before(thread, mutex))) return unlock_earlier(thread, mutex, caller);
    uint64_t now = unlikely(hold_is_ending(held)) ? clock_ticks() : 0;
    int result = real.pthread_mutex_unlock(mutex);
    if (likely(held)) hold_released(thread, held, now, caller);
    thread_leave(thread);
    return result;
}

/* It was marked, after its light was put out: so nothing marks it now. */
static __attribute__((noinline)) int unlock_marked(struct thread *thread, pthread_mutex_t *mutex,
                                                   const uint64_t *caller) {
    struct held_lock held = {
        .lock = mutex, .since = thread->light_since, .weight = 1, .holds = HOLD_MARKED, .kind = OBJECT_MUTEX};
    const struct known_object *known = known_of(thread->known_locks, mutex);
    thread->light_since = 0;
    held.counters = known->object == mutex ? known->counters : NULL;
    uint64_t now = clock_ticks();
    int result = real.pthread_mutex_unlock(mutex);
    thread = held.counters ? thread_enter() : NULL;
    if (!thread) return result;
    hold_ended(thread, &held, now, caller);
    thread_leave(thread);
    return result;
}

static ALWAYS_INLINE int give_back(pthread_mutex_t *mutex) {
    return plain_mutex_give(mutex) ? 0 : real.pthread_mutex_unlock(mutex);
}

enum release { RELEASE_PLAIN, RELEASE_NOTED, RELEASE_MARKED };

/* Puts the light of the mutex out, where it has one. The first call of a thread may end a wait that nobody saw begin, and later ones holds. */
static ALWAYS_INLINE enum release begin_release(struct thread *thread, const pthread_mutex_t *mutex) {
    if (load_relaxed(&thread->light) != mutex) {
        bool is_noted = thread->held_count || (thread->earlier_holds && !thread->lock_level) ||
                        (thread->state != THREAD_IDLE && load_relaxed(&process->earlier_waits));
        return unlikely(is_noted) ? RELEASE_NOTED : RELEASE_PLAIN;
    }
    store_relaxed(&thread->light, NULL);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return unlikely(load_relaxed(&thread->light_since)) ? RELEASE_MARKED : RELEASE_PLAIN;
}

static int unlock_mutex(pthread_mutex_t *mutex, const uint64_t *caller) {
    switch (begin_release(self, mutex)) {
    case RELEASE_NOTED: return unlock_slowly(mutex, caller);
    case RELEASE_MARKED: return unlock_marked(self, mutex, caller);
    default: return give_back(mutex);
    }
}

/* After a release at `at` of a lock that was held since `since`; 0: it is not known since when. */
static void trace_unlock(const void *lock, uint64_t since, uint64_t at, bool is_waited_for, const uint64_t *caller) {
    if (is_waited_for && traces(TRACE_LOCK)) trace_released(lock, at, caller);
    if (since) trace_held(lock, since, at, is_waited_for, caller);
}

static ALWAYS_INLINE uint64_t hold_since(const void *lock) {
    return traces(TRACE_HOLD) ? trace_hold_since(lock) : 0;
}

#define UNLOCK_TRACED(lock, waited_for, caller, unlock)                                                                \
    bool is_waited_for = waited_for;                                                                                   \
    if ((!is_waited_for && !traces(TRACE_HOLD)) || thread_is_blind()) return unlock;                                   \
    uint64_t now = clock_ticks(), since = hold_since(lock);                                                            \
    int result = unlock;                                                                                               \
    if (result == 0) trace_unlock(lock, since, now, is_waited_for, caller);                                            \
    return result

static __attribute__((noinline)) int unlock_traced(pthread_mutex_t *mutex, const uint64_t *caller) {
    UNLOCK_TRACED(mutex, mutex_is_waited_for(mutex), caller, unlock_mutex(mutex, caller));
}

/* The rests of the hook, which jumps there, so that it needs no frame itself. */
static __attribute__((noinline)) int mutex_unlock_noted(pthread_mutex_t *mutex) {
    return unlock_slowly(mutex, CALLER());
}

static __attribute__((noinline)) int mutex_unlock_marked(pthread_mutex_t *mutex) {
    return unlock_marked(self, mutex, CALLER());
}

static __attribute__((noinline)) int mutex_unlock_traced(pthread_mutex_t *mutex) {
    return unlock_traced(mutex, CALLER());
}

HOT HOOK int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (unlikely(load_relaxed(&is_locks_off))) return real.pthread_mutex_unlock(mutex);
    if (traces(TRACE_LOCK | TRACE_HOLD) && (traces(TRACE_HOLD) || mutex_is_waited_for(mutex)))
        return mutex_unlock_traced(mutex);
    switch (begin_release(self, mutex)) {
    case RELEASE_NOTED: return mutex_unlock_noted(mutex);
    case RELEASE_MARKED: return mutex_unlock_marked(mutex);
    default: return give_back(mutex);
    }
}

/* --- read-write locks ----------------------------------------------------------------------------------------- */

ACQUIRER(pthread_rwlock_rdlock, pthread_rwlock_t, OBJECT_RWLOCK, SHARED, outcome, real.pthread_rwlock_rdlock(lock))

HOOK int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    ACQUIRE(pthread_rwlock_rdlock, lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock),
            real.pthread_rwlock_rdlock(lock), 0, NULL);
}

HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    TRY(lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock));
}

ACQUIRER(pthread_rwlock_timedrdlock, pthread_rwlock_t, OBJECT_RWLOCK, SHARED, outcome,
         real.pthread_rwlock_timedrdlock(lock, until))

HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
    ACQUIRE(pthread_rwlock_timedrdlock, lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock),
            real.pthread_rwlock_timedrdlock(lock, until), 0, until);
}

ACQUIRER(pthread_rwlock_clockrdlock, pthread_rwlock_t, OBJECT_RWLOCK, SHARED, outcome,
         real.pthread_rwlock_clockrdlock(lock, clock, until))

HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
    ACQUIRE(pthread_rwlock_clockrdlock, lock, OBJECT_RWLOCK, SHARED, real.pthread_rwlock_tryrdlock(lock),
            real.pthread_rwlock_clockrdlock(lock, clock, until), clock, until);
}

ACQUIRER(pthread_rwlock_wrlock, pthread_rwlock_t, OBJECT_RWLOCK, EXCLUSIVE, outcome, real.pthread_rwlock_wrlock(lock))

HOOK int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    ACQUIRE(pthread_rwlock_wrlock, lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock),
            real.pthread_rwlock_wrlock(lock), 0, NULL);
}

HOOK int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    TRY(lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock));
}

ACQUIRER(pthread_rwlock_timedwrlock, pthread_rwlock_t, OBJECT_RWLOCK, EXCLUSIVE, outcome,
         real.pthread_rwlock_timedwrlock(lock, until))

HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
    ACQUIRE(pthread_rwlock_timedwrlock, lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock),
            real.pthread_rwlock_timedwrlock(lock, until), 0, until);
}

ACQUIRER(pthread_rwlock_clockwrlock, pthread_rwlock_t, OBJECT_RWLOCK, EXCLUSIVE, outcome,
         real.pthread_rwlock_clockwrlock(lock, clock, until))

HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
    ACQUIRE(pthread_rwlock_clockwrlock, lock, OBJECT_RWLOCK, EXCLUSIVE, real.pthread_rwlock_trywrlock(lock),
            real.pthread_rwlock_clockwrlock(lock, clock, until), clock, until);
}

static ALWAYS_INLINE int unlock_rwlock(pthread_rwlock_t *lock, const uint64_t *caller) {
    RELEASE_UNOWNED(lock, real.pthread_rwlock_unlock(lock), caller);
}

static __attribute__((noinline)) int unlock_rwlock_traced(pthread_rwlock_t *lock, const uint64_t *caller) {
    UNLOCK_TRACED(lock, rwlock_is_waited_for(lock), caller, unlock_rwlock(lock, caller));
}

HOOK int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    if (traces(TRACE_LOCK | TRACE_HOLD)) return unlock_rwlock_traced(lock, CALLER());
    return unlock_rwlock(lock, CALLER());
}

/* --- spin locks ----------------------------------------------------------------------------------------------- */

ACQUIRER(pthread_spin_lock, pthread_spinlock_t, OBJECT_SPIN, EXCLUSIVE, outcome, real.pthread_spin_lock(lock))

HOOK int pthread_spin_lock(pthread_spinlock_t *lock) {
    ACQUIRE(pthread_spin_lock, lock, OBJECT_SPIN, EXCLUSIVE, real.pthread_spin_trylock(lock),
            real.pthread_spin_lock(lock), 0, NULL);
}

HOOK int pthread_spin_trylock(pthread_spinlock_t *lock) {
    TRY(lock, OBJECT_SPIN, EXCLUSIVE, real.pthread_spin_trylock(lock));
}

static ALWAYS_INLINE int unlock_spin(pthread_spinlock_t *lock, const uint64_t *caller) {
    RELEASE_UNOWNED(lock, real.pthread_spin_unlock(lock), caller);
}

/* Nothing in the lock says whether somebody waits. */
static __attribute__((noinline)) int unlock_spin_traced(pthread_spinlock_t *lock, const uint64_t *caller) {
    UNLOCK_TRACED((void *)(uintptr_t)lock, false, caller, unlock_spin(lock, caller));
}

HOOK int pthread_spin_unlock(pthread_spinlock_t *lock) {
    if (traces(TRACE_HOLD)) return unlock_spin_traced(lock, CALLER());
    return unlock_spin(lock, CALLER());
}

/* --- mutexes of C11, which glibc makes of its own below the functions that are hooked ------------------------------ */

ACQUIRER(mtx_lock, mtx_t, OBJECT_MUTEX, EXCLUSIVE, outcome_c11, real.mtx_lock(lock))

HOOK int mtx_lock(mtx_t *mutex) {
    ACQUIRE(mtx_lock, mutex, OBJECT_MUTEX, EXCLUSIVE, real.mtx_trylock(mutex), real.mtx_lock(mutex), 0, NULL);
}

ACQUIRER(mtx_timedlock, mtx_t, OBJECT_MUTEX, EXCLUSIVE, outcome_c11, real.mtx_timedlock(lock, until))

HOOK int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until) {
    ACQUIRE(mtx_timedlock, mutex, OBJECT_MUTEX, EXCLUSIVE, real.mtx_trylock(mutex), real.mtx_timedlock(mutex, until), 0,
            until);
}

HOOK int mtx_trylock(mtx_t *mutex) {
    TRY_AS(mutex, OBJECT_MUTEX, EXCLUSIVE, outcome_c11, real.mtx_trylock(mutex));
}

static ALWAYS_INLINE int unlock_c11(mtx_t *mutex, const uint64_t *caller) {
    RELEASE(mutex, real.mtx_unlock(mutex), caller);
}

/* It is a mutex of POSIX under another name (glibc's nptl/thrd_priv.h). */
static __attribute__((noinline)) int unlock_c11_traced(mtx_t *mutex, const uint64_t *caller) {
    _Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && thrd_success == 0, "the same");
    UNLOCK_TRACED(mutex, mutex_is_waited_for((const pthread_mutex_t *)(const void *)mutex), caller,
                  unlock_c11(mutex, caller));
}

HOOK int mtx_unlock(mtx_t *mutex) {
    if (traces(TRACE_LOCK | TRACE_HOLD)) return unlock_c11_traced(mutex, CALLER());
    return unlock_c11(mutex, CALLER());
}
