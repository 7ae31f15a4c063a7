/* probes.h: the probes otel_memory:alloc and otel_memory:free (USDT), through which OpenTelemetry's eBPF profiler, bpftrace and perf see sampled
 * allocations of a recorded program, by the design-docs/00003-memory-profiling of open-telemetry/opentelemetry-ebpf-profiler:
 *   alloc(user, size, weight)  a sampled block, its bytes, and how many allocated bytes it stands for, without a bias
 *   free(ptr)                  a block whose allocation was told
 * The arguments are in rdi, rsi and rdx, each of 8 bytes. Who reads a probe counts up its semaphore, which the note in the library names.
 *
 * What is told: of a run that samples by bytes (--sample=SIZE, a budget) the blocks that it records; of others, one in PROBE_BYTES. While nobody
 * reads, nothing is added to a hook: the semaphores stand in the word by which a hook asks whether there is more to note of a block. */
#ifndef CLEAR_SHIM_PROBES_H
#define CLEAR_SHIM_PROBES_H

#include "ingest/shim/core/runtime.h"

enum { PROBE_BYTES = 512 << 10 };

/* Notes of a block beside its counters. The semaphores are written by the kernel, for a reader. */
union heap_notes {
    struct {
        uint16_t alloc_readers, free_readers;
        uint32_t kinds; /* FEATURE_LIFETIMES and FEATURE_ALLOC_EVENTS, as in process->features */
    };
    uint64_t any;
};
extern HIDDEN union heap_notes heap_notes;

/* One test for all. */
static ALWAYS_INLINE bool has_more_to_note(void) {
    return load_relaxed(&heap_notes.any) != 0;
}

/* A block was recorded, which stands for `weight` blocks. `level` is as in its entry. */
void probe_allocated(struct thread *thread, const void *block, uint64_t size, uint64_t weight, uint32_t level);
/* A block that is known is about to be freed. */
void probe_freed(const void *block);

static ALWAYS_INLINE bool alloc_is_read(void) {
    return load_relaxed(&heap_notes.alloc_readers) != 0;
}
static ALWAYS_INLINE bool free_is_read(void) {
    return load_relaxed(&heap_notes.free_readers) != 0;
}

#endif
