/* unit_budget: what holds a budget (--budget). The decision by sums made by hand, and against a program whose cost is known for each level. And the
 * runtime's sampling, whose rate changes while blocks are live: what it counts is held against all blocks, with one seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "ingest/record/budget.h"
#include "ingest/shim/core/sample.c"

/* ---- the decision ---- */

enum { MS = 1000000 };

/* 100 ms of CPU time. */
static struct budget_sums spent(double recorded_ms, double other_ms) {
    return (struct budget_sums){
        .recorded_ns = recorded_ms * MS, .events = 1000, .other_ns = other_ms * MS, .cpu_ns = 100.0 * MS};
}

static void within_the_budget_nothing_changes(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.03};
    for (int i = 0; i < 20; i++) {
        struct budget_sums since = spent(2, 0.5);
        budget_decide(&state, &since);
    }
    assert_int_equal(state.level, 0);
    assert_true(fabs(budget_share_of(&state.all) - 2.5 / 97.5) < 1e-9);
}

static void beyond_it_the_mean_is_raised(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.03};
    struct budget_sums since = spent(50, 0);
    budget_decide(&state, &since);
    assert_int_equal(state.level, 2);
    /* The run as a whole is above its budget: half of the share counts. */
    since = spent(2, 0);
    budget_decide(&state, &since);
    assert_int_equal(state.level, 3);
    for (int i = 0; i < 30; i++) {
        since = spent(50, 0);
        budget_decide(&state, &since);
    }
    assert_int_equal(state.level, SAMPLE_LEVELS);
}

static void room_is_used_after_five_decisions(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.03, .level = 6};
    struct budget_sums little = spent(0.5, 0), much = spent(1.5, 0);
    for (int i = 0; i < 4; i++)
        budget_decide(&state, &little);
    assert_int_equal(state.level, 6);
    budget_decide(&state, &much); /* twice that would not fit */
    for (int i = 0; i < 4; i++)
        budget_decide(&state, &little);
    assert_int_equal(state.level, 6);
    budget_decide(&state, &little);
    assert_int_equal(state.level, 5);
    /* Each allocation is recorded again where all of them would fit. */
    state.level = 1;
    little.passed = 100000;
    for (int i = 0; i < 20; i++)
        budget_decide(&state, &little);
    assert_int_equal(state.level, 1);
    little.passed = 100;
    for (int i = 0; i < 5; i++)
        budget_decide(&state, &little);
    assert_int_equal(state.level, 0);
}

/* Where other kinds alone take more, it is of no use to record nothing: a tenth of the share stays. */
static void what_cannot_be_sampled_leaves_a_tenth(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.03};
    struct budget_sums since = spent(0.2, 10);
    budget_decide(&state, &since);
    assert_int_equal(state.level, 0);
    since = spent(0.4, 10);
    budget_decide(&state, &since);
    assert_int_equal(state.level, 1);
}

/* What is only known by a number of events, at so much each, is never nearly all of the time. */
static void the_cost_of_events_is_bounded(void **unused) {
    (void)unused;
    struct budget_sums little = spent(10, 20), storm = spent(10, 500), beyond = spent(100, 500);
    assert_true(fabs(budget_share_of(&little) - 30.0 / 70) < 1e-9);
    assert_true(fabs(budget_share_of(&storm) - (10 + 0.55 * 90) / (0.45 * 90)) < 1e-9);
    assert_true(fabs(budget_share_of(&beyond) - 100) < 1e-9);
}

/* A program that does nothing but allocate blocks of 100 bytes, 50 ns each, of which a recorded one costs 60 ns more and any 1 ns; 20 ms a look. */
static void a_storm_is_held(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.05};
    int changes = 0;
    for (int look = 0; look < 500; look++) {
        double taken = state.level ? -expm1(-100.0 / (double)SAMPLE_LEVEL_BYTES(state.level)) : 1;
        double blocks = 20.0 * MS / (50 + 1 + 60 * taken);
        struct budget_sums since = {.recorded_ns = 60 * taken * blocks,
                                    .events = taken * blocks,
                                    .passed_ns = blocks,
                                    .passed = (1 - taken) * blocks,
                                    .cpu_ns = 20.0 * MS};
        uint32_t before = state.level;
        budget_decide(&state, &since);
        if (look >= 100) changes += state.level != before;
    }
    assert_true(budget_share_of(&state.all) <= 0.05);
    assert_true(state.level >= 1 && state.level <= 4);
    assert_true(changes <= 4); /* it does not swing */
}

/* 100 ms in which so many acquisitions were recorded, as each was; stood for others; were passed over. */
static struct budget_sums locked(double locks, double sampled, double passed) {
    return (struct budget_sums){.locks = locks, .locks_sampled = sampled, .locks_passed = passed, .cpu_ns = 100.0 * MS};
}

static void locks_are_sampled_and_recorded_again(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.05};
    struct budget_sums since = locked(400000, 0, 0);
    budget_decide(&state, &since); /* 4 ms of 100 */
    assert_int_equal(state.lock_level, 0);
    assert_true(fabs(budget_share_of(&state.all) - 4.0 / 96) < 1e-9);
    since = locked(1000000, 0, 0);
    budget_decide(&state, &since); /* 10 ms */
    assert_int_equal(state.lock_level, 1);
    assert_int_equal(state.level, 0); /* allocations have nothing to give */
    state = (struct budget_state){.share = 0.05, .lock_level = 1};
    since = locked(0, 15625, 984375);
    for (int i = 0; i < 20; i++)
        budget_decide(&state, &since); /* 3.9 ms; each of them would be 10 */
    assert_int_equal(state.lock_level, 1);
    since = locked(0, 3125, 196875);
    for (int i = 0; i < 4; i++)
        budget_decide(&state, &since);
    assert_int_equal(state.lock_level, 1);
    budget_decide(&state, &since); /* each of them would be 2 ms */
    assert_int_equal(state.lock_level, 0);
}

/* Both take too much: both are raised. One that has little part in it is not. */
static void each_kind_gives_by_its_part(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.05};
    struct budget_sums since = locked(600000, 0, 0);
    since.recorded_ns = 6.0 * MS, since.events = 100000;
    budget_decide(&state, &since);
    assert_int_equal(state.lock_level, 1);
    assert_true(state.level > 0);
    state = (struct budget_state){.share = 0.05};
    since.locks = 20000;
    budget_decide(&state, &since);
    assert_int_equal(state.lock_level, 0);
    assert_true(state.level > 0);
}

/* Acquisitions of 100 ns with what is between them; 20 ms a look. */
static void a_storm_of_locks_is_held(void **unused) {
    (void)unused;
    struct budget_state state = {.share = 0.05};
    int changes = 0;
    for (int look = 0; look < 500; look++) {
        double n = state.lock_level ? LOCK_LEVEL_N(state.lock_level) : 1,
               cost = state.lock_level ? 60 / n + 3 * (1 - 1 / n) : 10, all = 20.0 * MS / (100 + cost);
        struct budget_sums since = {.cpu_ns = 20.0 * MS};
        since.locks = state.lock_level ? 0 : all;
        since.locks_sampled = state.lock_level ? all / n : 0;
        since.locks_passed = state.lock_level ? all - all / n : 0;
        uint32_t before = state.lock_level;
        budget_decide(&state, &since);
        if (look >= 100) changes += state.lock_level != before;
    }
    assert_true(budget_share_of(&state.all) <= 0.05);
    assert_true(state.lock_level >= 1);
    assert_true(changes <= 4);
}

/* ---- the samples ---- */

static struct process a_process = {.has_budget = 1};
static struct segment a_segment;
static struct thread_counters counters;
static struct thread a_thread = {.state = THREAD_IDLE, .counters = &counters};
static uint32_t level, zero;
struct process *process = &a_process;
uint32_t heap_mode = HEAP_SAMPLED, *paused = &zero, *shared_sample_level = &level;
__thread struct thread *volatile self;

void own_budget_look_slowly(void) {
}
struct thread *thread_enter_slowly(void) {
    return NULL;
}
void thread_leave_orphan(struct thread *thread) {
    (void)thread;
}

enum { BLOCKS = 400000, LIVE = 1000 };

struct totals {
    double blocks, bytes, freed_blocks, freed_bytes;
};

/* Blocks of 1 to 4,096 bytes; each lives for LIVE others, and is freed at whatever level there is then. */
static struct totals run_storm(struct totals *all) {
    static struct {
        uint64_t size;
        uint32_t level;
        bool is_taken;
    } ring[LIVE];
    struct totals seen = {0};
    uint64_t random = 88172645463325252u;
    for (uint64_t i = 0; i < BLOCKS; i++) {
        uint64_t address = 0x7f0000000000 + 64 * i, old_address = address - (uint64_t)64 * LIVE;
        level = (uint32_t)(i / 20000 % 2 ? 0 : 3 + i / 40000 % 6); /* exact, then 4 to 128 KiB */
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t size = 1 + random % (random >> 60 ? 64 : 4096);
        if (i >= LIVE && ring[i % LIVE].is_taken) {
            uint64_t weight = sample_weight(old_address, ring[i % LIVE].level, ring[i % LIVE].size);
            seen.freed_blocks += (double)weight, seen.freed_bytes += (double)(weight * ring[i % LIVE].size);
        }
        if (i >= LIVE) all->freed_blocks++, all->freed_bytes += (double)ring[i % LIVE].size;
        bool is_taken =
            i % 2 ? !heap_passes_soon(size) && sample_takes(&a_thread, size) : sample_takes(&a_thread, size);
        ring[i % LIVE].size = size, ring[i % LIVE].level = a_thread.sample_level, ring[i % LIVE].is_taken = is_taken;
        all->blocks++, all->bytes += (double)size;
        if (!is_taken) continue;
        uint64_t weight = sample_weight(address, a_thread.sample_level, size);
        sample_vary(false, weight, size);
        seen.blocks += (double)weight, seen.bytes += (double)(weight * size);
    }
    return seen;
}

static bool is_near(double seen, double exact, double variance) {
    return fabs(seen - exact) <= 1.959964 * sqrt(variance);
}

static void estimates_hold_over_changes_of_the_rate(void **unused) {
    (void)unused;
    struct totals all = {0}, seen;
    self = &a_thread;
    a_process.segment = &a_segment;
    a_thread.random = 1234567;
    seen = run_storm(&all);
    double count_variance = (double)load_relaxed(&a_segment.alloc_variance);
    double byte_variance = (double)load_relaxed(&a_segment.alloc_byte_variance) * BYTE_VARIANCE_UNIT;
    assert_true(count_variance > 0 && count_variance < 0.05 * all.blocks * 0.05 * all.blocks);
    assert_true(byte_variance > 0 && byte_variance < 0.05 * all.bytes * 0.05 * all.bytes);
    assert_true(is_near(seen.blocks, all.blocks, count_variance) && is_near(seen.bytes, all.bytes, byte_variance));
    /* What was freed has the weight of its allocation: what is live is of the newest blocks alone. */
    assert_true(seen.blocks >= seen.freed_blocks && seen.bytes >= seen.freed_bytes);
    assert_true(is_near(seen.freed_blocks, all.freed_blocks, count_variance));
    /* All of them are counted, in an order that needs no chance. */
    assert_int_equal(counters.heap_recorded + counters.heap_passed, BLOCKS);
    assert_true(counters.heap_recorded > BLOCKS / 2 && counters.heap_passed > BLOCKS / 4);
}

/* Acquisitions whose holds take 20 to 4,115 ticks, at levels that change: the number of all is exact, and the estimates hold. */
static void estimates_of_locks_hold_over_changes_of_the_rate(void **unused) {
    (void)unused;
    enum { LOCKS = 4000000 };
    static struct thread locking = {.state = THREAD_IDLE};
    static struct thread_counters of_locks;
    static const uint32_t levels[] = {0, 1, 3, 0, 2, 4, 1, LOCK_LEVELS + 3};
    double count = 0, ticks = 0, all_ticks = 0, count_variance = 0;
    uint64_t random = 88172645463325252u, exact = 0;
    a_process.segment = &a_segment;
    locking.counters = &of_locks;
    locking.random = 7654321;
    for (uint64_t i = 0; i < LOCKS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t hold = 20 + random % 4096;
        uint32_t weight = lock_weight(&locking, levels[i / 25000 % (sizeof levels / sizeof *levels)]);
        all_ticks += (double)hold;
        if (weight == 1) lock_seen(&locking, 1);
        if (weight) sample_vary_hold(weight, hold);
        exact += weight;
        count += (double)weight, ticks += (double)weight * (double)hold;
        count_variance += (double)weight * ((double)weight - 1);
    }
    double ticks_variance = (double)load_relaxed(&a_segment.hold_variance) * HOLD_VARIANCE_UNIT;
    assert_true(is_near(count, LOCKS, count_variance) && count_variance < 0.05 * LOCKS * 0.05 * LOCKS);
    assert_true(is_near(ticks, all_ticks, ticks_variance) && ticks_variance < 0.05 * all_ticks * 0.05 * all_ticks);
    assert_int_equal(exact + of_locks.lock_passed - of_locks.lock_left - of_locks.lock_excess, LOCKS);
    assert_true(load_relaxed(&a_segment.budget_locks_sampled) > 1000);
    assert_true(load_relaxed(&a_segment.budget_locks) + 256 > LOCKS / 4);
    assert_int_equal(load_relaxed(&a_segment.budget_locks_passed), of_locks.lock_passed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_the_budget_nothing_changes),
        cmocka_unit_test(beyond_it_the_mean_is_raised),
        cmocka_unit_test(room_is_used_after_five_decisions),
        cmocka_unit_test(what_cannot_be_sampled_leaves_a_tenth),
        cmocka_unit_test(the_cost_of_events_is_bounded),
        cmocka_unit_test(a_storm_is_held),
        cmocka_unit_test(locks_are_sampled_and_recorded_again),
        cmocka_unit_test(each_kind_gives_by_its_part),
        cmocka_unit_test(a_storm_of_locks_is_held),
        cmocka_unit_test(estimates_hold_over_changes_of_the_rate),
        cmocka_unit_test(estimates_of_locks_hold_over_changes_of_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
