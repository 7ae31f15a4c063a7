#include "ingest/shim/heap/peak.h"

/* Of a thread with limits that no balance passes. */
#define NEVER_ABOVE INT64_MAX
#define NEVER_BELOW INT64_MIN
/* Any balance passes these: the thread's next event calls one of the slow functions, which sets its limits anew. */
#define ALWAYS_ABOVE INT64_MIN

enum { STEP_LEAST = 8 << 10, PEAK_SHARE = 1024 };

static bool try_lock(void) {
    return !exchange_acq_rel(&process->peak_lock, 1);
}

static void lock(void) {
    while (!try_lock())
        __builtin_ia32_pause();
}

static void unlock(void) {
    store_release(&process->peak_lock, 0);
}

/* Needs the lock. A total that was never reached before: times it, where it is well above the last one that was. */
static void time_rise(int64_t live) {
    int64_t timed = process->timed_peak;
    if (live <= timed + timed / PEAK_SHARE) return;
    process->timed_peak = live;
    store_relaxed(&process->segment->peak_ticks, clock_ticks());
}

/* Needs the lock. What is live now is a peak. */
static void raise_peak(int64_t live) {
    time_rise(live);
    store_relaxed(&process->peak, live);
    uint64_t epoch = load_relaxed(&process->peak_epoch) + 1;
    store_release(&process->peak_epoch, epoch);
    store_release(&process->segment->peak_epoch, epoch);
}

static bool is_alone(const struct thread *thread) {
    return process->alone == thread;
}

/* Needs the lock. */
static void set_limits_alone(struct thread *thread) {
    int64_t peak = load_relaxed(&process->peak), timed = process->timed_peak;
    store_relaxed(&thread->rise_limit, timed + timed / PEAK_SHARE);
    store_relaxed(&thread->peak_limit, peak);
    store_relaxed(&thread->fall_limit, NEVER_BELOW);
}

/* Of a thread beside others. */
static void set_limits(struct thread *thread) {
    int64_t share = load_relaxed(&process->peak) / PEAK_SHARE, step = share > STEP_LEAST ? share : STEP_LEAST;
    store_relaxed(&thread->rise_limit, thread->published + step);
    store_relaxed(&thread->peak_limit, NEVER_ABOVE);
    store_relaxed(&thread->fall_limit, thread->published - step);
}

/* Adds to the total what the thread has not added yet. Where another thread is noting a peak, this one is within a step
 * of it, so nobody waits. */
static void publish(struct thread *thread) {
    int64_t change = thread->balance - thread->published;
    thread->published = thread->balance;
    int64_t live = fetch_add_relaxed(&process->live, change) + change;
    if (live > load_relaxed(&process->peak) && try_lock()) {
        if (live > load_relaxed(&process->peak)) raise_peak(live);
        unlock();
    }
    set_limits(thread);
}

void peak_begin(struct thread *thread) {
    lock();
    struct thread *first = process->alone;
    if (!first && !process->has_threads) {
        process->alone = thread;
        set_limits_alone(thread);
    } else if (first) { /* its balance is the total so far; it goes on in steps at its next event */
        int64_t live = load_relaxed(&first->balance);
        process->alone = NULL;
        first->published = live;
        store_relaxed(&process->live, live);
        if (live > load_relaxed(&process->peak)) raise_peak(live);
        store_release(&first->rise_limit, ALWAYS_ABOVE);
        store_release(&first->peak_limit, ALWAYS_ABOVE);
    }
    process->has_threads = true;
    bool is_beside = !is_alone(thread);
    unlock();
    if (is_beside) set_limits(thread);
}

COLD void peak_rise_slowly(struct thread *thread) {
    lock();
    bool alone = is_alone(thread);
    if (alone) {
        time_rise(thread->balance);
        set_limits_alone(thread);
    }
    unlock();
    if (!alone) publish(thread);
}

COLD void peak_before_fall_slowly(struct thread *thread) {
    lock();
    bool alone = is_alone(thread);
    if (alone) {
        raise_peak(thread->balance);
        set_limits_alone(thread);
    }
    unlock();
    if (!alone) publish(thread);
}

COLD void peak_fall_slowly(struct thread *thread) {
    publish(thread);
}

COLD void peak_keep_slowly(struct heap_counters *counters, uint64_t epoch) {
    store_relaxed(&counters->peak_count, counters->alloc_count - counters->free_count);
    store_relaxed(&counters->peak_bytes, counters->alloc_bytes - counters->free_bytes);
    store_release(&counters->peak_epoch, epoch);
}
