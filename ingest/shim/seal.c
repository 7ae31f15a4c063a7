/* The hooks of what a program forbids itself by.
 *
 * System calls: a program that is about to lock itself in (seccomp) must not be killed for a call of ours. It calls prctl for that, or
 * before that: seccomp(2) needs PR_SET_NO_NEW_PRIVS, except for root. At that call memory is reserved ahead, and from then on the
 * runtime makes no system call. What does not fit into that memory counts as dropped. Many a server
 * forbids itself new privileges and no system call (haproxy): the recorder sees from outside, a quarter of a second later, that there is no filter, and
 * says so in the segment. A filter that comes still later is seen by these hooks, unless it is installed by an instruction of the program's own.
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

#include "ingest/shim/core/control.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/segment_file.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"

uint32_t has_filter;

enum forbidden { FORBIDS_NOTHING, MAY_FORBID, FORBIDS_SYSTEM_CALLS, FORBIDS_CLOCK };

/* Of an earlier seal there is a pool already. */
static void make_pool(void) {
    enum { POOL_SIZE = 256 << 20 }; /* it takes memory only as it is used */
    if (process->pool) return;
    process->pool = private_memory(POOL_SIZE);
    process->pool_size = process->pool ? POOL_SIZE : 0;
}

void process_seal(struct thread *thread, enum seal seal) {
    enum { SEGMENT_READY = 2 << 20 };
    if (thread) cpu_time_settle(thread);
    process_lock();
    bool is_new = !is_sealed();
    if (is_new) {
        segment_populate(process->populated + SEGMENT_READY);
        make_pool();
        process->sealed_hz = process->cpu_hz;
        cpu_stop();
        store_release(&process->is_sealed, 1);
    }
    if (is_new || seal == SEAL_FOR_EVER) {
        store_relaxed(&process->may_open, seal == SEAL_FOR_NOW);
        store_release(&process->segment->is_open, 0);
        store_release(&process->segment->closed_ns, seal == SEAL_FOR_NOW ? clock_monotonic_ns() : 0);
    }
    process_unlock();
}

/* A filter that is installed meanwhile waits for the lock in process_seal, and seals the process anew. */
bool process_open_locked(void) {
    if (!is_sealed()) return true;
    if (!process->may_open || !load_acquire(&process->segment->is_open)) return false;
    process->may_open = 0;
    store_release(&process->segment->closed_ns, 0);
    store_release(&process->is_sealed, 0);
    cpu_again(process->sealed_hz);
    return true;
}

bool process_open(void) {
    if (!load_relaxed(&process->may_open) || !load_acquire(&process->segment->is_open)) return !is_sealed();
    process_lock();
    bool is_open = process_open_locked();
    process_unlock();
    return is_open;
}

/* Without a filter the call fails: so QEMU, libseccomp and systemd ask what the kernel can do. */
static enum forbidden filter_forbids(long filter) {
    return filter ? FORBIDS_SYSTEM_CALLS : FORBIDS_NOTHING;
}

/* Nobody looks at a service while it runs. */
static enum seal seal_for(enum forbidden forbidden) {
    return forbidden == MAY_FORBID && !control_is_of_service() ? SEAL_FOR_NOW : SEAL_FOR_EVER;
}

static enum forbidden prctl_forbids(long option, long value, long filter) {
    if (option == PR_SET_SECCOMP) return value == SECCOMP_MODE_STRICT ? FORBIDS_CLOCK : filter_forbids(filter);
    if (option == PR_SET_TSC) return value == PR_TSC_SIGSEGV ? FORBIDS_CLOCK : FORBIDS_NOTHING;
    return option == PR_SET_NO_NEW_PRIVS ? MAY_FORBID : FORBIDS_NOTHING;
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
    enum { THREADS_READY = 64 }; /* they take memory only as they are used */
    if (forbidden == FORBIDS_CLOCK) return call_blindly(number, arguments);
    struct thread *thread = forbidden == FORBIDS_NOTHING ? NULL : thread_enter();
    if (thread) {
        RECORD(thread, if (!is_sealed()) threads_ahead(THREADS_READY); process_seal(thread, seal_for(forbidden)));
        thread_leave(thread);
    } else if (forbidden == FORBIDS_SYSTEM_CALLS && load_acquire(&process->state) == PROCESS_READY) {
        process_seal(NULL, SEAL_FOR_EVER); /* by a thread that began while it was sealed for now */
    }
    uint32_t had_filter = forbidden == FORBIDS_SYSTEM_CALLS ? exchange_acq_rel(&has_filter, 1) : 0;
    long result = real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
    if (forbidden == FORBIDS_SYSTEM_CALLS && result != 0) store_relaxed(&has_filter, had_filter);
    return result;
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
