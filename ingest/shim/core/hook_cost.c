#include "ingest/shim/core/hook_cost.h"

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/own_budget.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/sample.h"

enum {
    EVERY = 8, /* events that a timed one stands for, where each allocation is recorded */
    EVERY_SAMPLED = 2,
    TELL_AFTER = 16, /* timed events */
    LOOPS = 256,     /* 10 us a try, with and without hooks */
    TRIES = 3,
    /* In a program, whose own data and branches take the caches, it is more: in a storm of malloc and free, in turn with calls that were not hooked, 3.3 to
     * 3.7 ns, for which loops gave 2.8 to 3.3. */
    OF_LOOP_QUARTERS = 5,
    BLOCK_SIZE = 64, /* bytes */
};
#define TELL_TICKS (UINT64_C(1) << 24) /* 5 to 8 ms */
/* 40 to 60 us, of one event: what takes longer is mostly the time in which the thread had no processor. */
#define TICKS_MOST (UINT64_C(1) << 17)

/* --- what is passed over ----------------------------------------------------------------------------------------- */

/* Measured once, and kept across forks; until then, and in a process that ran before, what it was on a machine of 2.4 GHz. */
static uint32_t clock_ticks_known = 24, pass_cost_known = 15 * 256;

void hook_cost_start(void) {
    store_relaxed(&process->clock_cost, clock_ticks_known);
    store_relaxed(&process->pass_cost, pass_cost_known);
    store_relaxed(&process->segment->budget_pass_cost, pass_cost_known);
}

static uint32_t measured_level = SAMPLE_LEVELS;

static __attribute__((noinline)) void nothing(void) {
    __asm__ volatile("");
}
static void (*volatile real_function)(void) = nothing;

/* What the hooks of malloc and free do where they pass an allocation over; no memory is allocated. */
static __attribute__((noinline)) void pass_malloc(uint64_t size) {
    if (heap_passes_at(size, &measured_level)) real_function();
}

static __attribute__((noinline)) void pass_free(const void *block) {
    if (load_relaxed(&heap_mode) == HEAP_SAMPLED && !block_is_marked((uintptr_t)block)) real_function();
}

static uint64_t loop_ticks(bool is_hooked) {
    uint64_t from = clock_ticks();
    for (int i = 0; i < LOOPS; i++) {
        if (is_hooked) {
            pass_malloc(BLOCK_SIZE);
            pass_free((const void *)self);
        } else {
            real_function();
            real_function();
        }
    }
    return clock_ticks() - from;
}

static uint64_t least_ticks(bool is_hooked) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t ticks = loop_ticks(is_hooked);
        if (ticks < least) least = ticks;
    }
    return least;
}

static uint64_t clock_least(void) {
    uint64_t least = TICKS_MOST;
    for (int i = 0; i < TRIES; i++) {
        uint64_t from = clock_ticks(), ticks = clock_ticks() - from;
        if (ticks < least) least = ticks;
    }
    return least;
}

void hook_cost_measure(struct thread *thread) {
    struct thread_counters *counters = thread->counters;
    uint64_t passed = load_relaxed(&counters->heap_passed);
    sample_switch(thread, SAMPLE_LEVELS);
    thread->bytes_to_sample = INT64_MAX;
    uint64_t with = least_ticks(true), without = least_ticks(false);
    uint64_t cost = with > without ? (with - without) * 256 / LOOPS * OF_LOOP_QUARTERS / 4 : 0;
    sample_switch(thread, 0);
    thread->newest = NULL;
    store_relaxed(&counters->heap_passed, passed);
    clock_ticks_known = (uint32_t)clock_least();
    pass_cost_known = (uint32_t)(cost < TICKS_MOST ? cost : TICKS_MOST);
    hook_cost_start();
}

/* --- what is recorded -------------------------------------------------------------------------------------------- */

static uint32_t draw(struct thread *thread) {
    uint32_t every = thread->sample_level ? EVERY_SAMPLED : EVERY;
    thread->budget_random = thread->budget_random * 1103515245 + 12345;
    return 1 + (thread->budget_random >> 16) % (2 * every - 1);
}

uint64_t hook_cost_from(struct thread *thread) {
    if (!process->has_budget) return 0;
    thread->budget_events++;
    if (thread->budget_left-- > 1) return 0;
    thread->budget_left = draw(thread);
    return clock_ticks();
}

static void tell(struct thread *thread, uint64_t now) {
    struct segment *segment = process->segment;
    uint64_t passed = load_relaxed(&thread->counters->heap_passed), new = passed - thread->budget_passed;
    fetch_add_relaxed(&segment->budget_ticks, thread->budget_ticks);
    fetch_add_relaxed(&segment->budget_events, thread->budget_recorded);
    fetch_add_relaxed(&segment->budget_passed, new);
    thread->budget_passed = passed;
    thread->budget_ticks = thread->budget_recorded = thread->budget_timed = 0;
    thread->budget_told = now;
    own_budget_look();
}

void hook_cost_to(struct thread *thread, uint64_t from) {
    if (!from) return;
    uint64_t now = clock_ticks(), took = now > from ? now - from : 0, clock = load_relaxed(&process->clock_cost);
    took = took > TICKS_MOST ? TICKS_MOST : took > clock ? took - clock : 0;
    took += load_relaxed(&process->pass_cost) / 512; /* of what is around it */
    thread->budget_ticks += took * thread->budget_events + 2 * clock;
    thread->budget_recorded += thread->budget_events;
    thread->budget_events = 0;
    if (++thread->budget_timed >= TELL_AFTER || now - thread->budget_told > TELL_TICKS) tell(thread, now);
}
