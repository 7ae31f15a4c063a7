#include "ingest/shim/core/runtime.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 100 };

/* What `process` and `self` point at before the first hook. Zeros read as "not started" and "not initialised". */
static struct process no_process;
static struct thread no_thread;

HOT_WORD struct process *process = &no_process;
HOT_WORD uint32_t heap_mode = HEAP_UNDECIDED;
HOT_WORD uint32_t is_io_off, is_locks_off;
static uint32_t never_paused;
HOT_WORD uint32_t *paused = &never_paused, *shared_sample_level = &never_paused, *shared_lock_level = &never_paused;
__thread struct thread *volatile self = &no_thread;
struct thread blind_thread;

uint64_t clock_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ticks_of(uint64_t ns) {
    if (!(process->features & FEATURE_TSC)) return ns;
    double elapsed_ns = (double)(clock_monotonic_ns() - process->segment->start_monotonic_ns);
    double elapsed_ticks = (double)(clock_ticks() - process->segment->start_ticks);
    return elapsed_ns > 0 ? (uint64_t)((double)ns * elapsed_ticks / elapsed_ns) : ns;
}

/* --- memory --------------------------------------------------------------------------------------------------- */

/* Of most mappings a few pages are used. Where the kernel gives huge ones to whoever does not object ("always"), 32 threads took 128 MB, and
 * 1.3 MB without. */
static void *map_memory(size_t size, int protection, int advice) {
    enum { HUGE_PAGE = 2 << 20 };
    void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (size >= HUGE_PAGE) madvise(memory, size, MADV_NOHUGEPAGE);
    madvise(memory, size, MADV_DONTDUMP);
    if (madvise(memory, size, advice) == 0) return memory;
    munmap(memory, size);
    return NULL;
}

/* A sealed process takes memory from the pool that was mapped when it was sealed. */
static void *pool_memory(size_t size) {
    uint64_t whole = (size + 63) & ~(uint64_t)63, at = fetch_add_relaxed(&process->pool_used, whole);
    return at + whole <= process->pool_size ? process->pool + at : NULL;
}

void *private_memory(size_t size) {
    return is_sealed() ? pool_memory(size) : map_memory(size, PROT_READ | PROT_WRITE, MADV_DONTFORK);
}

void *wiped_memory(size_t size) {
    return map_memory(size, PROT_READ | PROT_WRITE, MADV_WIPEONFORK);
}

void *wiped_memory_ahead(size_t size) {
    void *memory = map_memory(size, PROT_NONE, MADV_WIPEONFORK);
    if (!memory) return NULL;
    munlock(memory, size); /* mlockall(MCL_FUTURE) would give it memory that may never be used */
    if (mprotect(memory, size, PROT_READ | PROT_WRITE) == 0) return memory;
    munmap(memory, size);
    return NULL;
}

bool process_allocate(void) {
    if (process != &no_process) return true;
    struct process *memory = wiped_memory(sizeof *memory), *expected = &no_process;
    if (memory && !compare_exchange(&process, &expected, memory)) private_memory_free(memory, sizeof *memory);
    return memory;
}

/* The lock of the old one is held while they change, so that nobody who has it gives back another. Who sleeps at it is woken, and goes to
 * the new one. */
bool process_renew(void) {
    struct process *memory = wiped_memory(sizeof *memory), *old = process;
    if (!memory) return false;
    process_lock();
    /* A thread that was held up on its way since then must find tables and a segment: the old ones stay where they are. */
    memory->segment = old->segment;
    memory->reserved = old->reserved;
    memory->mapped = old->mapped;
    memory->populated = old->populated;
    memory->features = old->features;
    memory->depth = old->depth;
    memory->sample_n = old->sample_n;
    memory->ids_max = old->ids_max;
    memory->sample_bytes = old->sample_bytes;
    memory->has_budget = old->has_budget;
    memory->own_low = old->own_low;
    memory->own_high = old->own_high;
    memory->stacks = old->stacks;
    memory->objects = old->objects;
    memory->rules = old->rules;
    store_release(&process, memory);
    syscall(SYS_futex, &old->lock, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    return true;
}

void thread_forget(void) {
    self = &no_thread;
}

void private_memory_free(void *memory, size_t size) {
    bool is_of_pool = process->pool && (uintptr_t)memory - (uintptr_t)process->pool < process->pool_size;
    if (!is_sealed() && !is_of_pool) munmap(memory, size);
}

/* --- the lock: a futex as in Drepper's "Futexes Are Tricky", after a short spin -------------------------------- */

static bool process_try_lock(void) {
    uint32_t expected = 0;
    return compare_exchange(&process->lock, &expected, 1);
}

/* Who unlocks a process that is sealed wakes nobody (process_seal), so no sleep is without an end. */
void process_lock(void) {
    static const struct timespec patience = {.tv_nsec = 10000000};
    for (int i = 0; i < SPINS; i++) {
        if (process_try_lock()) return;
        __builtin_ia32_pause();
    }
    while (exchange_acq_rel(&process->lock, 2)) {
        if (is_sealed())
            __builtin_ia32_pause();
        else
            syscall(SYS_futex, &process->lock, FUTEX_WAIT_PRIVATE, 2, &patience, NULL, 0);
    }
}

bool process_lock_from(const struct thread *thread) {
    if (unlikely(thread->is_ticking == TICK_INSIDE)) return process_try_lock();
    process_lock();
    return true;
}

void process_unlock(void) {
    if (exchange_acq_rel(&process->lock, 0) != 2 || is_sealed()) return;
    syscall(SYS_futex, &process->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
