#include "ingest/shim/api/fiber.h"

#include "ingest/shim/core/locked_table.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/stacks/intern.h"

enum { SHORT_NS = 1000000, VERY_SHORT_NS = 10000 }; /* lifetimes below these count as such */

/* Live fibers: fiber + 1 -> site, time of the spawn (CLOCK_MONOTONIC). In memory that a forked child does not get. */
static struct locked_table *fiber_shard(uint64_t fiber) {
    return table_shard_made(&process->fibers, fiber + 1);
}

/* `part` is the scheduler + 1, or 0 for the site itself. */
static struct task_counters *task_of(struct thread *thread, uint32_t site, uint32_t part) {
    struct object_key key = {.address = site, .class = CLASS_TASK_SITE, .part = part};
    uint32_t id = object_intern(thread, key, OBJECT_TASK_SITE);
    struct task_counters *counters = id ? task_counters_of(thread, id) : NULL;
    if (!counters) fetch_add_relaxed(&process->segment->dropped_channels, 1);
    return counters;
}

void fiber_spawned(struct thread *thread, uint64_t fiber, uint32_t site, struct frame frame) {
    struct locked_table *shard = fiber_shard(fiber);
    struct table_entry old, entry = {.key = fiber + 1, .first = site, .second = clock_monotonic_ns()};
    struct task_counters *counters = task_of(thread, site, 0);
    if (shard) table_put(shard, entry, &old);
    if (counters) add_own(&counters->spawns, 1);
    if (traces(TRACE_FIBER)) trace_fiber_spawn(thread, fiber, site, frame);
}

void fiber_ran(struct thread *thread, uint64_t fiber, uint32_t scheduler) {
    struct locked_table *shard = fiber_shard(fiber);
    struct table_entry entry;
    if (!shard || !table_find(shard, fiber + 1, &entry)) {
        if (traces(TRACE_FIBER)) trace_fiber_stop(thread, NULL); /* the one before it does not run any more */
        return;
    }
    struct task_counters *counters = task_of(thread, (uint32_t)entry.first, scheduler + 1);
    if (counters) add_own(&counters->runs, 1);
    if (traces(TRACE_FIBER)) trace_fiber_run(thread, fiber, (uint32_t)entry.first);
}

void fiber_parked(struct thread *thread, uint64_t fiber) {
    if (traces(TRACE_FIBER)) trace_fiber_stop(thread, &fiber);
}

void fiber_exited(struct thread *thread, uint64_t fiber) {
    struct locked_table *shard = fiber_shard(fiber);
    struct table_entry entry;
    if (!shard || !table_take(shard, fiber + 1, &entry)) return;
    struct task_counters *counters = task_of(thread, (uint32_t)entry.first, 0);
    if (traces(TRACE_FIBER)) trace_fiber_finish(thread, fiber, (uint32_t)entry.first);
    if (!counters) return;
    uint64_t lifetime = clock_monotonic_ns() - entry.second;
    add_own(&counters->exits, 1);
    add_own(&counters->lifetime_ns, lifetime);
    max_own(&counters->lifetime_max_ns, lifetime);
    if (lifetime < SHORT_NS) add_own(&counters->under_1ms, 1);
    if (lifetime < VERY_SHORT_NS) add_own(&counters->under_10us, 1);
}
