/* Futexes of other runtimes, which call the kernel by syscall(2) (syscall.c): Rust's Mutex and Condvar, std::atomic::wait of C++, and
 * libraries with locks of their own. glibc's locks call the kernel without it.
 *
 * What is seen is a wait in the kernel and a wake. Whether the word is a lock, and who holds it, only its owner knows. So
 * acquisitions without a wait are not seen. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/locks/waits.h"

static bool is_wait(int command) {
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

static bool is_wake(int command) {
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

/* EAGAIN: the word had changed, so there was nothing to wait for. */
static enum wait_result futex_result(long result) {
    if (result == 0) return WAIT_PASSED;
    return errno == ETIMEDOUT || errno == EINTR ? WAIT_INTERRUPTED : WAIT_REFUSED;
}

/* The counters of the word that is woken; NULL: none. The word may be gone once the call was made, so they come first. */
static struct wait_counters *count_wake(struct thread *thread, const void *word, uint32_t most, uint32_t *weight,
                                        const uint64_t *caller) {
    *weight = sample_event(thread);
    struct wait_counters *counters = *weight ? wait_counters_of_object(thread, word, OBJECT_FUTEX, caller) : NULL;
    if (!counters) return NULL;
    add_own(most > 1 ? &counters->broadcasts : &counters->signals, *weight);
    if (*waited_for(thread, word) == word) add_own(&counters->own_wakes, *weight);
    return counters;
}

static void count_woken(struct wait_counters *counters, uint64_t woken) {
    struct thread *thread = thread_enter();
    if (!thread) return;
    add_own(&counters->woken, woken);
    thread_leave(thread);
}

/* The arguments are those of syscall; what a caller did not pass is not used, only passed on. */
__attribute__((used, visibility("hidden"))) long futex_call(long number, uint32_t *word, int operation, uint32_t value,
                                                            const struct timespec *limit, uint32_t *other,
                                                            uint32_t bits);

long futex_call(long number, uint32_t *word, int operation, uint32_t value, const struct timespec *limit,
                uint32_t *other, uint32_t bits) {
    int command = operation & FUTEX_CMD_MASK;
    struct thread *thread = is_wait(command) || is_wake(command) ? lock_enter() : NULL;
    if (!thread) return real_syscall(number, word, operation, value, limit, other, bits);
    struct begun_wait wait = {0};
    struct wait_counters *wakes = NULL;
    uint32_t weight = 0;
    if (is_wake(command))
        RECORD(thread, wakes = count_wake(thread, word, value, &weight, CALLER()));
    else
        RECORD(thread, *waited_for(thread, word) = word;
               wait = wait_begins(thread, word, OBJECT_FUTEX, NULL, CALLER_FRAME()));
    thread_leave(thread);
    long result = real_syscall(number, word, operation, value, limit, other, bits);
    if (wakes && result > 0) count_woken(wakes, weight * (uint64_t)result);
    wait_ends(&wait, futex_result(result));
    return result;
}
