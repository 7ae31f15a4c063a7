/* clear.h: reports to `clear profile` what it cannot see by itself: MVCC cells, channels, and the locks, allocators and
 * fibers of the program's own runtime.
 *
 * Use. Header-only: include it and call; there is nothing to link. Each function tests a weak symbol that only the
 * recording runtime defines. In a program that is not profiled a call costs a load and a branch that is never taken
 * (`make bench`, row api-off), and only its arguments are evaluated. Under `clear profile` a call costs what its
 * comment says (best of five loops on one processor, everything recorded).
 *
 * Threads. Every function may be called from any thread, and from signal handlers. A call from a signal handler that
 * interrupted the recorder is not recorded.
 *
 * Errors. No function fails, changes errno, or allocates from the program's heap. What the recorder has no room for is
 * counted as dropped and shown with the profile.
 *
 * Ownership. Pointers are identities: they are compared, and never dereferenced or freed. Only a `name` is read,
 * during the call.
 *
 * Units and ranges. Times are nanoseconds, sizes bytes, depths and capacities messages. Every value of a type is
 * allowed, except where a comment says otherwise. Sums are kept in 64 bits.
 *
 * Other languages. Declare the clear_rt_* functions as weak externs and test them before the call (Zig: `@extern(...,
 * .{ .linkage = .weak })`; Rust: dlsym, because stable Rust has no weak linkage). They have the plain C ABI and do not
 * change.
 *
 * Compile with -fPIE (the default of most distributions) or -fPIC, also for an executable that is linked with -no-pie.
 * With -fno-pie the linker resolves the weak symbols to zero, and nothing is recorded. */
#ifndef CLEAR_H
#define CLEAR_H

#include <stddef.h>
#include <stdint.h>

#define CLEAR_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

enum clear_outcome { CLEAR_COMMITTED = 0, CLEAR_EXHAUSTED = 1 };
enum clear_mode { CLEAR_EXCLUSIVE = 0, CLEAR_SHARED = 1 };

#define CLEAR_RT_WEAK __attribute__((weak, visibility("default")))
void clear_rt_cell_read(const void *cell) CLEAR_RT_WEAK;
void clear_rt_cell_update(const void *cell, size_t struct_size, uint64_t retries, int outcome) CLEAR_RT_WEAK;
void clear_rt_cell_commit_many(const void *const *cells, size_t count) CLEAR_RT_WEAK;
void clear_rt_channel_open(const void *channel, uint64_t capacity, const char *name) CLEAR_RT_WEAK;
void clear_rt_channel_push(const void *channel, uint64_t depth, uint64_t blocked_ns) CLEAR_RT_WEAK;
void clear_rt_channel_pop(const void *channel, uint64_t blocked_ns) CLEAR_RT_WEAK;
void clear_rt_channel_close(const void *channel) CLEAR_RT_WEAK;
void clear_rt_lock_acquired(const void *lock, int mode, int contended, uint64_t wait_ns) CLEAR_RT_WEAK;
void clear_rt_lock_released(const void *lock, int mode) CLEAR_RT_WEAK;
void clear_rt_alloc(const void *arena, const void *block, size_t size) CLEAR_RT_WEAK;
void clear_rt_free(const void *block) CLEAR_RT_WEAK;
void clear_rt_free_all(const void *arena) CLEAR_RT_WEAK;
void clear_rt_fiber_spawn(uint64_t fiber, uint32_t site) CLEAR_RT_WEAK;
void clear_rt_fiber_run(uint64_t fiber, uint32_t scheduler) CLEAR_RT_WEAK;
void clear_rt_fiber_park(uint64_t fiber) CLEAR_RT_WEAK;
void clear_rt_fiber_exit(uint64_t fiber) CLEAR_RT_WEAK;
void clear_rt_region_begin(const char *name) CLEAR_RT_WEAK;
void clear_rt_region_end(void) CLEAR_RT_WEAK;
void clear_rt_mark(const char *name) CLEAR_RT_WEAK;
void clear_rt_flow(const char *name, uint64_t flow) CLEAR_RT_WEAK;
void clear_rt_trace_dump(void) CLEAR_RT_WEAK;

/* --- cells: values behind an atomic pointer, copied to be changed (MVCC) ----------------------------------------- */

/* A snapshot of the cell was read. About 4 ns. */
static inline void clear_cell_read(const void *cell) {
    if (clear_rt_cell_read) clear_rt_cell_read(cell);
}

/* An update of the cell ended. `struct_size` bytes were copied 1 + `retries` times; `retries` copies were discarded
 * because another update committed first. `outcome` is CLEAR_COMMITTED, or CLEAR_EXHAUSTED when the update gave up.
 * About 4 ns. */
static inline void clear_cell_update(const void *cell, size_t struct_size, uint64_t retries,
                                     enum clear_outcome outcome) {
    if (clear_rt_cell_update) clear_rt_cell_update(cell, struct_size, retries, (int)outcome);
}

/* One transaction committed `count` cells at once. Each counts a multi_commit, besides the commit that
 * clear_cell_update reports for it. The array is read during the call. About 3 ns a cell. */
static inline void clear_cell_commit_many(const void *const *cells, size_t count) {
    if (clear_rt_cell_commit_many) clear_rt_cell_commit_many(cells, count);
}

/* --- channels: queues between threads or fibers ------------------------------------------------------------------ */

/* A channel was made at this address. `capacity` 0 is unbounded. `name` may be NULL; 47 bytes of it are kept. An
 * address that is opened again with another capacity or name is another channel. A channel that was never opened has an
 * unknown capacity. */
static inline void clear_channel_open(const void *channel, uint64_t capacity, const char *name) {
    if (clear_rt_channel_open) clear_rt_channel_open(channel, capacity, name);
}

/* A message was sent: the channel has `depth` messages now. The sender waited `blocked_ns`; 0: it did not wait. About 4
 * ns. */
static inline void clear_channel_push(const void *channel, uint64_t depth, uint64_t blocked_ns) {
    if (clear_rt_channel_push) clear_rt_channel_push(channel, depth, blocked_ns);
}

/* A message was received. The receiver waited `blocked_ns`; 0: it did not wait. About 4 ns. */
static inline void clear_channel_pop(const void *channel, uint64_t blocked_ns) {
    if (clear_rt_channel_pop) clear_rt_channel_pop(channel, blocked_ns);
}

/* The channel is gone. Its figures stay. */
static inline void clear_channel_close(const void *channel) {
    if (clear_rt_channel_close) clear_rt_channel_close(channel);
}

/* --- locks other than pthread's ----------------------------------------------------------------------------------- */

/* The calling thread has acquired the lock. `contended` is not 0 when it had to wait, and `wait_ns` is for how long.
 * Together with the release about 33 ns exclusive (18 of them to read the clock), 6 ns shared. */
static inline void clear_lock_acquired(const void *lock, enum clear_mode mode, int contended, uint64_t wait_ns) {
    if (clear_rt_lock_acquired) clear_rt_lock_acquired(lock, (int)mode, contended, wait_ns);
}

/* Call it just before the release, in the thread that acquired the lock. */
static inline void clear_lock_released(const void *lock, enum clear_mode mode) {
    if (clear_rt_lock_released) clear_rt_lock_released(lock, (int)mode);
}

/* --- allocators other than malloc --------------------------------------------------------------------------------- */

/* A block was allocated. Its site is the stack of the caller. `arena` is the arena that frees it when it ends, or NULL.
 * `block` NULL is ignored. Together with the free 16 ns when the stack is in the cache, up to 120 ns more when it must
 * be walked, 17 ns more for a block of an arena. When the allocator's own memory comes from malloc, both count: exclude
 * one of the two by its site. */
static inline void clear_alloc(const void *arena, const void *block, size_t size) {
    if (clear_rt_alloc) clear_rt_alloc(arena, block, size);
}

/* A block was freed. A block that is not known is ignored. */
static inline void clear_free(const void *block) {
    if (clear_rt_free) clear_rt_free(block);
}

/* The arena freed all its blocks at once. Each counts as a free of its own site. */
static inline void clear_free_all(const void *arena) {
    if (clear_rt_free_all) clear_rt_free_all(arena);
}

/* --- fibers ----------------------------------------------------------------------------------------------------- */

/* A fiber was spawned. `fiber` identifies it until its exit; every number but UINT64_MAX. `site` is the program's
 * number for the place in its source. With a run and the exit about 94 ns. */
static inline void clear_fiber_spawn(uint64_t fiber, uint32_t site) {
    if (clear_rt_fiber_spawn) clear_rt_fiber_spawn(fiber, site);
}

/* Scheduler 0, 1, … starts or resumes the fiber. */
static inline void clear_fiber_run(uint64_t fiber, uint32_t scheduler) {
    if (clear_rt_fiber_run) clear_rt_fiber_run(fiber, scheduler);
}

/* The fiber gives its thread back, because it yields or waits: for the timeline, which shows it on the thread from its run to here.
 * Without this call that is to the next run on the thread, or to its exit. In the thread that runs it. */
static inline void clear_fiber_park(uint64_t fiber) {
    if (clear_rt_fiber_park) clear_rt_fiber_park(fiber);
}

/* The fiber ended. Its lifetime is the time since its spawn. */
static inline void clear_fiber_exit(uint64_t fiber) {
    if (clear_rt_fiber_exit) clear_rt_fiber_exit(fiber);
}

/* --- the timeline of `clear profile --trace` ---------------------------------------------------------------------- */

/* Work that has a name begins in this thread: a request, a phase. Regions may lie inside each other, up to 32; each ends with
 * its own clear_region_end, in the thread that began it. 47 bytes of `name` are kept; NULL must not be. A program needs few
 * names: they are kept to its end. */
static inline void clear_region_begin(const char *name) {
    if (clear_rt_region_begin) clear_rt_region_begin(name);
}

/* The innermost region of this thread ends. */
static inline void clear_region_end(void) {
    if (clear_rt_region_end) clear_rt_region_end();
}

/* Something happened at this moment. `name` as of a region. */
static inline void clear_mark(const char *name) {
    if (clear_rt_mark) clear_rt_mark(name);
}

/* This thread works on the thing with the number `flow` now: calls with one number, from any threads, are steps of one flow,
 * in the order of time. `name` as of a region. */
static inline void clear_flow(const char *name, uint64_t flow) {
    if (clear_rt_flow) clear_rt_flow(name, flow);
}

/* Something went wrong that the latest events may explain: they are stored at the next flush. With `--trace-when` they are stored
 * only then. */
static inline void clear_trace_dump(void) {
    if (clear_rt_trace_dump) clear_rt_trace_dump();
}

#ifdef __cplusplus
}
#endif

#endif
