/* budget_rule.h: how a budget (--budget) is held: by what recording took of a program's CPU time, which level of sampling comes next. Apart from
 * clocks and processes: the recorder decides for the programs that it started (ingest/record/budget.h), and the runtime for one that clear did not start.
 *
 * Where the cost since the last decision is more than the share of the rest of the CPU time, the mean of the sampling is raised by a factor of
 * two or four (enum: SAMPLE_LEVELS, from 1 KiB on); while the run as a whole is above its budget, as after a start in which each allocation was
 * recorded, half of the share counts. It is lowered by a factor of two after five decisions in a row of which each foresees that the cost would
 * still be below 0.7 of the share, so it does not swing.
 *
 * Locks likewise, from one of 64 acquisitions that need not wait to one of 4,096 (LOCK_LEVEL_N), by factors of four. Where both together take too
 * much, each whose part is more than half of what is left for them is raised. What they cost is their number, which the runtime tells, at 10 ns
 * for an acquisition that is recorded with its release where each is (measured in storms: 2.2 to 3.5 of plain mutexes, 12 of recursive ones, 5.0 to 9.4 of
 * locks of readers and writers, on 6.0 to 7.6 ns of their own), 60 ns for one that stands for others, whose hold is timed, and 3 ns for one that is passed
 * over (0.5 to 1.7 of plain and recursive mutexes, 3.5 to 5.5 of locks of readers and writers).
 *
 * What the other kinds cost is estimated from their events: 100 ns for a wait, a call of input and output and others with a stack. It is part of the
 * cost, and is not sampled. What is known by numbers alone is 0.55 of the CPU time at most. So where what cannot be sampled is above the budget,
 * the others are sampled until they have a tenth of the share, and the report says what the cost is. */
#ifndef CLEAR_INGEST_BUDGET_RULE_H
#define CLEAR_INGEST_BUDGET_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/segment.h"

/* Of a time, in ns of CPU time; cpu_ns with all of the others. */
struct budget_sums {
    double recorded_ns, events; /* allocations and frees that were recorded */
    double passed_ns, passed;   /* allocations that were passed over, with their frees */
    double locks, locks_sampled,
        locks_passed; /* acquisitions: where each was recorded; that stood for others; that were passed over */
    double other_ns;  /* the other kinds */
    double cpu_ns;
};

struct budget_state {
    double share;                /* of the CPU time without the cost */
    uint32_t level, lock_level;  /* as in struct control: sample_level, lock_level */
    uint32_t roomy, locks_roomy; /* decisions in a row that foresaw room for a finer level of each */
    struct budget_sums all;      /* since the start */
};

enum {
    BUDGET_ROOMY_LOOKS = 5,
    BUDGET_HEAVY_NS = 100,
    BUDGET_LOCK_NS = 10,
    BUDGET_LOCK_SAMPLED_NS = 60,
    BUDGET_LOCK_PASSED_NS = 3,
    BUDGET_LOCK_FINER = 4
};
#define BUDGET_ROOM 0.7
/* What the other kinds are estimated to take is no more of the rest: in storms of locks their hooks took 51 to 61 %. */
#define BUDGET_OTHERS_MOST 0.55

/* What acquisitions that are recorded took. */
static inline double budget_locks_of(const struct budget_sums *sums) {
    return BUDGET_LOCK_NS * sums->locks + BUDGET_LOCK_SAMPLED_NS * sums->locks_sampled;
}

/* What is known by its number alone, as a factor: it is no more than a part of the rest. */
static inline double budget_counted_share(const struct budget_sums *sums) {
    double rest = sums->cpu_ns - sums->recorded_ns - sums->passed_ns, most = rest > 0 ? BUDGET_OTHERS_MOST * rest : 0;
    double counted = budget_locks_of(sums) + BUDGET_LOCK_PASSED_NS * sums->locks_passed + sums->other_ns;
    return counted > most ? most / counted : 1;
}

/* What no level changes, beside allocations that are passed over. */
static inline double budget_fixed_of(const struct budget_sums *sums) {
    return sums->passed_ns + (BUDGET_LOCK_PASSED_NS * sums->locks_passed + sums->other_ns) * budget_counted_share(sums);
}

static inline double budget_cost_of(const struct budget_sums *sums) {
    return sums->recorded_ns + budget_locks_of(sums) * budget_counted_share(sums) + budget_fixed_of(sums);
}

static inline void budget_add(struct budget_sums *sums, const struct budget_sums *more) {
    sums->recorded_ns += more->recorded_ns;
    sums->events += more->events;
    sums->passed_ns += more->passed_ns;
    sums->passed += more->passed;
    sums->locks += more->locks;
    sums->locks_sampled += more->locks_sampled;
    sums->locks_passed += more->locks_passed;
    sums->other_ns += more->other_ns;
    sums->cpu_ns += more->cpu_ns;
}

/* CPU time without the cost: at least a hundredth, because costs are estimates. */
static inline double budget_rest_of(const struct budget_sums *sums) {
    double rest = sums->cpu_ns - budget_cost_of(sums);
    return rest > sums->cpu_ns / 100 ? rest : sums->cpu_ns / 100;
}

/* The cost as a share of the rest of the CPU time; 0 where there is none. */
static inline double budget_share_of(const struct budget_sums *sums) {
    return sums->cpu_ns > 0 ? budget_cost_of(sums) / budget_rest_of(sums) : 0;
}

/* What the next finer level is foreseen to take, of what this one took: twice as many samples; or all events. */
static inline double budget_finer(const struct budget_state *state, const struct budget_sums *since) {
    if (state->level > 1) return 2;
    return since->events > 0 ? (since->events + 2 * since->passed) / since->events : since->passed > 0 ? 1e6 : 1;
}

/* What acquisitions are foreseen to take at the next finer level of theirs. */
static inline double budget_finer_locks(const struct budget_state *state, const struct budget_sums *since) {
    if (state->lock_level > 1) return BUDGET_LOCK_FINER * budget_locks_of(since);
    return BUDGET_LOCK_NS * (since->locks + since->locks_sampled + since->locks_passed);
}

/* Lowers a level after some decisions in a row that foresaw room. */
static inline void budget_lower(uint32_t *level, uint32_t *roomy, bool has_room) {
    *roomy = *level > 0 && has_room ? *roomy + 1 : 0;
    if (*roomy < BUDGET_ROOMY_LOOKS) return;
    *roomy = 0;
    --*level;
}

static inline void budget_raise(uint32_t *level, uint32_t by, uint32_t most) {
    *level = *level + by < most ? *level + by : most;
}

/* Adds what happened since the last decision, and sets the levels for what comes. */
static inline void budget_decide(struct budget_state *state, const struct budget_sums *since) {
    budget_add(&state->all, since);
    bool is_owing = budget_share_of(&state->all) > state->share;
    double rest = budget_rest_of(since), aim = is_owing ? state->share / 2 : state->share,
           scale = budget_counted_share(since) / rest;
    double recorded = since->recorded_ns / rest, locks = budget_locks_of(since) * scale,
           fixed = budget_fixed_of(since) / rest;
    double least = state->share / 10, left = aim - fixed > least ? aim - fixed : least;
    if (recorded + locks > left) {
        state->roomy = state->locks_roomy = 0;
        if (recorded > left / 2) budget_raise(&state->level, recorded > 2 * left ? 2 : 1, SAMPLE_LEVELS);
        if (locks > left / 2) budget_raise(&state->lock_level, 1, LOCK_LEVELS);
        return;
    }
    double room = BUDGET_ROOM * aim - fixed;
    budget_lower(&state->level, &state->roomy, recorded * budget_finer(state, since) + locks < room);
    budget_lower(&state->lock_level, &state->locks_roomy, recorded + budget_finer_locks(state, since) * scale < room);
}

#endif
