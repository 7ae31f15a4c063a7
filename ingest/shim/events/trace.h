/* trace.h: keeps single events with their times, the latest of each thread, in rings in the segment (struct segment_event).
 *
 * A wait costs a store of 40 bytes; the clock was read and the stack was walked for the counters already. A release is an
 * event only where somebody waits for the lock, which glibc notes in the lock itself. */
#ifndef CLEAR_SHIM_TRACE_H
#define CLEAR_SHIM_TRACE_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

/* enum segment_trace_kind, 0 without FEATURE_TRACE. As is_io_off: static, so that a hook with nothing to trace needs one load. */
extern HIDDEN uint32_t trace_kinds;
/* One more bit of it: calls are published (waiting_calls.h). */
#define TRACE_WALL (1u << 31)
static ALWAYS_INLINE bool traces(uint32_t kinds) {
    return unlikely(load_relaxed(&trace_kinds) & kinds);
}

/* All with an entered thread. A wait begins for the object; `owner` is the thread that has it, 0: unknown, or none. */
void trace_wait_begins(struct thread *thread, uint32_t object, int32_t owner);
/* It is over. */
void trace_wait_ended(struct thread *thread, enum segment_event_kind kind, uint64_t begin, uint64_t end,
                      uint32_t flags);

/* A sleep or a call of that name began at `since` and has returned, in time or interrupted. Enters by itself and leaves errno as it is;
 * `caller` is CALLER(). One that took less than the limit is no event. */
void trace_call_ended(enum segment_event_kind kind, const char *name, uint64_t since, bool is_late,
                      const uint64_t *caller);
/* The same with an entered thread, where end and stack are known. */
void trace_call(struct thread *thread, const char *name, uint64_t since, uint64_t end, bool is_late, uint32_t stack);

/* All with an entered thread. A large block was allocated, freed. */
void trace_block(struct thread *thread, enum segment_event_kind kind, const void *block, uint64_t size, uint32_t stack);
/* In the handler of the CPU timer, between hooks. */
void trace_tick(struct thread *thread, uint32_t stack);
void trace_birth(struct thread *thread, uint32_t stack, int32_t starter);
void trace_fork(struct thread *thread, int32_t child, uint64_t since, uint32_t stack);
/* Of this moment. `name` of the call; NULL: none. */
void trace_moment(struct thread *thread, enum segment_event_kind kind, const char *name);
void trace_channel(struct thread *thread, const void *channel, uint64_t blocked_ns, struct frame frame);
void trace_retry(struct thread *thread, const void *cell, uint64_t retries, struct frame frame);
/* Of this thread, as the kernel numbers it. */
int32_t trace_own_tid(void);

/* Fibers, with an entered thread. A fiber runs on the thread from trace_fiber_run to the next one, or to trace_fiber_stop, which is about
 * any fiber where `fiber` is NULL. */
void trace_fiber_spawn(struct thread *thread, uint64_t fiber, uint32_t site, struct frame frame);
void trace_fiber_run(struct thread *thread, uint64_t fiber, uint32_t site);
void trace_fiber_stop(struct thread *thread, const uint64_t *fiber);
void trace_fiber_finish(struct thread *thread, uint64_t fiber, uint32_t site);

/* What clear.h reports, with an entered thread. Regions of a thread end in the opposite order; beyond REGIONS of them inside
 * each other they are counted as dropped. */
void trace_region_begin(struct thread *thread, const char *name, struct frame frame);
void trace_region_end(struct thread *thread);
void trace_mark(struct thread *thread, const char *name, struct frame frame);
void trace_flow(struct thread *thread, const char *name, uint64_t flow, struct frame frame);

/* The rings are to be stored at the next flush. */
void trace_dump(void);

/* For events of other files: what took so many ticks is long enough to be one. An event about an object is dropped without a word where
 * nothing was recorded of the object. */
bool trace_is_long(uint64_t took);
void trace_about(struct thread *thread, struct segment_event event, struct object_key key, struct frame frame);

#endif
