#include "ingest/shim/locks/spins.h"

#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/events/waiting_calls.h"
#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/stacks/callstack.h"

/* How many spins this one stands for; 0: it is not counted. */
static uint32_t spin_weight(struct thread *thread) {
    if (thread->spins < SPINS_EXACT) {
        thread->spins++;
        return 1;
    }
    if (thread->spins_to_skip) {
        thread->spins_to_skip--;
        return 0;
    }
    thread->spins_to_skip = hold_draw(thread, 2 * SPINS_SAMPLED - 1);
    return SPINS_SAMPLED;
}

static struct spin_counters *counters_of(struct thread *thread, const uint64_t *caller) {
    struct spin_counters *counters = NULL;
    uint32_t stack;
    RECORD(thread, stack = callstack(thread, frame_at(caller)); if (stack) counters = spin_counters_of(thread, stack));
    if (!counters) fetch_add_relaxed(&process->segment->dropped_locks, 1);
    return counters;
}

void spin_tried(struct thread *thread, const uint64_t *caller) {
    uint32_t weight = spin_weight(thread);
    struct spin_counters *counters = weight ? counters_of(thread, caller) : NULL;
    if (counters) add_own(&counters->failed_tries, weight);
}

/* --- yields --------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void count_yield(const uint64_t *caller) {
    struct thread *thread = lock_enter();
    if (!thread) return;
    uint32_t weight = spin_weight(thread);
    struct spin_counters *counters = weight ? counters_of(thread, caller) : NULL;
    if (counters) add_own(&counters->yields, weight);
    thread_leave(thread);
}

HOOK int sched_yield(void) {
    count_yield(CALLER());
    return real.sched_yield();
}

HOOK void thrd_yield(void) {
    count_yield(CALLER());
    real.thrd_yield();
}

/* --- sleeps --------------------------------------------------------------------------------------------------- */

/* A nap is longer than a short sleep, and may still be a loop that asks again and again; a longer one is a pace. */
enum { SHORT_SLEEP_NS = 1000000, NAP_NS = 100000000 };

enum length { LONG_SLEEP, SHORT_SLEEP, NAP };

/* Before a sleep: when it begins. */
static ALWAYS_INLINE uint64_t sleep_begins(enum segment_waiting_call call, const uint64_t *caller) {
    struct thread *thread = thread_enter();
    if (thread) {
        holds_mark(thread);
        thread_leave(thread);
    }
    call_begins(call, caller);
    return thread_is_blind() ? 0 : clock_ticks();
}

static enum length length_of_ns(uint64_t ns) {
    return ns < SHORT_SLEEP_NS ? SHORT_SLEEP : ns <= NAP_NS ? NAP : LONG_SLEEP;
}

static enum length length_of(const struct timespec *time) {
    return time->tv_sec == 0 ? length_of_ns((uint64_t)time->tv_nsec) : LONG_SLEEP;
}

/* After a sleep that took its time; what it was asked for can be read then. */
static __attribute__((noinline)) void count_sleep(enum length length, uint64_t since, const uint64_t *caller) {
    struct thread *thread = lock_enter();
    if (!thread) return;
    struct spin_counters *counters = counters_of(thread, caller);
    uint64_t now = clock_ticks();
    if (counters) {
        add_own(length == NAP ? &counters->naps : &counters->short_sleeps, 1);
        add_own(length == NAP ? &counters->nap : &counters->sleep, now > since ? now - since : 0);
    }
    thread_leave(thread);
}

/* After a sleep. */
static ALWAYS_INLINE void sleep_ends(enum segment_waiting_call call, uint64_t since, bool is_interrupted,
                                     enum length length, const uint64_t *caller) {
    call_ends();
    if (traces(TRACE_SLEEP)) trace_call_ended(EVENT_SLEEP, call_names[call], since, is_interrupted, caller);
    if (length != LONG_SLEEP && !is_interrupted) count_sleep(length, since, caller);
}

HOOK int nanosleep(const struct timespec *time, struct timespec *rest) {
    uint64_t since = sleep_begins(CALL_NANOSLEEP, CALLER());
    int result = real.nanosleep(time, rest);
    sleep_ends(CALL_NANOSLEEP, since, result != 0, result == 0 ? length_of(time) : LONG_SLEEP, CALLER());
    return result;
}

HOOK int thrd_sleep(const struct timespec *time, struct timespec *rest) {
    uint64_t since = sleep_begins(CALL_THRD_SLEEP, CALLER());
    int result = real.thrd_sleep(time, rest);
    sleep_ends(CALL_THRD_SLEEP, since, result != 0, result == 0 ? length_of(time) : LONG_SLEEP, CALLER());
    return result;
}

HOOK int usleep(useconds_t time) {
    uint64_t since = sleep_begins(CALL_USLEEP, CALLER());
    int result = real.usleep(time);
    sleep_ends(CALL_USLEEP, since, result != 0, length_of_ns(time * 1000ULL), CALLER());
    return result;
}

/* It is long, or 0. */
HOOK unsigned sleep(unsigned seconds) {
    uint64_t since = sleep_begins(CALL_SLEEP, CALLER());
    unsigned left = real.sleep(seconds);
    sleep_ends(CALL_SLEEP, since, left > 0, LONG_SLEEP, CALLER());
    return left;
}

/* A sleep until a moment is as long as it took: a pace that is kept, unless it is short. */
HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    uint64_t since = sleep_begins(CALL_CLOCK_NANOSLEEP, CALLER());
    int result = real.clock_nanosleep(clock, flags, time, rest);
    bool is_until = flags & TIMER_ABSTIME;
    enum length length = LONG_SLEEP;
    if (result == 0 && !is_until) length = length_of(time);
    if (is_until && since && clock_ticks() - since < clock_ticks_of(SHORT_SLEEP_NS)) length = SHORT_SLEEP;
    sleep_ends(CALL_CLOCK_NANOSLEEP, since, result != 0, length, CALLER());
    return result;
}
