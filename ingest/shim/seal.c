/* The hook of prctl. A program that is about to forbid itself system calls (seccomp) must not be killed for one of
 * ours. It calls prctl for that, or before that: seccomp(2) needs PR_SET_NO_NEW_PRIVS, except for root. At that call
 * memory is reserved ahead, and from then on the runtime makes no system call. What does not fit into that memory
 * counts as dropped. */
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/core/segment_file.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"

static void seal(void) {
    enum { SEGMENT_READY = 2 << 20, POOL_SIZE = 256 << 20 }; /* the pool takes memory only as it is used */
    process_lock();
    if (!is_sealed()) {
        segment_populate(process->populated + SEGMENT_READY);
        process->pool = private_memory(POOL_SIZE);
        process->pool_size = process->pool ? POOL_SIZE : 0;
        cpu_stop();
        store_release(&process->is_sealed, 1);
    }
    process_unlock();
}

HOOK int prctl(int option, ...) {
    va_list list;
    unsigned long arguments[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS) {
        struct thread *thread = thread_enter();
        if (thread) {
            RECORD(thread, cpu_time_settle(thread); seal());
            thread_leave(thread);
        }
    }
    return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
