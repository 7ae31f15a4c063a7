/* clear.h: tell `clear profile` what no hook can see: versioned cells, channels, a runtime's own locks, allocators and fibers.
 *
 * Header-only. Include it and call; link nothing. Every function here tests a weak symbol that only the recording runtime
 * defines: in a program that is not being profiled a call costs one load and one branch that is never taken (`make bench`, row api-off),
 * and nothing is evaluated but the arguments. Under `clear profile` a call costs what the comment beside
 * it says (best of five loops on one processor, everything recorded).
 *
 * All functions may be called from any thread, and from signal handlers (what arrives while the thread is itself inside
 * the recorder is not recorded). None fails, allocates from the program's heap, or changes errno. Pointers are identities
 * only: they are never followed. Times are nanoseconds, sizes bytes.
 *
 * From other languages declare the clear_rt_* functions as weak externs (Zig: `@extern(..., .{ .linkage = .weak })`,
 * Rust: dlsym, as stable Rust has no weak linkage) and test them before calling; they are plain C ABI and stay as they are.
 * Compile with -fPIE (the default of most distributions) or -fPIC, also for an executable that is linked with -no-pie: in
 * code of -fno-pie the linker settles weak symbols to zero for good, and nothing would ever be recorded. */
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
void clear_rt_fiber_exit(uint64_t fiber) CLEAR_RT_WEAK;

/* --- cells: values behind an atomic pointer that are copied to be changed (MVCC) -------------------------------- */

/* A snapshot of the cell was taken. About 4 ns. */
static inline void clear_cell_read(const void *cell) {
    if (clear_rt_cell_read) clear_rt_cell_read(cell);
}

/* An update of the cell ended: `struct_size` bytes were copied 1 + `retries` times, `retries` of them for nothing because another
 * update came first; CLEAR_COMMITTED or, when it gave up, CLEAR_EXHAUSTED. About 4 ns. */
static inline void clear_cell_update(const void *cell, size_t struct_size, uint64_t retries,
                                     enum clear_outcome outcome) {
    if (clear_rt_cell_update) clear_rt_cell_update(cell, struct_size, retries, (int)outcome);
}

/* One transaction committed to all these cells at once. Each gets a multi_commit beside the commit that clear_cell_update
 * reports for it. About 3 ns a cell. */
static inline void clear_cell_commit_many(const void *const *cells, size_t count) {
    if (clear_rt_cell_commit_many) clear_rt_cell_commit_many(cells, count);
}

/* --- channels: bounded or unbounded queues between threads or fibers -------------------------------------------- */

/* `capacity` in messages, 0 for unbounded. `name` may be NULL; at most 63 bytes of it are kept. Opening again gives
 * the same address a new channel. A channel that was never opened is one of unknown capacity. */
static inline void clear_channel_open(const void *channel, uint64_t capacity, const char *name) {
    if (clear_rt_channel_open) clear_rt_channel_open(channel, capacity, name);
}

/* A message was put in: `depth` messages are in it now, and the sender waited `blocked_ns` (0: it did not). About 4 ns. */
static inline void clear_channel_push(const void *channel, uint64_t depth, uint64_t blocked_ns) {
    if (clear_rt_channel_push) clear_rt_channel_push(channel, depth, blocked_ns);
}

/* A message was taken out; the receiver waited `blocked_ns`. About 4 ns. */
static inline void clear_channel_pop(const void *channel, uint64_t blocked_ns) {
    if (clear_rt_channel_pop) clear_rt_channel_pop(channel, blocked_ns);
}

static inline void clear_channel_close(const void *channel) {
    if (clear_rt_channel_close) clear_rt_channel_close(channel);
}

/* --- locks that are no pthread locks ---------------------------------------------------------------------------- */

/* The lock is held now. `contended`: it had to wait, `wait_ns` long. With its release about
 * 33 ns exclusive (18 of them read the clock), 6 ns shared. */
static inline void clear_lock_acquired(const void *lock, enum clear_mode mode, int contended, uint64_t wait_ns) {
    if (clear_rt_lock_acquired) clear_rt_lock_acquired(lock, (int)mode, contended, wait_ns);
}

/* To be called just before it is let go, by the thread that acquired it. */
static inline void clear_lock_released(const void *lock, enum clear_mode mode) {
    if (clear_rt_lock_released) clear_rt_lock_released(lock, (int)mode);
}

/* --- allocators that are not malloc ----------------------------------------------------------------------------- */

/* A block was handed out; `arena` is the arena whose end frees it, or NULL. The caller's stack is its site. With its free 16 ns
 * where the stack is one that came before, up to 120 ns more where it must be walked; 17 ns more for a block of an arena.
 * If the allocator's own memory comes from malloc, both are counted: exclude one by its site. */
static inline void clear_alloc(const void *arena, const void *block, size_t size) {
    if (clear_rt_alloc) clear_rt_alloc(arena, block, size);
}

/* A block was given back. */
static inline void clear_free(const void *block) {
    if (clear_rt_free) clear_rt_free(block);
}

/* Everything that the arena handed out was given back at once: each block counts as a free of its own site. */
static inline void clear_free_all(const void *arena) {
    if (clear_rt_free_all) clear_rt_free_all(arena);
}

/* --- fibers ----------------------------------------------------------------------------------------------------- */

/* A fiber came to be at a task site of the program (a number of the program's own). With a run and its exit
 * about 94 ns. */
static inline void clear_fiber_spawn(uint64_t fiber, uint32_t site) {
    if (clear_rt_fiber_spawn) clear_rt_fiber_spawn(fiber, site);
}

/* A scheduler (0, 1, …) begins or goes on with it. */
static inline void clear_fiber_run(uint64_t fiber, uint32_t scheduler) {
    if (clear_rt_fiber_run) clear_rt_fiber_run(fiber, scheduler);
}

/* It ended; its life counts from its spawn. */
static inline void clear_fiber_exit(uint64_t fiber) {
    if (clear_rt_fiber_exit) clear_rt_fiber_exit(fiber);
}

#ifdef __cplusplus
}
#endif

#endif
