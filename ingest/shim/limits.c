/* The hooks of what a program limits its own memory by, where the runtime's share would tell.
 *
 * mlockall: under RLIMIT_MEMLOCK (8 MiB for users of most systems) it fails when all that is mapped is more, and the runtime maps more.
 * So what the program mapped is locked mapping by mapping, which the limit then counts alone. After MCL_FUTURE each new mapping takes
 * from the limit, so the runtime makes none (process_seal).
 *
 * RLIMIT_STACK: the first thread's stack grows no more below a lower limit, but the program may go on using what it has. The runtime's
 * hooks, and the kernel's frame of its signal, need some KiB below that: it is given to the stack before. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "ingest/shim/core/control.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/smaps.h"
#include "ingest/shim/seal.h"
#include "ingest/shim/stacks/stackrange.h"

/* --- mlockall ------------------------------------------------------------------------------------------------- */

enum { PAGE = 4096 };

/* The limit of bytes that may be locked; UINT64_MAX where there is none. Whether it holds for this process is asked by a mapping beyond
 * it, of which no page can be made: a capability may not count, as in a user namespace. */
static uint64_t lock_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur >= (uint64_t)1 << 46) return UINT64_MAX;
    size_t size = limit.rlim_cur + PAGE;
    void *beyond = real.mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_LOCKED, -1, 0);
    if (beyond == MAP_FAILED) return limit.rlim_cur;
    real.munmap(beyond, size);
    return UINT64_MAX;
}

/* The page of old system calls counts for no limit. */
static bool is_of_program(const struct mapping *mapping) {
    uintptr_t control = (uintptr_t)shared_control();
    bool is_own = mapping->is_ours || (mapping->low >= process->own_low && mapping->low < process->own_high) ||
                  (control >= mapping->low && control < mapping->high);
    return !is_own && mapping->high <= (uint64_t)1 << 47;
}

static void add_size(void *bytes, const struct mapping *mapping) {
    if (is_of_program(mapping)) *(uint64_t *)bytes += mapping->high - mapping->low;
}

/* As by mlockall, pages that cannot be made (PROT_NONE) are no failure. */
static void lock_mapping(void *flags, const struct mapping *mapping) {
    if (is_of_program(mapping))
        real_syscall(SYS_mlock2, mapping->low, mapping->high - mapping->low, *(unsigned *)flags);
}

/* Whether the program's mappings were locked. Not where they are too many, as they would be without the runtime. */
static bool lock_program(struct thread *thread, uint64_t limit, int flags) {
    uint64_t bytes = 0;
    unsigned how = flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0;
    return smaps_each(thread->scratch, add_size, &bytes) && bytes <= limit &&
           smaps_each(thread->scratch, lock_mapping, &how);
}

/* Whether nothing is left to do but what is in *flags. */
static bool lock_within_limit(struct thread *thread, int *flags) {
    uint64_t limit = lock_limit();
    if (limit == 0 || limit == UINT64_MAX) return false;
    if (*flags & MCL_FUTURE) process_seal(thread, SEAL_FOR_EVER);
    if (!(*flags & MCL_CURRENT) || !lock_program(thread, limit, *flags)) return false;
    *flags &= ~MCL_CURRENT;
    return !(*flags & MCL_FUTURE);
}

static int lock_all(int flags) {
    bool is_known = (flags & (MCL_CURRENT | MCL_FUTURE)) && !(flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)),
         is_done = false;
    struct thread *thread = is_known ? thread_enter() : NULL;
    if (thread && !is_sealed()) RECORD(thread, is_done = lock_within_limit(thread, &flags));
    if (thread) thread_leave(thread);
    return is_done ? 0 : (int)real_syscall(SYS_mlockall, flags);
}

HOOK int mlockall(int flags) {
    return lock_all(flags);
}

/* The arguments are those of syscall. */
long mlockall_call(long number, long flags);
__attribute__((used, visibility("hidden"))) long mlockall_call(long number, long flags) {
    (void)number;
    return lock_all((int)flags);
}

/* --- the limit of the stack ----------------------------------------------------------------------------------- */

enum { STACK_RESERVE = 64 << 10 };

/* By a write of the kernel's, which fails where one of ours would kill. */
static void grow_stack(struct thread *thread, uint64_t limit) {
    struct stack_range mapped = stack_range_first(thread);
    if (!mapped.high || limit >= mapped.high - mapped.low + STACK_RESERVE) return;
    for (uintptr_t reserve = STACK_RESERVE; reserve >= PAGE; reserve /= 2)
        if (real_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, mapped.low - reserve) == 0) return;
}

/* `pid`: 0 or another process, whose stack is its own matter. */
static void before_limit(pid_t pid, int resource, const struct rlimit *limit) {
    if (resource != RLIMIT_STACK || !limit || (pid != 0 && pid != process->segment->pid)) return;
    struct thread *thread = thread_enter();
    if (!thread) return;
    if (!is_sealed()) RECORD(thread, grow_stack(thread, limit->rlim_cur));
    thread_leave(thread);
}

static long change_limit(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old) {
    if (load_acquire(&process->state) == PROCESS_READY) before_limit(pid, resource, limit);
    return real_syscall(SYS_prlimit64, pid, resource, limit, old);
}

HOOK int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    return (int)change_limit(0, (int)resource, limit, NULL);
}

HOOK int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
    return (int)change_limit(0, (int)resource, (const struct rlimit *)limit, NULL);
}

HOOK int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit, struct rlimit *old) {
    return (int)change_limit(pid, (int)resource, limit, old);
}

HOOK int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit, struct rlimit64 *old) {
    return (int)change_limit(pid, (int)resource, (const struct rlimit *)limit, (struct rlimit *)old);
}

/* The arguments are those of syscall. */
long setrlimit_call(long number, long resource, const struct rlimit *limit);
long prlimit_call(long number, long pid, long resource, const struct rlimit *limit, struct rlimit *old);

__attribute__((used, visibility("hidden"))) long setrlimit_call(long number, long resource,
                                                                const struct rlimit *limit) {
    (void)number;
    return change_limit(0, (int)resource, limit, NULL);
}

__attribute__((used, visibility("hidden"))) long prlimit_call(long number, long pid, long resource,
                                                              const struct rlimit *limit, struct rlimit *old) {
    (void)number;
    return change_limit((pid_t)pid, (int)resource, limit, old);
}
