/* The hooks of malloc and its relatives. A free is recorded before the real call, because right after it another thread
 * may get the same address; an allocation is recorded after it. Bytes are what the program asked for. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/control.h"
#include "ingest/shim/core/hook_cost.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/sample.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/heap/births.h"
#include "ingest/shim/heap/heap.h"
#include "ingest/shim/heap/peak.h"
#include "ingest/shim/heap/probes.h"
#include "ingest/shim/stacks/callstack.h"

static COLD void heap_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_heap, 1);
}

/* A block that is freed after one of the same stack was allocated may have been copied into it. Of a sampled run that is seen where both
 * were taken, so there are too few. */
static __attribute__((noinline)) void count_replaced(struct thread *thread, uintptr_t address, struct heap_block old) {
    struct heap_block newest = block_look((uintptr_t)thread->newest);
    if (newest.id != old.id) return;
    struct heap_details *details = details_counters_of(thread, old.id);
    if (unlikely(!details)) return;
    uint64_t weight = sample_weight(address, old.level, old.size), grown = newest.size - old.size;
    add_own(&details->replaced_count, weight);
    if (newest.size <= old.size || grown >= old.size >> STEP_SHIFT) return;
    add_own(&details->copy_step_count, weight);
    add_own(&details->copy_step_bytes, weight * old.size);
    add_own(&details->copy_growth_bytes, weight * grown);
}

/* is_call: by free. What realloc takes back is not temporary, and what no hook saw is not known to be. */
static ALWAYS_INLINE void count_free(struct thread *thread, void *address, struct heap_block block, bool is_call) {
    struct heap_counters *counters = heap_counters_of(thread, block.id);
    if (unlikely(!counters)) return heap_dropped();
    uint64_t weight = sample_weight((uintptr_t)address, block.level, block.size);
    peak_before_fall(thread);
    peak_keep(counters);
    add_own(&counters->free_count, weight);
    sample_vary(true, weight, block.size);
    add_own(&counters->free_bytes, weight * block.size);
    peak_fall(thread, weight * block.size);
    if (!is_call) return;
    if (thread->newest == address) {
        thread->newest = NULL; /* another thread may get the address */
        add_own(&counters->temporary, weight);
    } else if (unlikely(block.size >= REPLACED_MIN)) {
        count_replaced(thread, (uintptr_t)address, block);
    }
}

/* The block at this address was freed where no hook saw it. */
static COLD void count_missed_free(struct thread *thread, void *address, struct heap_block stale) {
    count_free(thread, address, stale, false);
    fetch_add_relaxed(&process->segment->missed_frees, 1);
}

static ALWAYS_INLINE uint32_t note_block(struct thread *thread, void *block, size_t size, uint32_t id) {
    struct heap_block stale;
    struct heap_counters *counters = id ? heap_counters_of(thread, id) : NULL;
    if (unlikely(!counters)) return heap_dropped(), 0;
    uint32_t level = thread->sample_level; /* 0 without a budget */
    bool is_noted = block_put((uintptr_t)block, (struct heap_block){.id = id, .level = level, .size = size}, &stale);
    if (unlikely(stale.id)) count_missed_free(thread, block, stale);
    if (unlikely(!is_noted)) return heap_dropped(), 0;
    uint64_t weight = sample_weight((uintptr_t)block, level, size);
    peak_keep(counters);
    add_own(&counters->alloc_count, weight);
    sample_vary(false, weight, size);
    add_own(&counters->alloc_bytes, weight * size);
    peak_rise(thread, weight * size);
    thread->newest = block;
    if (unlikely(has_more_to_note())) {
        if (keeps_lifetimes()) birth_note(thread, (uintptr_t)block, size, id, weight);
        if (traces(TRACE_ALLOC)) trace_block(thread, EVENT_ALLOC, block, size, id);
        if (alloc_is_read()) probe_allocated(thread, block, size, weight, level);
    }
    return id;
}

uint32_t heap_allocated(struct thread *thread, void *block, size_t size, struct frame frame) {
    return note_block(thread, block, size, callstack(thread, frame));
}

/* A block that was taken out of the tree was freed. */
static COLD void lifetime_ended(struct thread *thread, const void *address, struct heap_block block,
                                struct block_birth birth) {
    birth_ended(thread, birth, block.id, sample_weight((uintptr_t)address, block.level, block.size));
}

/* `caller` is CALLER() of the hook, or NULL. */
static COLD void free_noted(struct thread *thread, const void *address, struct heap_block block,
                            const uint64_t *caller) {
    probe_freed(address);
    if (keeps_lifetimes()) lifetime_ended(thread, address, block, birth_take((uintptr_t)address));
    bool is_event = traces(TRACE_ALLOC) && block.size >= shared_control()->trace_alloc;
    if (is_event)
        trace_block(thread, EVENT_FREE, address, block.size, caller ? callstack(thread, frame_at(caller)) : 0);
}

static ALWAYS_INLINE void heap_freed_by(struct thread *thread, void *block, const uint64_t *caller) {
    struct heap_block known;
    if (unlikely(!block_take((uintptr_t)block, &known))) return;
    count_free(thread, block, known, true);
    if (unlikely(has_more_to_note())) free_noted(thread, block, known, caller);
}

void heap_freed(struct thread *thread, void *block) {
    heap_freed_by(thread, block, NULL);
}

static __attribute__((noinline)) void freed_sampled(struct thread *thread, void *block, const uint64_t *caller) {
    uint64_t from = hook_cost_from(thread);
    heap_freed_by(thread, block, caller);
    hook_cost_to(thread, from);
}

/* The calls beside malloc and realloc that struct heap_details counts: the counter's place in it, in words. */
enum { CALL_MALLOC = -1, CALL_CALLOC = 0, CALL_ALIGNED = 1 };
_Static_assert(offsetof(struct heap_details, aligned_count) == CALL_ALIGNED * sizeof(uint64_t), "the order");

static ALWAYS_INLINE void count_call(struct thread *thread, int call, uint32_t id, void *block, size_t size) {
    struct heap_details *details = id ? details_counters_of(thread, id) : NULL;
    if (unlikely(!details)) return;
    uint64_t *counter = (uint64_t *)details + call;
    add_own(counter, sample_weight((uintptr_t)block, thread->sample_level, size));
}

static ALWAYS_INLINE void allocated(struct thread *thread, int call, void *block, size_t size, struct frame frame) {
    uint32_t id = heap_allocated(thread, block, size, frame);
    if (call != CALL_MALLOC) count_call(thread, call, id, block, size);
}

static __attribute__((noinline)) void allocated_sampled(struct thread *thread, int call, void *block, size_t size,
                                                        struct frame frame) {
    uint64_t from = hook_cost_from(thread);
    allocated(thread, call, block, size, frame);
    hook_cost_to(thread, from);
}

static ALWAYS_INLINE void allocated_by(struct thread *thread, int call, void *block, size_t size, struct frame frame) {
    if (unlikely(is_sampling())) return allocated_sampled(thread, call, block, size, frame);
    allocated(thread, call, block, size, frame);
}

/* The one shape of an allocating hook. The thread is entered before the real call, so what an allocator itself calls
 * (the locks of jemalloc, realloc inside reallocarray) is not recorded. Adds about 45 ns to the call with 13 frames. */
#define ALLOCATE(which, size, call)                                                                                    \
    if (heap_passes(size)) return call;                                                                                \
    struct thread *thread = thread_enter();                                                                            \
    void *block = call;                                                                                                \
    if (unlikely(!thread)) return block;                                                                               \
    if (likely(block)) RECORD(thread, allocated_by(thread, which, block, size, CALLER_FRAME()));                       \
    thread_leave(thread);                                                                                              \
    return block

static __attribute__((noinline)) void *malloc_asking(size_t size) {
    ALLOCATE(CALL_MALLOC, size, real.malloc(size));
}

/* Jumps, so that the caller's frame is that of the function that goes on. */
HOT HOOK void *malloc(size_t size) {
    if (likely(heap_passes_soon(size))) return real.malloc(size);
    return malloc_asking(size);
}

HOOK void *calloc(size_t count, size_t size) {
    ALLOCATE(CALL_CALLOC, count * size, real.calloc(count, size));
}

HOOK void *aligned_alloc(size_t alignment, size_t size) {
    ALLOCATE(CALL_ALIGNED, size, real.aligned_alloc(alignment, size));
}

HOOK void *memalign(size_t alignment, size_t size) {
    ALLOCATE(CALL_ALIGNED, size, real.memalign(alignment, size));
}

HOOK void *valloc(size_t size) {
    ALLOCATE(CALL_ALIGNED, size, real.valloc(size));
}

HOOK void *pvalloc(size_t size) {
    ALLOCATE(CALL_ALIGNED, size, real.pvalloc(size));
}

HOOK int posix_memalign(void **place, size_t alignment, size_t size) {
    if (heap_passes(size)) return real.posix_memalign(place, alignment, size);
    struct thread *thread = thread_enter();
    int result = real.posix_memalign(place, alignment, size);
    if (unlikely(!thread)) return result;
    if (result == 0) RECORD(thread, allocated_by(thread, CALL_ALIGNED, *place, size, CALLER_FRAME()));
    thread_leave(thread);
    return result;
}

/* Of a block under a mark: whether it is not noted. Then the mark may be for nothing. */
static ALWAYS_INLINE bool is_only_marked(const void *block) {
    bool is_noted = block_may_be_noted((uintptr_t)block);
    if (!is_noted && load_relaxed(&process->state) == PROCESS_READY) block_unmark((uintptr_t)block);
    return !is_noted;
}

static __attribute__((noinline)) void free_asking(void *block) {
    if (unlikely(!block || is_pool_block(block))) return;
    uint32_t mode = load_relaxed(&heap_mode);
    if (unlikely(mode >= HEAP_OFF || (mode == HEAP_SAMPLED && is_only_marked(block)))) return real.free(block);
    if (unlikely(is_paused() && !block_may_be_noted((uintptr_t)block))) return real.free(block);
    struct thread *thread = thread_enter();
    if (likely(thread)) {
        if (unlikely(mode == HEAP_SAMPLED))
            RECORD(thread, freed_sampled(thread, block, CALLER()));
        else
            RECORD(thread, heap_freed_by(thread, block, CALLER()));
        thread_leave(thread);
    }
    real.free(block);
}

/* As malloc, it jumps to what needs a frame. Where allocations are sampled NULL, too, goes to the real one. */
HOT HOOK void free(void *block) {
    uint32_t mode = load_relaxed(&heap_mode);
    if (likely(mode == HEAP_SAMPLED)) {
        if (likely(!block_is_marked((uintptr_t)block))) return real.free(block);
    } else if (mode == HEAP_OFF && likely(!is_pool_block(block))) {
        return real.free(block);
    }
    free_asking(block);
}

/* A block got another size. Of a sampled run: as often as the old block stands for, because that one was taken
 * by chance and not this call. */
static ALWAYS_INLINE void count_resize(struct heap_details *details, void *from, struct heap_block old, void *to,
                                       size_t size) {
    size_t old_size = old.size;
    uint64_t weight = sample_weight((uintptr_t)from, old.level, old_size), grown = size - old_size;
    add_own(&details->resized_count, weight);
    add_own(&details->resized_bytes, weight * old_size);
    if (size > old_size && grown < old_size >> STEP_SHIFT) {
        add_own(&details->step_count, weight);
        add_own(&details->step_bytes, weight * old_size);
    }
    if (to == from) return;
    add_own(&details->moved_count, weight);
    add_own(&details->moved_bytes, weight * (old_size < size ? old_size : size));
}

static ALWAYS_INLINE void count_realloc(struct heap_details *details, void *block, uint32_t level, size_t size) {
    uint64_t weight = sample_weight((uintptr_t)block, level, size);
    add_own(&details->realloc_count, weight);
    add_own(&details->realloc_bytes, weight * size);
}

/* What was taken out of the tree before a realloc. */
struct taken_block {
    struct heap_block block;
    struct block_birth birth;
    bool is_known;
};

static ALWAYS_INLINE struct taken_block take_block(const void *from) {
    struct taken_block taken = {.is_known = false};
    taken.is_known = from && block_take((uintptr_t)from, &taken.block);
    if (unlikely(taken.is_known && keeps_lifetimes())) taken.birth = birth_take((uintptr_t)from);
    return taken;
}

static COLD void put_back(const void *from, struct taken_block taken) {
    struct heap_block stale;
    if (!taken.is_known) return;
    block_put((uintptr_t)from, taken.block, &stale);
    if (keeps_lifetimes()) birth_put_back((uintptr_t)from, taken.birth);
}

/* A realloc counts as a free of the old block, credited to the stack that allocated it, and as an allocation by the
 * caller, also when the block did not move: bytes in use are those of the stack that sized the block last. A realloc
 * that fails counts as neither. The old block is forgotten before the call, because right after it another thread may
 * get the address. */
static ALWAYS_INLINE void heap_moved(struct thread *thread, struct taken_block taken, void *from, void *to, size_t size,
                                     struct frame frame) {
    struct heap_block old = taken.block;
    bool has_failed = !to && size != 0, was_known = taken.is_known;
    if (has_failed) return put_back(from, taken);
    if (was_known) count_free(thread, from, old, false);
    if (unlikely(taken.birth.ticks)) lifetime_ended(thread, from, old, taken.birth);
    if (unlikely(has_more_to_note()) && was_known) {
        probe_freed(from);
        if (traces(TRACE_ALLOC)) trace_block(thread, EVENT_FREE, from, old.size, callstack(thread, frame));
    }
    if (!to || is_paused()) return;
    bool is_taken = sample_takes(thread, size);
    if (!is_taken) thread->newest = NULL;
    if (!is_taken && !was_known) return;
    uint32_t id = callstack(thread, frame);
    bool is_noted = is_taken && note_block(thread, to, size, id);
    struct heap_details *details = id ? details_counters_of(thread, id) : NULL;
    if (unlikely(!details)) return;
    if (is_noted) count_realloc(details, to, thread->sample_level, size);
    if (was_known) count_resize(details, from, old, to, size);
}

static __attribute__((noinline)) void moved_sampled(struct thread *thread, struct taken_block taken, void *from,
                                                    void *to, size_t size, struct frame frame) {
    uint64_t began = hook_cost_from(thread);
    heap_moved(thread, taken, from, to, size, frame);
    hook_cost_to(thread, began);
}

static ALWAYS_INLINE void moved_by(struct thread *thread, struct taken_block taken, void *from, void *to, size_t size,
                                   struct frame frame) {
    if (unlikely(is_sampling())) return moved_sampled(thread, taken, from, to, size, frame);
    heap_moved(thread, taken, from, to, size, frame);
}

#define REALLOCATE(from, size, call)                                                                                   \
    if (unlikely(load_relaxed(&heap_mode) == HEAP_OFF)) return call;                                                   \
    if (is_paused() && !(from && block_may_be_noted((uintptr_t)from))) return call;                                    \
    struct thread *thread = thread_enter();                                                                            \
    if (unlikely(!thread)) return call;                                                                                \
    struct taken_block taken = take_block(from);                                                                       \
    void *to = call;                                                                                                   \
    RECORD(thread, moved_by(thread, taken, from, to, size, CALLER_FRAME()));                                           \
    thread_leave(thread);                                                                                              \
    return to

static __attribute__((noinline)) void *realloc_asking(void *from, size_t size) {
    if (is_pool_block(from)) return pool_realloc(from, size);
    if (is_sampling() && is_only_marked(from) && heap_passes_soon(size)) return real.realloc(from, size);
    REALLOCATE(from, size, real.realloc(from, size));
}

/* As malloc. Neither the old block nor the new one is recorded. */
HOT HOOK void *realloc(void *from, size_t size) {
    bool is_sampled = load_relaxed(&heap_mode) == HEAP_SAMPLED;
    if (is_sampled && !block_is_marked((uintptr_t)from) && heap_passes_soon(size)) return real.realloc(from, size);
    return realloc_asking(from, size);
}

HOOK void *reallocarray(void *from, size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) return real.reallocarray(from, count, size);
    if (is_pool_block(from)) return pool_realloc(from, whole);
    REALLOCATE(from, whole, real.reallocarray(from, count, size));
}

HOOK size_t malloc_usable_size(void *block) {
    return is_pool_block(block) ? pool_block_size(block) : real.malloc_usable_size(block);
}
