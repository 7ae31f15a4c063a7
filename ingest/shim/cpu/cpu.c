#include "ingest/shim/cpu/cpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "ingest/shim/core/readable.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/cpu/cpu_stack.h"
#include "ingest/shim/cpu/cpu_time.h"
#include "ingest/shim/cpu/threads.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/heap/leaks.h"
#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/stacks/intern.h"
#include "ingest/shim/stacks/unwind.h"

enum { TICK_SIGNAL = SIGPROF };

uint64_t cpu_interval_ns(void) {
    uint32_t hz = load_relaxed(&process->cpu_hz);
    return hz ? 1000000000u / hz : 0;
}

/* --- one tick ------------------------------------------------------------------------------------------------- */

/* A tick can meet the runtime with its lock taken, by this thread or by one that has lost its processor. Then it is kept until the
 * lock is free. */
static void count_tick(struct thread *thread, struct frame frame, uint64_t ticks) {
    struct walked_stack stack;
    unwind(thread, frame, &stack);
    uint32_t flags = cpu_stack_clean(thread, &stack) ? CPU_OF_RECORDER : 0;
    if (cpu_time_count(thread, &stack, flags, ticks)) {
        /* Inside a hook the thread may be writing an event. */
        if (traces(TRACE_CPU) && thread->is_ticking == TICK_BETWEEN) trace_tick(thread, stack_intern(thread, &stack));
        return;
    }
    if (cpu_time_keep(thread, &stack, flags, ticks)) return;
    if (flags)
        thread->owed += ticks;
    else
        fetch_add_relaxed(&process->segment->dropped_cpu, ticks);
}

/* What a tick needs of a stack besides the kernel's frame. */
enum { STACK_NEEDED = 4096 };

/* Whether a walk fits into what is left of the stack, on which a handler of the program may have used some. */
static ALWAYS_INLINE bool has_room(const ucontext_t *context) {
    uintptr_t used_from = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)context->uc_stack.ss_sp;
    return used_from >= context->uc_stack.ss_size || used_from >= STACK_NEEDED;
}

static void on_tick(int number, siginfo_t *info, void *context) {
    (void)number;
    struct thread *thread = self;
    uint64_t interval = cpu_interval_ns();
    if (info->si_code != SI_TIMER || !thread->has_timer || thread->is_ticking || !interval) return;
    if (unlikely(!has_room(context))) {
        fetch_add_relaxed(&process->segment->dropped_cpu, 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0));
        return;
    }
    int saved_errno = errno;
    if (is_paused()) {
        cpu_time_skip(thread);
        errno = saved_errno;
        return;
    }
    uint32_t state = thread->state;
    thread->is_ticking = state == THREAD_BUSY ? TICK_INSIDE : TICK_BETWEEN;
    thread->state = THREAD_BUSY;
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct frame frame = {
        .pc = (uint64_t)registers[REG_RIP] + 1, .sp = (uint64_t)registers[REG_RSP], .bp = (uint64_t)registers[REG_RBP]};
    /* An overrun is ticks that came while the signal was not delivered (a virtual machine that was stopped): the thread
     * was here. */
    if (state != THREAD_BUSY) {
        holds_mark(thread);
        cpu_time_pay(thread);
    }
    cpu_time_count_kept(thread);
    count_tick(thread, frame, 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0));
    thread->state = state;
    thread->is_ticking = TICK_NONE;
    errno = saved_errno;
}

/* --- timers --------------------------------------------------------------------------------------------------- */

static void list_thread(struct thread *thread) {
    process_lock();
    thread->next_timed = process->timed;
    thread->timed_place = &process->timed;
    if (process->timed) process->timed->timed_place = &thread->next_timed;
    process->timed = thread;
    process_unlock();
}

static void unlist_thread(struct thread *thread) {
    process_lock();
    if (thread->timed_place) *thread->timed_place = thread->next_timed;
    if (thread->timed_place && thread->next_timed) thread->next_timed->timed_place = thread->timed_place;
    thread->timed_place = NULL;
    process_unlock();
}

/* A child between fork and execve may give all signals their default action by system calls of its own, which no hook sees (Chromium's). A tick would end
 * it, and did: one of 30 runs of Chromium lost its zygote or its GPU process, and hung. So the first thread of a forked child has its first tick
 * this much later; such children have used 1 to 2 ms of CPU time when they call execve. */
static const uint64_t GRACE_OF_CHILD_NS = 10000000;
static uint32_t is_child_new; /* its first thread has no timer yet */

/* System calls and not timer_create, which may allocate. The first tick comes at a random moment of the interval, so
 * that a thread that is shorter than one is sampled in proportion to its time. */
static bool make_timer(struct thread *thread, clockid_t clock) {
    uint64_t interval = cpu_interval_ns();
    if (!interval) return false;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL};
    event._sigev_un._tid = thread->timer_tid;
    if (syscall(SYS_timer_create, clock, &event, &thread->timer) != 0) return false;
    uint64_t first = 1 + (__builtin_ia32_rdtsc() * 0x9e3779b97f4a7c15ull >> 20) % interval;
    if (exchange_acq_rel(&is_child_new, 0)) first += GRACE_OF_CHILD_NS;
    struct itimerspec times = {
        .it_interval = {(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)},
        .it_value = {(time_t)(first / 1000000000u), (long)(first % 1000000000u)},
    };
    store_relaxed(&thread->has_timer, 1);
    if (syscall(SYS_timer_settime, thread->timer, 0, &times, NULL) == 0) return true;
    store_relaxed(&thread->has_timer, 0);
    syscall(SYS_timer_delete, thread->timer);
    return false;
}

/* In a forked child, which has no timers: without this, one that calls no hook would get none. */
static void begin_child(void) {
    struct thread *thread = thread_enter();
    if (thread) thread_leave(thread);
}

/* Ticks stay on the threads' own stacks where signal stacks do not serve for them: threads have one together, which holds for a handler that ends
 * the process (varnishd), and two ticks at once would overwrite each other there, and did; or one is smaller than the kernel's frame and a walk, for a
 * handler of few lines: with 2 KiB the kernel ends the process at the first tick. */
static uint32_t are_signal_stacks_left;

static int tick_flags(void) {
    return SA_SIGINFO | SA_RESTART | (load_relaxed(&are_signal_stacks_left) ? 0 : SA_ONSTACK);
}

bool cpu_start(bool is_child) {
    static uint32_t has_fork_handler;
    struct sigaction action = {.sa_flags = tick_flags()}, old;
    bool is_free =
        real.sigaction(TICK_SIGNAL, NULL, &old) == 0 && (old.sa_handler == SIG_DFL || old.sa_sigaction == on_tick);
    if (!is_free) return false;
    store_relaxed(&is_child_new, is_child);
    action.sa_sigaction = on_tick;
    if (!exchange_acq_rel(&has_fork_handler, 1)) pthread_atfork(NULL, NULL, begin_child);
    return real.sigaction(TICK_SIGNAL, &action, NULL) == 0;
}

/* Whether the calling thread's stack was made larger for ticks. */
static __thread bool has_more_stack;

/* The mapping around a stack of the program's own may be larger than that, and none is found where there is no /proc: such threads have timers. */
static bool has_small_stack(const struct thread *thread) {
    uintptr_t size = thread->stack.high - thread->stack.low;
    return size && size < CPU_SMALL_STACK && !has_more_stack;
}

void cpu_begin(struct thread *thread) {
    cpu_time_begin(thread);
    thread->timer_tid = (pid_t)syscall(SYS_gettid);
    if (has_small_stack(thread) || !make_timer(thread, CLOCK_THREAD_CPUTIME_ID)) return;
    list_thread(thread);
    if (likely(cpu_interval_ns())) return;
    /* Meanwhile another thread has ended all timers, and did not see this one. */
    store_relaxed(&thread->has_timer, 0);
    syscall(SYS_timer_delete, thread->timer);
    unlist_thread(thread);
}

void cpu_end(struct thread *thread) {
    if (!thread->has_timer) return;
    cpu_time_end(thread);
    store_relaxed(&thread->has_timer, 0);
    if (!is_sealed()) syscall(SYS_timer_delete, thread->timer);
    unlist_thread(thread);
}

void cpu_stop(void) {
    store_relaxed(&process->cpu_hz, 0);
    process->segment->cpu_hz = 0;
    for (struct thread *thread = process->timed; thread; thread = thread->next_timed)
        if (load_relaxed(&thread->has_timer)) syscall(SYS_timer_delete, thread->timer);
}

/* Whoever wanted the signal meanwhile has it. */
static bool has_handler(void) {
    struct sigaction now;
    return real.sigaction(TICK_SIGNAL, NULL, &now) == 0 && now.sa_sigaction == on_tick;
}

/* The clock of another thread, as the kernel numbers it (CPUCLOCK_SCHED). */
static clockid_t clock_of(pid_t tid) {
    enum { PER_THREAD = 4, OF_SCHEDULER = 2 };
    return (clockid_t)(~(unsigned)tid << 3 | PER_THREAD | OF_SCHEDULER);
}

void cpu_again(uint32_t hz) {
    if (!hz || !has_handler()) return;
    store_relaxed(&process->cpu_hz, hz);
    process->segment->cpu_hz = hz;
    for (struct thread *thread = process->timed; thread; thread = thread->next_timed)
        if (load_relaxed(&thread->has_timer)) (void)make_timer(thread, clock_of(thread->timer_tid));
}

/* --- what the program sees of signals --------------------------------------------------------------------------- */

/* The signals whose handlers run on a signal stack and block ours while they do: one bit each. Two frames of the kernel
 * do not fit into 8 KiB, and it kills a program whose signal stack overflows. The program sees its own mask. */
static uint64_t masked_handlers;
/* Whether the program believes that this thread blocks our signal. */
static __thread bool is_tick_hidden;

static uint64_t signal_bit(int number) {
    return number > 0 && number <= 64 ? 1ull << (number - 1) : 0;
}

static bool wants_mask(int number, const struct sigaction *action) {
    return action && number != TICK_SIGNAL && load_relaxed(&process->cpu_hz) && action->sa_flags & SA_ONSTACK &&
           !sigismember(&action->sa_mask, TICK_SIGNAL);
}

static int change_handler(int number, const struct sigaction *action, struct sigaction *old) {
    bool is_masked = wants_mask(number, action), was_masked = load_relaxed(&masked_handlers) & signal_bit(number);
    struct sigaction masked;
    if (is_masked) {
        masked = *action;
        sigaddset(&masked.sa_mask, TICK_SIGNAL);
    }
    int result = real.sigaction(number, is_masked ? &masked : action, old);
    if (result != 0) return result;
    if (old && was_masked) sigdelset(&old->sa_mask, TICK_SIGNAL);
    if (is_masked)
        fetch_or_relaxed(&masked_handlers, signal_bit(number));
    else if (action && was_masked)
        fetch_and_relaxed(&masked_handlers, ~signal_bit(number));
    return 0;
}

static void unmask_handlers(void) {
    for (int number = 1; number <= 64; number++) {
        struct sigaction action;
        if (load_relaxed(&masked_handlers) & signal_bit(number) && real.sigaction(number, NULL, &action) == 0) {
            sigdelset(&action.sa_mask, TICK_SIGNAL);
            real.sigaction(number, &action, NULL);
        }
    }
    store_relaxed(&masked_handlers, 0);
}

bool cpu_tick_is_hidden(void) {
    return is_tick_hidden;
}

void cpu_inherit(bool is_hidden, bool has_more) {
    is_tick_hidden = is_hidden;
    has_more_stack = has_more;
}

static void block_tick(void) {
    sigset_t tick;
    sigemptyset(&tick);
    sigaddset(&tick, TICK_SIGNAL);
    real.pthread_sigmask(SIG_BLOCK, &tick, NULL);
}

/* The program wants the signal for itself: it must see none of ours. */
static void yield_signal(struct thread *thread) {
    cpu_time_settle(thread);
    process_lock();
    cpu_stop();
    process_unlock();
    unmask_handlers();
    if (is_tick_hidden) block_tick();
}

void cpu_over(struct thread *thread) {
    uint32_t hz = process->segment->cpu_hz;
    if (!load_relaxed(&process->cpu_hz)) return;
    yield_signal(thread);
    process->segment->cpu_hz = hz; /* what was recorded stays what it is */
}

/* Ignoring a signal drops those that are pending. */
void cpu_leave(void) {
    struct sigaction now, ignored = {.sa_handler = SIG_IGN}, initial = {.sa_handler = SIG_DFL};
    if (real.sigaction(TICK_SIGNAL, NULL, &now) != 0 || now.sa_sigaction != on_tick) return;
    real.sigaction(TICK_SIGNAL, &ignored, NULL);
    real.sigaction(TICK_SIGNAL, &initial, NULL);
}

void cpu_mask_handlers(void) {
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        bool is_handled =
            real.sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
        if (is_handled && wants_mask(number, &action)) change_handler(number, &action, NULL);
    }
}

/* Whether the signal stays ours: who gives all signals their default, as git does in each child between fork and execve, does not want it,
 * and sees the default that it had. */
static bool keeps_tick(int number, sighandler_t handler) {
    bool is_tick = number == TICK_SIGNAL && load_relaxed(&process->cpu_hz);
    if (is_tick && handler == SIG_DFL) return true;
    struct thread *thread = is_tick ? thread_enter() : NULL;
    if (!thread) return false;
    struct sigaction initial = {.sa_handler = SIG_DFL};
    RECORD(thread, yield_signal(thread));
    real.sigaction(TICK_SIGNAL, &initial, NULL); /* as it would be without us */
    thread_leave(thread);
    return false;
}

HOOK int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (action && keeps_tick(number, action->sa_handler)) action = NULL;
    int result = change_handler(number, action, old);
    bool is_ours = result == 0 && old && number == TICK_SIGNAL && old->sa_sigaction == on_tick;
    if (is_ours) *old = (struct sigaction){.sa_handler = SIG_DFL};
    return result;
}

static bool has_signal_stack_of_another(const struct thread *thread, uintptr_t address) {
    for (const struct thread *other = load_acquire(&process->all); other; other = other->next_of_all)
        if (other != thread && load_relaxed(&other->signal_stack) == address) return true;
    return false;
}

/* As large as the kernel's frame on this processor, which Linux says from 5.14 on, and what a tick needs. */
static bool has_room_for_tick(const stack_t *stack) {
    enum { FRAME_MOST = 4096 }; /* with AVX-512 */
    uintptr_t frame = getauxval(AT_MINSIGSTKSZ);
    return stack->ss_size >= (frame ? frame : FRAME_MOST) + STACK_NEEDED;
}

static void leave_signal_stacks(void) {
    struct sigaction now;
    store_relaxed(&are_signal_stacks_left, 1);
    if (real.sigaction(TICK_SIGNAL, NULL, &now) != 0 || now.sa_sigaction != on_tick) return;
    now.sa_flags &= ~SA_ONSTACK;
    real.sigaction(TICK_SIGNAL, &now, NULL);
}

static void note_signal_stack(struct thread *thread, const stack_t *stack) {
    uintptr_t address = stack->ss_flags & SS_DISABLE ? 0 : (uintptr_t)stack->ss_sp;
    exchange_acq_rel(&thread->signal_stack, address); /* of two at once one sees the other's */
    if (!address || load_relaxed(&are_signal_stacks_left)) return;
    if (!has_room_for_tick(stack) || has_signal_stack_of_another(thread, address)) leave_signal_stacks();
}

/* A thread that began before the recording may have one already. */
void cpu_note_signal_stack(struct thread *thread) {
    stack_t now;
    if (real.sigaltstack(NULL, &now) == 0) note_signal_stack(thread, &now);
}

/* The kernel answers EFAULT for what cannot be read. */
static bool is_readable(const stack_t *stack) {
    return memory_is_readable((uintptr_t)stack) && memory_is_readable((uintptr_t)&stack->ss_size);
}

/* Noted before the kernel has it, so no tick meets a stack that another thread's tick may be on, or one that is too small. */
HOOK int sigaltstack(const stack_t *stack, stack_t *old) {
    struct thread *thread = stack ? thread_enter() : NULL;
    if (!thread) return real.sigaltstack(stack, old);
    if (is_readable(stack)) RECORD(thread, note_signal_stack(thread, stack));
    int result = real.sigaltstack(stack, old);
    thread_leave(thread);
    return result;
}

HOOK sighandler_t signal(int number, sighandler_t handler) {
    if (keeps_tick(number, handler)) return SIG_DFL;
    sighandler_t old = real.signal(number, handler);
    if (old != SIG_ERR) fetch_and_relaxed(&masked_handlers, ~signal_bit(number));
    return old;
}

/* A thread that blocks all signals does not block ours, which is no event of the program's; but it sees that it does. */
static int change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old) {
    bool is_member = set && sigismember(set, TICK_SIGNAL) == 1, was_hidden = is_tick_hidden;
    bool is_kept = is_member && how != SIG_UNBLOCK && load_relaxed(&process->cpu_hz);
    sigset_t copy;
    if (is_kept) {
        copy = *set;
        sigdelset(&copy, TICK_SIGNAL);
    }
    int result = change(how, is_kept ? &copy : set, old);
    if (result != 0) return result;
    if (is_kept || (set && how == SIG_SETMASK) || is_member) is_tick_hidden = is_kept;
    if (old && was_hidden) sigaddset(old, TICK_SIGNAL);
    return 0;
}

HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(real.pthread_sigmask, how, set, old);
}

HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(real.sigprocmask, how, set, old);
}

/* --- the end of the process ------------------------------------------------------------------------------------ */

static void settle(void) {
    leaks_at_end();
    struct thread *thread = thread_enter();
    if (!thread) return;
    RECORD(thread, cpu_time_settle(thread); if (traces(TRACE_THREAD)) trace_moment(thread, EVENT_EXIT, "exit");
           lives_end());
    thread_leave(thread);
}

__attribute__((destructor)) static void process_exits(void) {
    settle();
}

/* The C library's own exit does not come here. */
HOOK void _exit(int status) {
    settle();
    for (;;)
        syscall(SYS_exit_group, status);
}

HOOK void _Exit(int status) {
    _exit(status); /* layers: the hook above, for a program that called it by the other name */
}

/* --- exec ----------------------------------------------------------------------------------------------------- */

/* A tick that comes during execve stays pending into the new program, which has no handler for it and would be killed.
 * So the timer is deleted first, and made again when execve fails. (A vfork child shares our memory but has no timer:
 * deleting fails there, and the parent's timer goes on.) */
static bool pause_timer(void) {
    struct thread *thread = thread_enter();
    if (thread) {
        RECORD(thread, cpu_time_hand_over(thread); if (traces(TRACE_THREAD)) trace_moment(thread, EVENT_EXEC, "exec");
               lives_end());
        thread_leave(thread);
    }
    thread = self;
    if (!thread->has_timer || syscall(SYS_timer_delete, thread->timer) != 0) return false;
    return true;
}

static int resume_timer(bool was_paused) {
    int saved_errno = errno;
    if (was_paused) make_timer(self, CLOCK_THREAD_CPUTIME_ID);
    if (load_acquire(&process->state) == PROCESS_READY) cpu_time_take_back();
    lives_go_on();
    errno = saved_errno;
    return -1;
}

HOOK int execve(const char *path, char *const *arguments, char *const *environment) {
    bool is_paused = pause_timer();
    real.execve(path, arguments, environment);
    return resume_timer(is_paused);
}

HOOK int execvpe(const char *file, char *const *arguments, char *const *environment) {
    bool is_paused = pause_timer();
    real.execvpe(file, arguments, environment);
    return resume_timer(is_paused);
}

HOOK int fexecve(int fd, char *const *arguments, char *const *environment) {
    bool is_paused = pause_timer();
    real.fexecve(fd, arguments, environment);
    return resume_timer(is_paused);
}

HOOK int execv(const char *path, char *const *arguments) {
    return execve(path, arguments, environ);
}

HOOK int execvp(const char *file, char *const *arguments) {
    return execvpe(file, arguments, environ);
}

/* The functions with their arguments in a list. */
#define COLLECT_ARGUMENTS(arguments, first)                                                                            \
    va_list list;                                                                                                      \
    size_t count = 0;                                                                                                  \
    va_start(list, first);                                                                                             \
    for (const char *at = first; at; at = va_arg(list, const char *))                                                  \
        count++;                                                                                                       \
    va_end(list);                                                                                                      \
    char *arguments[count + 1];                                                                                        \
    va_start(list, first);                                                                                             \
    arguments[0] = (char *)(uintptr_t)first;                                                                           \
    for (size_t i = 1; i <= count; i++)                                                                                \
    arguments[i] = va_arg(list, char *)

HOOK int execl(const char *path, const char *first, ...) {
    COLLECT_ARGUMENTS(arguments, first);
    va_end(list);
    return execve(path, arguments, environ);
}

HOOK int execlp(const char *file, const char *first, ...) {
    COLLECT_ARGUMENTS(arguments, first);
    va_end(list);
    return execvpe(file, arguments, environ);
}

HOOK int execle(const char *path, const char *first, ...) {
    COLLECT_ARGUMENTS(arguments, first);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}
