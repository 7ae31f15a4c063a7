/* go_order.c: what the threads of a generation wrote, in one order. The thread whose next event is the earliest is taken next, unless that event
 * needs one of another thread before it: then the thread stands still until that has been taken. */
#include <stdlib.h>

#include "ingest/read/gotrace/go_trace.h"
#include "ingest/read/input.h"
#include "ingest/read/trace/keyed_list.h"

enum { PROGRESS_STEP = 4096 };

/* How many numbers an event of a thread has, with its time; 0: it is none. */
static const uint8_t number_counts[] = {
    [GO_PROCS_CHANGE] = 3,
    [GO_PROC_START] = 3,
    [GO_PROC_STOP] = 1,
    [GO_PROC_STEAL] = 4,
    [GO_PROC_STATUS] = 3,
    [GO_CREATE] = 4,
    [GO_CREATE_SYSCALL] = 2,
    [GO_START] = 3,
    [GO_DESTROY] = 1,
    [GO_DESTROY_SYSCALL] = 1,
    [GO_STOP] = 3,
    [GO_BLOCK] = 3,
    [GO_UNBLOCK] = 4,
    [GO_SYSCALL_BEGIN] = 3,
    [GO_SYSCALL_END] = 1,
    [GO_SYSCALL_END_BLOCKED] = 1,
    [GO_STATUS] = 4,
    [GO_STW_BEGIN] = 3,
    [GO_STW_END] = 1,
    [GO_GC_ACTIVE] = 2,
    [GO_GC_BEGIN] = 3,
    [GO_GC_END] = 2,
    [GO_SWEEP_ACTIVE] = 2,
    [GO_SWEEP_BEGIN] = 2,
    [GO_SWEEP_END] = 3,
    [GO_ASSIST_ACTIVE] = 2,
    [GO_ASSIST_BEGIN] = 2,
    [GO_ASSIST_END] = 1,
    [GO_HEAP_ALLOC] = 2,
    [GO_HEAP_GOAL] = 2,
    [GO_LABEL] = 2,
    [GO_TASK_BEGIN] = 5,
    [GO_TASK_END] = 3,
    [GO_REGION_BEGIN] = 4,
    [GO_REGION_END] = 4,
    [GO_LOG] = 5,
    [GO_SWITCH] = 3,
    [GO_SWITCH_DESTROY] = 3,
    [GO_CREATE_BLOCKED] = 4,
    [GO_STATUS_STACK] = 5,
    [GO_CLOCK_SNAPSHOT] = 4,
    /* The experiment AllocFree: spans, objects and stacks that exist, are allocated, are freed. */
    [128] = 4,
    [129] = 4,
    [130] = 2,
    [131] = 3,
    [132] = 3,
    [133] = 2,
    [134] = 3,
    [135] = 3,
    [136] = 2,
};

/* The batches of one thread. */
struct m_cursor {
    uint32_t m;
    size_t *batches; /* the thread's, of the generation's */
    size_t batch_count, next_batch;
    struct wire wire;
    uint64_t ticks;
    struct go_event event; /* the next one */
};

struct order {
    struct go_reader *reader;
    struct m_cursor *cursors;
    struct map cursor_index, stalled; /* M -> cursor; {goroutine, sequence} -> cursor + 1 that waits for it */
    size_t *heap, heap_size;          /* cursors, the earliest event first */
    size_t stalled_count;
    bool is_forced; /* what must come first is not in the trace: from here on time alone decides */
};

/* ---- the next event of a thread ---- */

/* 1: there is one; 0: there is none; -1. */
static int next_event(struct order *order, struct m_cursor *cursor, struct error *err) {
    struct go_reader *reader = order->reader;
    while (cursor->wire.at == cursor->wire.end) {
        if (cursor->next_batch == cursor->batch_count) return 0;
        const struct go_batch *batch = &reader->generation.batches[cursor->batches[cursor->next_batch++]];
        cursor->wire = batch->events;
        cursor->ticks = batch->ticks;
    }
    uint64_t at = (uint64_t)(cursor->wire.at - reader->input->data), ticks = 0;
    uint8_t type = *cursor->wire.at++;
    int count = type < sizeof number_counts ? number_counts[type] : 0;
    if (!count)
        return input_fail_byte(err, reader->input, at, "event %d of go 1.%d is not known", type, reader->version);
    cursor->event = (struct go_event){.type = type, .m = cursor->m};
    for (int i = 0; i < count; i++)
        if (wire_varint(&cursor->wire, i ? &cursor->event.arguments[i - 1] : &ticks) != WIRE_OK)
            return input_fail_byte(err, reader->input, at, "a batch ends in the middle of an event");
    cursor->ticks += ticks;
    cursor->event.ns = go_time(reader, cursor->ticks, err);
    return cursor->event.ns < 0 ? -1 : 1;
}

/* ---- the thread whose event is the earliest ---- */

static bool is_earlier(const struct order *order, size_t left, size_t right) {
    int64_t a = order->cursors[left].event.ns, b = order->cursors[right].event.ns;
    return a != b ? a < b : left < right;
}

static void put(struct order *order, size_t cursor) {
    size_t at = order->heap_size++;
    for (; at && is_earlier(order, cursor, order->heap[(at - 1) / 2]); at = (at - 1) / 2)
        order->heap[at] = order->heap[(at - 1) / 2];
    order->heap[at] = cursor;
}

static size_t take_earliest(struct order *order) {
    size_t first = order->heap[0], moved = order->heap[--order->heap_size], at = 0;
    for (size_t child; (child = 2 * at + 1) < order->heap_size; at = child) {
        if (child + 1 < order->heap_size && is_earlier(order, order->heap[child + 1], order->heap[child])) child++;
        if (!is_earlier(order, order->heap[child], moved)) break;
        order->heap[at] = order->heap[child];
    }
    order->heap[at] = moved;
    return first;
}

/* ---- threads that stand still ---- */

static void stall(struct order *order, size_t cursor, uint64_t goroutine, uint64_t sequence) {
    const uint64_t key[] = {goroutine, sequence};
    struct map_entry *entry = map_put(&order->stalled, key, sizeof key, NULL);
    if (entry->value) { /* two cannot be the same step of a goroutine: the order is not told */
        put(order, cursor);
        order->is_forced = true;
        return;
    }
    entry->value = (int64_t)cursor + 1;
    order->stalled_count++;
}

static void wake(struct order *order, struct map_entry *entry) {
    if (!entry || !entry->value) return;
    put(order, (size_t)entry->value - 1);
    entry->value = 0;
    order->stalled_count--;
}

/* The goroutine took a step: who waits for the next one may be able to go on. */
static void wake_for(struct order *order, uint64_t goroutine) {
    if (!goroutine || !order->stalled_count) return;
    const uint64_t key[] = {goroutine, go_goroutine(order->reader, goroutine)->sequence + 1};
    wake(order, map_find(&order->stalled, key, sizeof key));
}

static void wake_all(struct order *order) {
    for (size_t i = 0; i < order->stalled.count; i++)
        wake(order, &order->stalled.entries[i]);
}

/* ---- all of it ---- */

static int take_event(struct order *order, size_t index, struct error *err) {
    struct go_reader *reader = order->reader;
    struct m_cursor *cursor = &order->cursors[index];
    uint64_t goroutine = 0, sequence = 0, before = reader->ms[cursor->m].goroutine;
    if (!go_is_ready(reader, &cursor->event, &goroutine, &sequence)) {
        if (!order->is_forced) {
            stall(order, index, goroutine, sequence);
            return 0;
        }
        reader->out_of_order++;
    }
    if (!reader->has_events || cursor->event.ns < reader->first_ns) reader->first_ns = cursor->event.ns;
    if (!reader->has_events || cursor->event.ns > reader->last_ns) reader->last_ns = cursor->event.ns;
    reader->has_events = true;
    if (go_take(reader, &cursor->event, err)) return -1;
    wake_for(order, before);
    wake_for(order, cursor->event.arguments[0]); /* of what acts on another goroutine, its id */
    if (++reader->events % PROGRESS_STEP == 0)
        ingest_progress(reader->ingest, (uint64_t)(cursor->wire.at - reader->input->data));
    int more = next_event(order, cursor, err);
    if (more > 0) put(order, index);
    return more < 0 ? -1 : 0;
}

static void add_batch(struct m_cursor *cursor, size_t batch) {
    size_t count = cursor->batch_count;
    if ((count & (count - 1)) == 0)
        cursor->batches = xrealloc(cursor->batches, (count ? 2 * count : 1) * sizeof *cursor->batches);
    cursor->batches[cursor->batch_count++] = batch;
}

static void find_cursors(struct order *order) {
    struct go_reader *reader = order->reader;
    for (size_t i = 0; i < reader->generation.batch_count; i++) {
        uint64_t m = reader->generation.batches[i].m;
        struct go_m *thread =
            keyed_list_entry(&reader->m_index, &m, sizeof m, (void **)&reader->ms, sizeof *reader->ms);
        thread->id = m;
        struct m_cursor *cursor =
            keyed_list_entry(&order->cursor_index, &m, sizeof m, (void **)&order->cursors, sizeof *order->cursors);
        cursor->m = (uint32_t)(thread - reader->ms);
        add_batch(cursor, i);
    }
}

static int take_all(struct order *order, struct error *err) {
    for (size_t i = 0; i < order->cursor_index.count; i++) {
        int more = next_event(order, &order->cursors[i], err);
        if (more < 0) return -1;
        if (more) put(order, i);
    }
    while (order->heap_size || order->stalled_count) {
        if (!order->heap_size) {
            order->is_forced = true;
            wake_all(order);
        }
        if (take_event(order, take_earliest(order), err)) return -1;
    }
    return 0;
}

int go_read_events(struct go_reader *reader, struct error *err) {
    struct order order = {.reader = reader};
    find_cursors(&order);
    order.heap = xcalloc(order.cursor_index.count + 1, sizeof *order.heap);
    int code = take_all(&order, err);
    for (size_t i = 0; i < order.cursor_index.count; i++)
        free(order.cursors[i].batches);
    free(order.cursors);
    free(order.heap);
    map_free(&order.cursor_index);
    map_free(&order.stalled);
    return code;
}
