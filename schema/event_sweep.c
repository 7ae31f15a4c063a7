#include "schema/event_sweep.h"

#include <stdlib.h>

#include "base/sum.h"

/* What is known of a lock that a thread has: who waits for it and found it so. */
struct claim {
    uint32_t thread, lock;
    uint32_t waiting, newest;     /* how many wait; the last one of them: thread + 1 */
    uint32_t block;               /* of the owner's block, while there is one: index in sweep->blocks */
    int64_t object, waiter_count; /* waiter_count: of all waits until now */
    uint64_t settled;             /* until when block->time_ns is right */
    bool is_listed;               /* by its thread */
    bool is_released;             /* during the block of its thread, which is not over */
};

struct sweep_thread {
    uint32_t claims[SWEEP_LOCKS], claim_count; /* of locks that it has and others wait for */
    uint32_t holds[SWEEP_LOCKS], hold_count;   /* events: holds that may not be over */
    uint32_t wait, block;                      /* in which it is: event + 1; 0: in none */
    /* The claim that its wait is part of, + 1; the waits for it before and after; its number there, from 1. */
    uint32_t claim, older, newer;
    int64_t number, waiter_trace;
};

struct state {
    struct event_sweep *sweep;
    const struct event_log *log;
    struct sweep_thread *threads;
    struct claim *claims;
    size_t claim_count;
    struct map claim_of;             /* owner, lock -> index + 1 */
    struct map order_of;             /* thread, outer, inner -> index + 1 */
    struct map block_of, counted_of; /* lock, stack -> index + 1; claim, block -> the last wait that was counted */
    uint64_t now;
};

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- how many wait ----------------------------------------------------------------------------------------------- */

static bool is_longer(const struct event *event, const struct event *than) {
    int64_t ns = event->end_ns - event->start_ns, than_ns = than->end_ns - than->start_ns;
    return ns > than_ns || (ns == than_ns && event->id < than->id);
}

static void join_queue(struct state *state, uint32_t index) {
    const struct event *event = &state->log->events[index];
    struct sweep_queue *queue = &state->sweep->queues[event->lock];
    if (queue->waiting == queue->most) {
        queue->depths = event_grown(queue->depths, queue->most, sizeof *queue->depths);
        queue->depths[queue->most++] = 0;
    }
    queue->depths[queue->waiting++]++;
    queue->waits++;
    sum_add_capped(&queue->time_ns, event->end_ns - event->start_ns);
    if (!queue->longest || is_longer(event, &state->log->events[queue->longest - 1])) queue->longest = index + 1;
}

/* ---- who asks for a lock and has another one --------------------------------------------------------------------- */

/* A thread that has `outer` asks for the lock of the event: counted once. */
static void add_order(struct state *state, uint32_t outer, int64_t outer_object, uint32_t index) {
    const struct event *event = &state->log->events[index];
    struct event_sweep *sweep = state->sweep;
    const uint32_t key[] = {event->thread, outer, event->lock};
    if (outer == event->lock) return;
    struct map_entry *entry = map_put(&state->order_of, key, sizeof key, NULL);
    if (!entry->value) {
        sweep->orders = event_grown(sweep->orders, sweep->order_count, sizeof *sweep->orders);
        sweep->orders[sweep->order_count++] = (struct sweep_order){.outer = outer, .inner = event->lock};
        entry->value = (int64_t)sweep->order_count;
    }
    struct sweep_order *order = &sweep->orders[entry->value - 1];
    order->outer_object = greater(order->outer_object, outer_object);
    if (order->last == index + 1) return;
    order->last = index + 1;
    order->inner_object = greater(order->inner_object, event->object_id);
    order->trace = greater(order->trace, event->trace_id);
    order->count++;
    if (event->class == EVENT_LOCK) sum_add_capped(&order->time_ns, event->end_ns - event->start_ns);
}

/* Under the holds of its thread, of which those that are over are forgotten. */
static void add_orders_of_holds(struct state *state, uint32_t index) {
    const struct event *events = state->log->events, *event = &events[index];
    struct sweep_thread *thread = &state->threads[event->thread];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < thread->hold_count; i++) {
        const struct event *hold = &events[thread->holds[i]];
        if (hold->end_ns <= event->start_ns) continue;
        thread->holds[kept++] = thread->holds[i];
        if (hold->start_ns < event->start_ns) add_order(state, hold->lock, hold->object_id, index);
    }
    thread->hold_count = kept;
}

static void begin_hold(struct state *state, uint32_t index) {
    struct sweep_thread *thread = &state->threads[state->log->events[index].thread];
    add_orders_of_holds(state, index);
    if (thread->hold_count < SWEEP_LOCKS) thread->holds[thread->hold_count++] = index;
}

/* ---- who blocks and has a lock ----------------------------------------------------------------------------------- */

static uint32_t block_of(struct state *state, uint32_t lock, int64_t trace) {
    const int64_t key[] = {lock, trace};
    struct event_sweep *sweep = state->sweep;
    struct map_entry *entry = map_put(&state->block_of, key, sizeof key, NULL);
    if (!entry->value) {
        sweep->blocks = event_grown(sweep->blocks, sweep->block_count, sizeof *sweep->blocks);
        sweep->blocks[sweep->block_count++] = (struct sweep_block){.lock = lock, .trace = trace};
        entry->value = (int64_t)sweep->block_count;
    }
    return (uint32_t)entry->value - 1;
}

/* Those that wait for it have waited until now while the owner blocked. */
static void settle(struct state *state, struct claim *claim) {
    int64_t ns;
    if (claim->waiting && state->threads[claim->thread].block) {
        if (__builtin_mul_overflow(state->now - claim->settled, claim->waiting, &ns)) ns = INT64_MAX;
        sum_add_capped(&state->sweep->blocks[claim->block].time_ns, ns);
    }
    claim->settled = state->now;
}

/* The owner is blocked: those that wait, and were not counted for this stack, are. */
static void count_blocked(struct state *state, struct claim *claim) {
    const struct event *event = &state->log->events[state->threads[claim->thread].block - 1];
    claim->block = block_of(state, claim->lock, event->trace_id);
    claim->settled = state->now;
    struct sweep_block *block = &state->sweep->blocks[claim->block];
    const uint32_t key[] = {(uint32_t)(claim - state->claims), claim->block};
    struct map_entry *counted = map_put(&state->counted_of, key, sizeof key, NULL);
    for (uint32_t waiter = claim->newest; waiter; waiter = state->threads[waiter - 1].older) {
        const struct sweep_thread *thread = &state->threads[waiter - 1];
        if (thread->number <= counted->value) break;
        block->waits++;
        block->waiter_trace = greater(block->waiter_trace, thread->waiter_trace);
    }
    counted->value = claim->waiter_count;
    block->object = greater(block->object, claim->object);
}

static void begin_block(struct state *state, uint32_t index) {
    struct sweep_thread *thread = &state->threads[state->log->events[index].thread];
    if (thread->block) return; /* of one in another, as in a handler of a signal, the outer one counts */
    thread->block = index + 1;
    for (uint32_t i = 0; i < thread->claim_count; i++)
        count_blocked(state, &state->claims[thread->claims[i]]);
}

/* ---- claims ------------------------------------------------------------------------------------------------------ */

static struct claim *find_claim(struct state *state, uint32_t thread, uint32_t lock) {
    const uint32_t key[] = {thread, lock};
    struct map_entry *entry = map_put(&state->claim_of, key, sizeof key, NULL);
    if (!entry->value) {
        state->claims = event_grown(state->claims, state->claim_count, sizeof *state->claims);
        state->claims[state->claim_count++] = (struct claim){.thread = thread, .lock = lock};
        entry->value = (int64_t)state->claim_count;
    }
    return &state->claims[entry->value - 1];
}

static void list(struct state *state, struct claim *claim) {
    struct sweep_thread *owner = &state->threads[claim->thread];
    if (owner->claim_count == SWEEP_LOCKS) return;
    owner->claims[owner->claim_count++] = (uint32_t)(claim - state->claims);
    claim->is_listed = true;
    claim->is_released = false;
}

static void unlist(struct state *state, struct claim *claim) {
    struct sweep_thread *owner = &state->threads[claim->thread];
    uint32_t at = 0;
    while (owner->claims[at] != (uint32_t)(claim - state->claims))
        at++;
    owner->claims[at] = owner->claims[--owner->claim_count];
    claim->is_listed = false;
}

/* A thread waits for a lock of `owner`. */
static void join_claim(struct state *state, uint32_t index) {
    const struct event *event = &state->log->events[index];
    struct sweep_thread *thread = &state->threads[event->thread];
    struct claim *claim = find_claim(state, event->owner - 1, event->lock);
    struct sweep_thread *owner = &state->threads[claim->thread];
    if (!claim->is_listed) list(state, claim);
    if (!claim->is_listed) return;
    settle(state, claim);
    claim->object = greater(claim->object, event->object_id);
    thread->claim = (uint32_t)(claim - state->claims) + 1;
    thread->number = ++claim->waiter_count;
    thread->waiter_trace = event->trace_id;
    thread->older = claim->newest;
    thread->newer = 0;
    if (thread->older) state->threads[thread->older - 1].newer = event->thread + 1;
    claim->newest = event->thread + 1;
    claim->waiting++;
    if (owner->wait) add_order(state, claim->lock, claim->object, owner->wait - 1);
    if (owner->block) count_blocked(state, claim);
}

static void leave_claim(struct state *state, struct sweep_thread *thread) {
    if (!thread->claim) return;
    struct claim *claim = &state->claims[thread->claim - 1];
    settle(state, claim);
    if (thread->older) state->threads[thread->older - 1].newer = thread->newer;
    if (thread->newer)
        state->threads[thread->newer - 1].older = thread->older;
    else
        claim->newest = thread->older;
    thread->claim = 0;
    if (--claim->waiting == 0) unlist(state, claim);
}

static void drop_claim(struct state *state, const struct claim *claim) {
    while (claim->is_listed)
        leave_claim(state, &state->threads[claim->newest - 1]);
}

/* ---- the events -------------------------------------------------------------------------------------------------- */

enum { AT_END, AT_START, AT_RELEASE, KINDS_OF_POINTS }; /* in this order at one time */

static void begin_wait(struct state *state, uint32_t index) {
    const struct event *event = &state->log->events[index];
    struct sweep_thread *thread = &state->threads[event->thread];
    join_queue(state, index);
    leave_claim(state, thread);
    for (uint32_t i = 0; i < thread->claim_count; i++) {
        const struct claim *claim = &state->claims[thread->claims[i]];
        add_order(state, claim->lock, claim->object, index);
    }
    add_orders_of_holds(state, index);
    thread->wait = index + 1;
    if (event->owner) join_claim(state, index);
}

static void end_wait(struct state *state, uint32_t index) {
    const struct event *event = &state->log->events[index];
    struct sweep_thread *thread = &state->threads[event->thread];
    state->sweep->queues[event->lock].waiting--;
    if (thread->wait != index + 1) return;
    leave_claim(state, thread);
    thread->wait = 0;
}

/* Those that wait on do so for somebody else. What is released during a call was waited for until its end. */
static void release(struct state *state, const struct event *event) {
    struct sweep_thread *owner = &state->threads[event->thread];
    if (!owner->claim_count) return;
    const uint32_t key[] = {event->thread, event->lock};
    const struct map_entry *entry = map_find(&state->claim_of, key, sizeof key);
    if (!entry) return;
    struct claim *claim = &state->claims[entry->value - 1];
    if (owner->block)
        claim->is_released = true;
    else
        drop_claim(state, claim);
}

static void end_block(struct state *state, uint32_t index) {
    struct sweep_thread *thread = &state->threads[state->log->events[index].thread];
    if (thread->block != index + 1) return;
    for (uint32_t i = thread->claim_count; i-- > 0;) {
        struct claim *claim = &state->claims[thread->claims[i]];
        settle(state, claim);
        if (claim->is_released) drop_claim(state, claim);
    }
    thread->block = 0;
}

static void take_point(struct state *state, const struct event_point *point) {
    const struct event *event = &state->log->events[point->event];
    state->now = point->at;
    if (event->class == EVENT_RELEASE)
        release(state, event);
    else if (event->class == EVENT_HOLD)
        begin_hold(state, point->event);
    else if (event->class == EVENT_LOCK)
        (point->what == AT_START ? begin_wait : end_wait)(state, point->event);
    else
        (point->what == AT_START ? begin_block : end_block)(state, point->event);
}

/* ---- in their order ---------------------------------------------------------------------------------------------- */

static bool has_point(const struct event *event, int what) {
    switch (event->class) {
    case EVENT_LOCK:
    case EVENT_BLOCK: return what != AT_RELEASE;
    case EVENT_HOLD: return what == AT_START;
    case EVENT_RELEASE: return what == AT_RELEASE;
    default: return false;
    }
}

static uint64_t time_of(const struct event *event, int what, int64_t first_ns) {
    int64_t ns = event->start_ns;
    if (what == AT_END && event->end_ns > ns) ns = event->end_ns;
    return (uint64_t)ns - (uint64_t)first_ns + (what == AT_END && event->end_ns == event->start_ns);
}

static size_t add_points(struct event_point *points, const struct event_log *log) {
    size_t count = 0;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < log->count; i++)
        if (log->events[i].start_ns < first_ns) first_ns = log->events[i].start_ns;
    for (int what = 0; what < KINDS_OF_POINTS; what++)
        for (size_t i = 0; i < log->count; i++)
            if (has_point(&log->events[i], what))
                points[count++] =
                    (struct event_point){time_of(&log->events[i], what, first_ns), (uint32_t)i, (uint32_t)what};
    return count;
}

static size_t count_points(const struct event_log *log) {
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        count += log->events[i].class == EVENT_LOCK || log->events[i].class == EVENT_BLOCK ? 2 : 1;
    return count;
}

static void free_state(struct state *state) {
    free(state->threads);
    free(state->claims);
    map_free(&state->claim_of);
    map_free(&state->order_of);
    map_free(&state->block_of);
    map_free(&state->counted_of);
}

void sweep_events(struct event_sweep *sweep, const struct event_log *log) {
    *sweep = (struct event_sweep){.queue_count = log->locks.count};
    if (!sweep->queue_count) return;
    struct state state = {
        .sweep = sweep, .log = log, .threads = xcalloc(log->threads.count, sizeof(struct sweep_thread))};
    struct event_point *points = xmalloc(count_points(log) * sizeof *points);
    size_t count = add_points(points, log);
    event_points_sort(points, count);
    sweep->queues = xcalloc(sweep->queue_count, sizeof *sweep->queues);
    for (size_t i = 0; i < count; i++)
        take_point(&state, &points[i]);
    free(points);
    free_state(&state);
}

void sweep_free(struct event_sweep *sweep) {
    for (size_t i = 0; i < sweep->queue_count; i++)
        free(sweep->queues[i].depths);
    free(sweep->queues);
    free(sweep->orders);
    free(sweep->blocks);
    *sweep = (struct event_sweep){0};
}
