#include "ingest/shim/core/own_budget.h"

#include <time.h>

#include "ingest/shim/core/control.h"

static uint64_t cpu_ns(void) {
    struct timespec time;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0
               ? (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec
               : 0;
}

void own_budget_start(void) {
    struct own_budget *own = &process->own_budget;
    own->state.share = shared_control()->budget_ppm / 1e6;
    own->started = own->looked = clock_ticks();
    own->started_ns = clock_monotonic_ns();
    own->last.cpu_ns = (double)cpu_ns();
    shared_sample_level = &own->levels[0];
    shared_lock_level = &own->levels[1];
    store_release(&own->is_on, 1);
}

/* So far; times in ns. */
static struct budget_sums sums_now(double ns_a_tick) {
    const struct segment *segment = process->segment;
    double passed = (double)load_relaxed(&segment->budget_passed);
    return (struct budget_sums){.recorded_ns = (double)load_relaxed(&segment->budget_ticks) * ns_a_tick,
                                .events = (double)load_relaxed(&segment->budget_events),
                                .passed_ns = passed * load_relaxed(&process->pass_cost) / 256 * ns_a_tick,
                                .passed = passed,
                                .locks = (double)load_relaxed(&segment->budget_locks),
                                .locks_sampled = (double)load_relaxed(&segment->budget_locks_sampled),
                                .locks_passed = (double)load_relaxed(&segment->budget_locks_passed),
                                .cpu_ns = (double)cpu_ns()};
}

/* Threads tell the segment late, and a clock may not be there: never less than nothing, and never more than the CPU time. */
static double rise(double now, double before, double most) {
    double more = now - before;
    return more < 0 ? 0 : more > most ? most : more;
}

static struct budget_sums since_last(const struct budget_sums *now, const struct budget_sums *last) {
    const double many = 1e18;
    double cpu = rise(now->cpu_ns, last->cpu_ns, many);
    return (struct budget_sums){.recorded_ns = rise(now->recorded_ns, last->recorded_ns, cpu),
                                .events = rise(now->events, last->events, many),
                                .passed_ns = rise(now->passed_ns, last->passed_ns, cpu),
                                .passed = rise(now->passed, last->passed, many),
                                .locks = rise(now->locks, last->locks, many),
                                .locks_sampled = rise(now->locks_sampled, last->locks_sampled, many),
                                .locks_passed = rise(now->locks_passed, last->locks_passed, many),
                                .cpu_ns = cpu};
}

/* The coarsest level that there was in any process: the windows of the run say that one. */
static void note_coarsest(uint32_t *coarsest, uint32_t level) {
    uint32_t before = load_relaxed(coarsest);
    while (before < level && !compare_exchange(coarsest, &before, level)) {
    }
}

static void decide(struct own_budget *own, uint64_t now) {
    const double least_cpu_ns = 2e6; /* less tells nothing */
    uint64_t ticks = now - own->started, ns = clock_monotonic_ns() - own->started_ns;
    struct budget_sums sums = sums_now(ticks ? (double)ns / (double)ticks : 1), since = since_last(&sums, &own->last);
    if (since.cpu_ns < least_cpu_ns) return;
    own->last = sums;
    budget_decide(&own->state, &since);
    store_relaxed(&own->levels[0], own->state.level);
    store_relaxed(&own->levels[1], own->state.lock_level);
    note_coarsest((uint32_t *)&shared_control()->sample_coarsest, own->state.level);
    note_coarsest((uint32_t *)&shared_control()->lock_coarsest, own->state.lock_level);
}

COLD void own_budget_look_slowly(void) {
    const uint64_t first = UINT64_C(1) << 24, later = UINT64_C(1) << 27;
    struct own_budget *own = &process->own_budget;
    uint64_t now = clock_ticks(), age = now - own->started;
    if (now - load_relaxed(&own->looked) < (age < 10 * later ? first : later) || is_sealed()) return;
    if (exchange_acq_rel(&own->lock, 1)) return;
    store_relaxed(&own->looked, now);
    decide(own, now);
    store_release(&own->lock, 0);
}
