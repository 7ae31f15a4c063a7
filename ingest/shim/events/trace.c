#include "ingest/shim/events/trace.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"
#include "ingest/shim/stacks/callstack.h"
#include "ingest/shim/stacks/intern.h"

HOT_WORD uint32_t trace_kinds;

int32_t trace_own_tid(void) {
    return (int32_t)syscall(SYS_gettid);
}

/* --- rings ------------------------------------------------------------------------------------------------------ */

static const uint64_t CHUNK_BYTES = sizeof(struct chunk) + SEGMENT_EVENTS * sizeof(struct segment_event);

/* A thread's chunks are a circle. `reserved[0]` of a chunk is the offset of the next one in the segment. */
static struct chunk *next_of(const struct chunk *chunk) {
    return (struct chunk *)((char *)process->segment + chunk->reserved[0]);
}

static struct chunk *add_chunk(struct thread *thread) {
    if (is_sealed() || !process_lock_from(thread)) return NULL;
    bool has_room = process->events_size + CHUNK_BYTES <= shared_control()->trace_max;
    struct chunk *chunk = has_room ? chunk_new(SEGMENT_EVENTS * sizeof(struct segment_event)) : NULL;
    if (chunk) {
        struct chunk *before = thread->events ? thread->events : chunk;
        process->events_size += CHUNK_BYTES;
        uint64_t place = (uint64_t)((char *)chunk - (char *)process->segment);
        chunk->reserved[0] = thread->events ? before->reserved[0] : place;
        before->reserved[0] = place;
        chunk_publish(chunk, CHUNK_EVENTS);
    }
    process_unlock();
    return chunk;
}

/* The oldest chunk of the thread, empty. A reader that was in the middle of it sees another `first_id` afterwards. */
static struct chunk *empty_oldest(struct thread *thread) {
    struct chunk *oldest = next_of(thread->events);
    uint64_t *turn = &oldest->first_id;
    fetch_add_relaxed(&process->segment->dropped_events, load_relaxed(&oldest->count));
    store_relaxed(turn, load_relaxed(turn) + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store_relaxed(&oldest->count, 0);
    store_release(turn, load_relaxed(turn) + 1);
    return oldest;
}

static struct chunk *chunk_with_room(struct thread *thread) {
    struct chunk *chunk = thread->events;
    if (likely(chunk && load_relaxed(&chunk->count) < SEGMENT_EVENTS)) return chunk;
    struct chunk *fresh = add_chunk(thread);
    if (!fresh && chunk) fresh = empty_oldest(thread);
    if (fresh) thread->events = fresh;
    return fresh;
}

static void put(struct chunk *chunk, const struct segment_event *event) {
    uint32_t count = load_relaxed(&chunk->count);
    ((struct segment_event *)chunk_body(chunk))[count] = *event;
    store_release(&chunk->count, count + 1);
}

/* The first event of a thread says its name. */
static void put_name(struct thread *thread, struct chunk *chunk) {
    struct segment_event event = {.kind = EVENT_THREAD, .begin = clock_ticks()};
    thread->tid = trace_own_tid();
    event.tid = thread->tid;
    event.end = event.begin;
    prctl(PR_GET_NAME, event.name, 0, 0, 0);
    put(chunk, &event);
}

/* Where the next event goes; NULL: it is dropped. Many threads share an orphan, after their ends: they have no events. */
static struct chunk *room_for_event(struct thread *thread) {
    if (thread->orphan) return NULL;
    struct chunk *chunk = chunk_with_room(thread);
    if (likely(thread->tid) || !chunk || is_sealed()) return chunk;
    put_name(thread, chunk);
    return chunk_with_room(thread);
}

void trace_dump(void) {
    fetch_add_relaxed(&process->segment->dumps_asked, 1);
}

static bool is_asked_for(struct thread *thread, const struct trace_when *when, const struct segment_event *event) {
    uint64_t took = event->end - event->begin;
    if (!(when->events & 1u << event->kind) || took < when->limit_ns || took < clock_ticks_of(when->limit_ns))
        return false;
    uint32_t name = 0;
    if (*when->name) RECORD(thread, name = name_intern(thread, when->name));
    return !*when->name || name == event->object;
}

/* The collector looks at the number at each flush; the rings still have what came before. */
static COLD void look_for_slow(struct thread *thread, const struct segment_event *event) {
    const struct control *control = shared_control();
    for (uint32_t i = 0; i < control->trace_when_count && i < TRACE_WHEN_MAX; i++)
        if (is_asked_for(thread, &control->trace_when[i], event)) return trace_dump();
}

static void add(struct thread *thread, struct segment_event *event) {
    struct chunk *chunk;
    RECORD(thread, chunk = room_for_event(thread));
    event->tid = thread->tid;
    if (chunk)
        put(chunk, event);
    else
        fetch_add_relaxed(&process->segment->dropped_events, 1);
    if (unlikely(shared_control()->trace_when_count)) look_for_slow(thread, event);
}

/* The same of an event whose object is a name; 0: there was no room for it. */
static void add_named(struct thread *thread, struct segment_event event) {
    if (event.object)
        add(thread, &event);
    else
        fetch_add_relaxed(&process->segment->dropped_events, 1);
}

void trace_about(struct thread *thread, struct segment_event event, struct object_key key, struct frame frame) {
    event.object = index_find(load_acquire(&process->objects), object_hash(key));
    if (!event.object) return;
    RECORD(thread, event.stack = callstack(thread, frame));
    add(thread, &event);
}

/* --- events ----------------------------------------------------------------------------------------------------- */

COLD void trace_wait_begins(struct thread *thread, uint32_t object, int32_t owner) {
    RECORD(thread, room_for_event(thread)); /* not after the wait, with the lock held */
    thread->traced_object = object;
    thread->traced_owner = owner;
}

COLD void trace_wait_ended(struct thread *thread, enum segment_event_kind kind, uint64_t begin, uint64_t end,
                           uint32_t flags) {
    uint32_t object = thread->traced_object;
    if (!object) return;
    thread->traced_object = 0;
    add(thread, &(struct segment_event){.kind = kind,
                                        .begin = begin,
                                        .end = end > begin ? end : begin,
                                        .object = object,
                                        .owner = thread->traced_owner,
                                        .flags = flags});
}

/* --- calls that wait for the system --------------------------------------------------------------------------- */

/* A tick takes less than a nanosecond, where it is none: so most calls need no second clock. */
bool trace_is_long(uint64_t took) {
    uint64_t limit_ns = shared_control()->trace_limit_ns;
    return took >= limit_ns && took >= clock_ticks_of(limit_ns);
}

COLD void trace_call(struct thread *thread, const char *name, uint64_t since, uint64_t end, bool is_late,
                     uint32_t stack) {
    struct segment_event event = {.kind = EVENT_SYSCALL, .begin = since, .end = end, .stack = stack};
    if (end < since || !trace_is_long(end - since)) return;
    RECORD(thread, event.object = name_intern(thread, name));
    event.flags = is_late ? EVENT_LATE : 0;
    add_named(thread, event);
}

COLD void trace_call_ended(enum segment_event_kind kind, const char *name, uint64_t since, bool is_late,
                           const uint64_t *caller) {
    if (is_paused() || thread_is_blind()) return;
    struct segment_event event = {.kind = kind, .begin = since, .end = clock_ticks()};
    struct thread *thread = thread_enter();
    if (!thread) return;
    if (event.end >= since && trace_is_long(event.end - since)) {
        RECORD(thread, event.stack = callstack(thread, frame_at(caller)); event.object = name_intern(thread, name));
        event.flags = is_late ? EVENT_LATE : 0;
        add_named(thread, event);
    }
    thread_leave(thread);
}

/* --- blocks, samples, threads, processes ------------------------------------------------------------------------- */

COLD void trace_block(struct thread *thread, enum segment_event_kind kind, const void *block, uint64_t size,
                      uint32_t stack) {
    if (size < shared_control()->trace_alloc) return;
    uint64_t now = clock_ticks();
    struct segment_event event = {.kind = kind, .begin = now, .end = now + size, .stack = stack};
    event.value = (uintptr_t)block;
    add(thread, &event);
}

COLD void trace_tick(struct thread *thread, uint32_t stack) {
    uint64_t now = clock_ticks();
    if (stack) add(thread, &(struct segment_event){.kind = EVENT_CPU, .begin = now, .end = now, .stack = stack});
}

COLD void trace_birth(struct thread *thread, uint32_t stack, int32_t starter) {
    uint64_t now = clock_ticks();
    struct segment_event event = {.kind = EVENT_BIRTH, .begin = now, .end = now, .stack = stack};
    event.value = (uint64_t)starter;
    thread->tid = trace_own_tid();
    add(thread, &event);
    thread->tid = 0; /* its name is that of its starter now: the next event says the name that it gets */
}

COLD void trace_moment(struct thread *thread, enum segment_event_kind kind, const char *name) {
    uint64_t now = clock_ticks();
    struct segment_event event = {.kind = kind, .begin = now, .end = now};
    if (is_sealed() && !thread->tid) return;
    if (!name) return add(thread, &event);
    event.object = name_intern(thread, name);
    add_named(thread, event);
}

COLD void trace_fork(struct thread *thread, int32_t child, uint64_t since, uint32_t stack) {
    struct segment_event event = {.kind = EVENT_FORK, .begin = since, .end = clock_ticks(), .stack = stack};
    event.value = (uint64_t)child;
    event.object = name_intern(thread, "fork");
    add_named(thread, event);
}

/* --- channels and cells ------------------------------------------------------------------------------------------- */

COLD void trace_channel(struct thread *thread, const void *channel, uint64_t blocked_ns, struct frame frame) {
    uint64_t now = clock_ticks(), blocked = clock_ticks_of(blocked_ns);
    struct segment_event event = {.kind = EVENT_CHANNEL, .begin = now > blocked ? now - blocked : 0, .end = now};
    trace_about(thread, event, (struct object_key){.address = (uintptr_t)channel, .class = CLASS_CHANNEL}, frame);
}

COLD void trace_retry(struct thread *thread, const void *cell, uint64_t retries, struct frame frame) {
    uint64_t now = clock_ticks();
    struct segment_event event = {.kind = EVENT_RETRY, .begin = now, .end = now};
    event.value = retries;
    trace_about(thread, event, (struct object_key){.address = (uintptr_t)cell, .class = CLASS_CELL}, frame);
}

/* --- fibers ------------------------------------------------------------------------------------------------------- */

/* The name "site 10"; 0: no room for it. */
static uint32_t site_name(struct thread *thread, uint32_t site) {
    char name[sizeof "site 4294967295"] = "site ", digits[10];
    size_t count = 0, at = sizeof "site " - 1;
    do
        digits[count++] = (char)('0' + site % 10);
    while (site /= 10);
    while (count)
        name[at++] = digits[--count];
    name[at] = '\0';
    return name_intern(thread, name);
}

static void add_fiber(struct thread *thread, struct segment_event event, uint64_t fiber, uint32_t site) {
    event.object = site_name(thread, site);
    event.value = fiber;
    add_named(thread, event);
}

COLD void trace_fiber_spawn(struct thread *thread, uint64_t fiber, uint32_t site, struct frame frame) {
    uint64_t now = clock_ticks();
    struct segment_event event = {.kind = EVENT_SPAWN, .begin = now, .end = now};
    event.stack = callstack(thread, frame);
    add_fiber(thread, event, fiber, site);
}

COLD void trace_fiber_stop(struct thread *thread, const uint64_t *fiber) {
    struct fiber_run run = thread->fiber;
    if (!run.object || (fiber && run.fiber != *fiber)) return;
    struct segment_event event = {.kind = EVENT_FIBER, .begin = run.since, .end = clock_ticks(), .object = run.object};
    event.value = run.fiber;
    thread->fiber.object = 0;
    add(thread, &event);
}

COLD void trace_fiber_run(struct thread *thread, uint64_t fiber, uint32_t site) {
    trace_fiber_stop(thread, NULL);
    thread->fiber = (struct fiber_run){.fiber = fiber, .object = site_name(thread, site)};
    thread->fiber.since = clock_ticks();
}

COLD void trace_fiber_finish(struct thread *thread, uint64_t fiber, uint32_t site) {
    trace_fiber_stop(thread, &fiber);
    uint64_t now = clock_ticks();
    add_fiber(thread, (struct segment_event){.kind = EVENT_FINISH, .begin = now, .end = now}, fiber, site);
}

/* --- clear.h ---------------------------------------------------------------------------------------------------- */

void trace_region_begin(struct thread *thread, const char *name, struct frame frame) {
    uint32_t depth = thread->region_count++;
    if (depth >= REGIONS) return;
    struct region *region = &thread->regions[depth];
    region->object = is_paused() ? 0 : name_intern(thread, name);
    if (!region->object) return;
    region->stack = callstack(thread, frame);
    region->begin = clock_ticks();
}

void trace_region_end(struct thread *thread) {
    uint64_t now = clock_ticks();
    if (!thread->region_count) return;
    uint32_t depth = --thread->region_count;
    const struct region *region = &thread->regions[depth];
    struct segment_event event = {.kind = EVENT_REGION, .end = now};
    if (depth < REGIONS) {
        if (!region->object) return; /* it began while recording was paused */
        event.begin = region->begin;
        event.object = region->object;
        event.stack = region->stack;
    }
    add_named(thread, event);
}

static struct segment_event event_now(struct thread *thread, enum segment_event_kind kind, const char *name,
                                      struct frame frame) {
    uint64_t now = clock_ticks();
    return (struct segment_event){
        .kind = kind, .begin = now, .end = now, .object = name_intern(thread, name), .stack = callstack(thread, frame)};
}

void trace_mark(struct thread *thread, const char *name, struct frame frame) {
    add_named(thread, event_now(thread, EVENT_MARK, name, frame));
}

void trace_flow(struct thread *thread, const char *name, uint64_t flow, struct frame frame) {
    struct segment_event event = event_now(thread, EVENT_FLOW, name, frame);
    event.value = flow;
    add_named(thread, event);
}
