/* The functions of clear.h, which are weak in the program. */
#include "ingest/clear.h"

#include "ingest/shim/api/channel.h"
#include "ingest/shim/api/fiber.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/heap/arena_blocks.h"
#include "ingest/shim/heap/heap.h"
#include "ingest/shim/locks/lock_trace.h"
#include "ingest/shim/locks/lockrecord.h"

static ALWAYS_INLINE struct thread *api_enter(uint32_t feature) {
    struct thread *thread = thread_enter();
    if (unlikely(thread && !(process->features & feature))) {
        thread_leave(thread);
        return NULL;
    }
    return thread;
}

/* REPORT is for new events. FOLLOW is for the end or the name of something that was recorded: it works while recording
 * is paused too. */
#define REPORT(feature, statement)                                                                                     \
    if (is_paused()) return;                                                                                           \
    FOLLOW(feature, statement)

#define FOLLOW(feature, statement)                                                                                     \
    struct thread *thread = api_enter(feature);                                                                        \
    if (unlikely(!thread)) return;                                                                                     \
    RECORD(thread, statement);                                                                                         \
    thread_leave(thread)

/* --- cells ---------------------------------------------------------------------------------------------------- */

static COLD void cell_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_cells, 1);
}

static COLD struct cell_counters *cell_lookup(struct thread *thread, const void *cell, uint32_t stack) {
    struct object_key key = {.address = (uintptr_t)cell, .class = CLASS_CELL, .part = stack};
    uint32_t id = object_intern(thread, key, OBJECT_CELL);
    struct cell_counters *counters = id ? cell_counters_of(thread, id) : NULL;
    if (counters && !stack)
        *known_of(thread->known_cells, cell) = (struct known_object){.object = cell, .counters = counters};
    if (!counters) cell_dropped();
    return counters;
}

static ALWAYS_INLINE struct cell_counters *cell_of(struct thread *thread, const void *cell, struct frame frame) {
    if (unlikely(process->features & FEATURE_SYNC_STACKS)) {
        uint32_t stack = callstack(thread, frame);
        if (stack) return cell_lookup(thread, cell, stack);
        cell_dropped();
        return NULL;
    }
    struct known_object *known = known_of(thread->known_cells, cell);
    return likely(known->object == cell) ? known->counters : cell_lookup(thread, cell, 0);
}

static ALWAYS_INLINE void cell_read(struct thread *thread, const void *cell, struct frame frame) {
    uint32_t weight = sample_event(thread);
    struct cell_counters *counters = weight ? cell_of(thread, cell, frame) : NULL;
    if (counters) add_own(&counters->reads, weight);
}

static void cell_updated(struct thread *thread, const void *cell, size_t struct_size, uint64_t retries,
                         bool is_committed, struct frame frame) {
    uint32_t weight = sample_event(thread);
    struct cell_counters *counters = weight ? cell_of(thread, cell, frame) : NULL;
    if (!counters) return;
    if (retries && traces(TRACE_WAIT)) trace_retry(thread, cell, retries, frame);
    max_own(&counters->struct_size, struct_size);
    add_own(&counters->retries, weight * retries);
    add_own(is_committed ? &counters->commits : &counters->update_failures, weight);
}

static void cells_committed(struct thread *thread, const void *const *cells, size_t count, struct frame frame) {
    uint32_t weight = sample_event(thread);
    for (size_t i = 0; weight && i < count; i++) {
        struct cell_counters *counters = cell_of(thread, cells[i], frame);
        if (counters) add_own(&counters->multi_commits, weight);
    }
}

HOOK void clear_rt_cell_read(const void *cell) {
    REPORT(FEATURE_CELLS, cell_read(thread, cell, CALLER_FRAME()));
}

HOOK void clear_rt_cell_update(const void *cell, size_t struct_size, uint64_t retries, int outcome) {
    REPORT(FEATURE_CELLS, cell_updated(thread, cell, struct_size, retries, outcome == CLEAR_COMMITTED, CALLER_FRAME()));
}

HOOK void clear_rt_cell_commit_many(const void *const *cells, size_t count) {
    REPORT(FEATURE_CELLS, cells_committed(thread, cells, count, CALLER_FRAME()));
}

/* --- channels ------------------------------------------------------------------------------------------------- */

HOOK void clear_rt_channel_open(const void *channel, uint64_t capacity, const char *name) {
    FOLLOW(FEATURE_CHANNELS, channel_opened(thread, (uintptr_t)channel, capacity, name));
}

HOOK void clear_rt_channel_push(const void *channel, uint64_t depth, uint64_t blocked_ns) {
    REPORT(FEATURE_CHANNELS, channel_pushed(thread, (uintptr_t)channel, depth, blocked_ns);
           if (blocked_ns && traces(TRACE_WAIT)) trace_channel(thread, channel, blocked_ns, CALLER_FRAME()));
}

HOOK void clear_rt_channel_pop(const void *channel, uint64_t blocked_ns) {
    REPORT(FEATURE_CHANNELS, channel_popped(thread, (uintptr_t)channel, blocked_ns);
           if (blocked_ns && traces(TRACE_WAIT)) trace_channel(thread, channel, blocked_ns, CALLER_FRAME()));
}

HOOK void clear_rt_channel_close(const void *channel) {
    (void)channel; /* its counters stay; the address may be opened again */
}

/* --- locks ---------------------------------------------------------------------------------------------------- */

static void lock_acquired(struct thread *thread, void *lock, enum mode mode, bool is_contended, uint64_t wait_ns,
                          const uint64_t *caller) {
    struct attempt attempt = lock_ask(thread, lock, OBJECT_LOCK, mode, sample_event(thread), caller);
    uint32_t id;
    if (!attempt.weight) return;
    if (!is_contended) {
        lock_got(thread, lock, attempt, mode);
        return;
    }
    uint64_t now = clock_ticks(), wait = clock_ticks_of(wait_ns);
    attempt = lock_contended(thread, lock, OBJECT_LOCK, attempt, caller, &id);
    if (traces(TRACE_LOCK)) {
        trace_wait_begins(thread, id, 0);
        trace_wait_ended(thread, mode == SHARED ? EVENT_READ : EVENT_LOCK, now > wait ? now - wait : 0, now, 0);
    }
    lock_got_waiting(thread, lock, attempt, mode, wait);
}

static void lock_released(struct thread *thread, const void *lock, enum mode mode, const uint64_t *caller) {
    struct held_lock *held = mode == EXCLUSIVE ? find_held(thread, lock) : NULL;
    if (held) hold_released(thread, held, hold_is_ending(held) ? clock_ticks() : 0, caller);
}

HOOK void clear_rt_lock_acquired(const void *lock, int mode, int contended, uint64_t wait_ns) {
    enum mode how = mode == CLEAR_SHARED ? SHARED : EXCLUSIVE;
    REPORT(FEATURE_LOCKS, lock_acquired(thread, (void *)(uintptr_t)lock, how, contended != 0, wait_ns, CALLER()));
}

static ALWAYS_INLINE void end_hold(const void *lock, enum mode mode, const uint64_t *caller) {
    FOLLOW(FEATURE_LOCKS, lock_released(thread, lock, mode, caller));
}

HOOK void clear_rt_lock_released(const void *lock, int mode) {
    if (is_paused() && !self->held_count) return;
    uint64_t since = traces(TRACE_HOLD) && mode != CLEAR_SHARED ? trace_hold_since(lock) : 0;
    end_hold(lock, mode == CLEAR_SHARED ? SHARED : EXCLUSIVE, CALLER());
    if (since) trace_held(lock, since, clock_ticks(), false, CALLER());
}

/* --- allocators ----------------------------------------------------------------------------------------------- */

static void arena_allocated(struct thread *thread, const void *arena, const void *block, size_t size,
                            struct frame frame) {
    if (!sample_takes(thread, size)) return;
    heap_allocated(thread, (void *)(uintptr_t)block, size, frame);
    if (arena) arena_add(arena, block);
}

HOOK void clear_rt_alloc(const void *arena, const void *block, size_t size) {
    if (!block) return;
    REPORT(FEATURE_HEAP, arena_allocated(thread, arena, block, size, CALLER_FRAME()));
}

HOOK void clear_rt_free(const void *block) {
    if (!block) return;
    FOLLOW(FEATURE_HEAP, heap_freed(thread, (void *)(uintptr_t)block));
}

HOOK void clear_rt_free_all(const void *arena) {
    FOLLOW(FEATURE_HEAP, arena_freed(thread, arena));
}

/* --- fibers --------------------------------------------------------------------------------------------------- */

HOOK void clear_rt_fiber_spawn(uint64_t fiber, uint32_t site) {
    REPORT(FEATURE_FIBERS, fiber_spawned(thread, fiber, site, CALLER_FRAME()));
}

/* Also while recording is paused: what a scheduler ran before has stopped. */
HOOK void clear_rt_fiber_run(uint64_t fiber, uint32_t scheduler) {
    if (is_paused() && traces(TRACE_FIBER)) {
        FOLLOW(FEATURE_FIBERS, trace_fiber_stop(thread, NULL));
        return;
    }
    REPORT(FEATURE_FIBERS, fiber_ran(thread, fiber, scheduler));
}

HOOK void clear_rt_fiber_park(uint64_t fiber) {
    if (!traces(TRACE_FIBER)) return;
    FOLLOW(FEATURE_FIBERS, fiber_parked(thread, fiber));
}

HOOK void clear_rt_fiber_exit(uint64_t fiber) {
    FOLLOW(FEATURE_FIBERS, fiber_exited(thread, fiber));
}

/* --- trace ------------------------------------------------------------------------------------------------------ */

/* A region that begins while recording is paused is noted too: its end comes later. */
HOOK void clear_rt_region_begin(const char *name) {
    if (!name || !traces(TRACE_REGION)) return;
    FOLLOW(FEATURE_TRACE, trace_region_begin(thread, name, CALLER_FRAME()));
}

HOOK void clear_rt_region_end(void) {
    if (!traces(TRACE_REGION)) return;
    FOLLOW(FEATURE_TRACE, trace_region_end(thread));
}

HOOK void clear_rt_mark(const char *name) {
    if (!name || !traces(TRACE_REGION)) return;
    REPORT(FEATURE_TRACE, trace_mark(thread, name, CALLER_FRAME()));
}

HOOK void clear_rt_flow(const char *name, uint64_t flow) {
    if (!name || !traces(TRACE_REGION)) return;
    REPORT(FEATURE_TRACE, trace_flow(thread, name, flow, CALLER_FRAME()));
}

HOOK void clear_rt_trace_dump(void) {
    if (!load_relaxed(&trace_kinds)) return;
    FOLLOW(FEATURE_TRACE, trace_dump());
}
