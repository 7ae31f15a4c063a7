/* peak.h: how many bytes the program has live, their highest total, and what each site had live then.
 *
 * Balances. Each thread keeps its balance: bytes that it allocated less bytes that it freed. With one thread the balance
 * is the total, and the peak is exact. From the second thread on, a thread adds its balance to process->live in steps of
 * 8 KiB, or of 1/1024 of the peak where that is more. Then the peak is what was live at one moment, at most two such
 * steps a thread below the highest total.
 *
 * Sites at the peak. A new peak raises process->peak_epoch and touches no site. A counter's next event sees that its
 * epoch is an older one, and first keeps what it has live. So a counter of the newest epoch has kept what was live at
 * the peak, and any other counter has still live what it had then. With one thread the epoch is raised by the first
 * free after a new maximum, because until then what is live now is the peak; the reader compares the two.
 *
 * When. A new maximum that is more than 1/1024 above the last one that was timed is timed. So the time is that at which
 * the total came within 0.1 % of the peak. */
#ifndef CLEAR_SHIM_PEAK_H
#define CLEAR_SHIM_PEAK_H

#include "ingest/shim/core/runtime.h"

/* A thread's balance begins. Before its first event, and without process->lock. */
void peak_begin(struct thread *thread);

void peak_rise_slowly(struct thread *thread);
void peak_before_fall_slowly(struct thread *thread);
void peak_fall_slowly(struct thread *thread);
void peak_keep_slowly(struct heap_counters *counters, uint64_t epoch);

/* Before a counter changes. */
static ALWAYS_INLINE void peak_keep(struct heap_counters *counters) {
    uint64_t epoch = load_relaxed(&process->peak_epoch);
    if (unlikely(load_relaxed(&counters->peak_epoch) != epoch)) peak_keep_slowly(counters, epoch);
}

/* After an allocation was counted. */
static ALWAYS_INLINE void peak_rise(struct thread *thread, uint64_t bytes) {
    int64_t balance = load_relaxed(&thread->balance) + (int64_t)bytes;
    store_relaxed(&thread->balance, balance);
    if (unlikely(balance > load_relaxed(&thread->rise_limit))) peak_rise_slowly(thread);
}

/* Before a free is counted. */
static ALWAYS_INLINE void peak_before_fall(struct thread *thread) {
    if (unlikely(load_relaxed(&thread->balance) > load_relaxed(&thread->peak_limit))) peak_before_fall_slowly(thread);
}

/* After a free was counted. */
static ALWAYS_INLINE void peak_fall(struct thread *thread, uint64_t bytes) {
    int64_t balance = load_relaxed(&thread->balance) - (int64_t)bytes;
    store_relaxed(&thread->balance, balance);
    if (unlikely(balance < load_relaxed(&thread->fall_limit))) peak_fall_slowly(thread);
}

#endif
