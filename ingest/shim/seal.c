/* The hooks of what a program forbids itself by.
 *
 * System calls: a program that is about to lock itself in (seccomp) must not be killed for a call of ours. It calls prctl for that, or
 * before that: seccomp(2) needs PR_SET_NO_NEW_PRIVS, except for root. At that call memory is reserved ahead, and from then on the
 * runtime makes no system call. What does not fit into that memory counts as dropped.
 *
 * The clock: PR_SET_TSC kills a thread that reads the time stamp counter, and so does strict seccomp, by the way; the C library's
 * clock_gettime reads it too. Nothing can be timed in such a thread, and what is counted is timed. So the thread is recorded no longer,
 * and neither are the threads and processes that inherit it; the others are. */
#include "ingest/shim/seal.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/core/segment_file.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"

enum forbidden { FORBIDS_NOTHING, FORBIDS_SYSTEM_CALLS, FORBIDS_CLOCK };

void process_seal(struct thread *thread) {
    enum { SEGMENT_READY = 2 << 20, POOL_SIZE = 256 << 20 }; /* the pool takes memory only as it is used */
    cpu_time_settle(thread);
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

/* Without a filter the call fails: so QEMU, libseccomp and systemd ask what the kernel can do. */
static enum forbidden filter_forbids(long filter) {
    return filter ? FORBIDS_SYSTEM_CALLS : FORBIDS_NOTHING;
}

static enum forbidden prctl_forbids(long option, long value, long filter) {
    if (option == PR_SET_SECCOMP) return value == SECCOMP_MODE_STRICT ? FORBIDS_CLOCK : filter_forbids(filter);
    if (option == PR_SET_TSC) return value == PR_TSC_SIGSEGV ? FORBIDS_CLOCK : FORBIDS_NOTHING;
    return option == PR_SET_NO_NEW_PRIVS ? FORBIDS_SYSTEM_CALLS : FORBIDS_NOTHING;
}

static enum forbidden seccomp_forbids(long operation, long filter) {
    if (operation == SECCOMP_SET_MODE_STRICT) return FORBIDS_CLOCK;
    return operation == SECCOMP_SET_MODE_FILTER ? filter_forbids(filter) : FORBIDS_NOTHING;
}

/* A call that fails forbids nothing: then the thread is recorded again. */
static long call_blindly(long number, const long *arguments) {
    struct thread *thread = thread_enter(), *blinded = NULL;
    if (thread) RECORD(thread, blinded = thread_blind(thread));
    if (thread && !blinded) thread_leave(thread);
    long result = real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
    if (blinded && result != 0) RECORD(blinded, thread_unblind(blinded));
    return result;
}

static long call(long number, enum forbidden forbidden, const long *arguments) {
    if (forbidden == FORBIDS_CLOCK) return call_blindly(number, arguments);
    struct thread *thread = forbidden == FORBIDS_SYSTEM_CALLS ? thread_enter() : NULL;
    if (thread) {
        RECORD(thread, process_seal(thread));
        thread_leave(thread);
    }
    return real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
}

HOOK int prctl(int option, ...) {
    va_list list;
    long arguments[5] = {option};
    va_start(list, option);
    for (int i = 1; i < 5; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    return (int)call(SYS_prctl, prctl_forbids(option, arguments[1], arguments[2]), arguments);
}

/* The arguments are those of syscall; what a caller did not pass is not used, only passed on. */
long prctl_call(long number, long option, long value, long third, long fourth, long fifth);
long seccomp_call(long number, long operation, long flags, long third, long fourth, long fifth);

__attribute__((used, visibility("hidden"))) long prctl_call(long number, long option, long value, long third,
                                                            long fourth, long fifth) {
    const long arguments[] = {option, value, third, fourth, fifth};
    return call(number, prctl_forbids((int)option, value, third), arguments);
}

__attribute__((used, visibility("hidden"))) long seccomp_call(long number, long operation, long flags, long third,
                                                              long fourth, long fifth) {
    const long arguments[] = {operation, flags, third, fourth, fifth};
    return call(number, seccomp_forbids((unsigned)operation, third), arguments);
}
