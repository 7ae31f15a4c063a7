#include "ingest/shim/core/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/core/runtime.h"

enum answers { ANSWERS_UNKNOWN, ANSWERS_OF_KERNEL, ANSWERS_OF_FILTER };

/* rt_sigprocmask copies the new mask before it looks at `how`, and changes nothing where that is none: EFAULT where it cannot read it, else EINVAL.
 * The C library makes this call itself, for each thread and each fork, so filters allow it. */
static int error_of_read(uint64_t address) {
    return real_syscall(SYS_rt_sigprocmask, -1L, address, 0L, 8L) == -1 ? errno : 0;
}

/* A filter gives one answer to all (EPERM, which is not EFAULT), so the kernel must have both: one to memory of ours, one to its own. */
static bool is_kernel_answering(void) {
    static uint32_t answers;
    uint32_t known = load_relaxed(&answers);
    if (unlikely(known == ANSWERS_UNKNOWN)) {
        uint64_t own = 0, of_kernel = ~0xfffull;
        bool is_kernel = error_of_read((uintptr_t)&own) == EINVAL && error_of_read(of_kernel) == EFAULT;
        known = is_kernel ? ANSWERS_OF_KERNEL : ANSWERS_OF_FILTER;
        store_relaxed(&answers, known);
    }
    return known == ANSWERS_OF_KERNEL;
}

bool memory_is_readable(uint64_t address) {
    int saved_errno = errno;
    bool is_readable = !is_sealed() && is_kernel_answering() && error_of_read(address) == EINVAL;
    errno = saved_errno;
    return is_readable;
}
