#include "ingest/shim/cpu/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/stacks/callstack.h"
#include "ingest/shim/stacks/local_frames.h"
#include "ingest/shim/stacks/unwind.h"

/* --- lives ---------------------------------------------------------------------------------------------------- */

void life_begins(struct thread *thread) {
    struct segment *segment = process->segment;
    uint64_t now = fetch_add_relaxed(&segment->threads_now, 1) + 1, most = load_relaxed(&segment->threads_most);
    while (now > most && !compare_exchange(&segment->threads_most, &most, now))
        continue;
    fetch_add_relaxed(&segment->threads_started, 1);
    store_relaxed(&thread->counters->starter, 0);
    store_relaxed(&thread->counters->in_call, 0);
    store_relaxed(&thread->counters->routine, 0);
    store_relaxed(&thread->counters->ran_at, 0);
    if (traces(TRACE_WALL) && !is_sealed()) store_relaxed(&thread->counters->tid, (uint32_t)trace_own_tid());
    store_release(&thread->counters->born_at, clock_ticks());
}

static void count_life(struct thread *thread, uint32_t stack, uint64_t life) {
    enum { SHORT_NS = 1000000 };
    struct start_counters *counters = start_counters_of(thread, stack);
    if (!counters) return;
    bool is_short = life < clock_ticks_of(SHORT_NS);
    add_own(&counters->ended, 1);
    add_own(&counters->life, life);
    max_own(&counters->life_max, life);
    add_own(&counters->short_count, is_short);
    add_own(&counters->short_life, is_short ? life : 0);
}

void life_ends(struct thread *thread) {
    struct thread_counters *record = thread->counters;
    uint64_t now = clock_ticks(), life = now > record->born_at ? now - record->born_at : 0;
    store_relaxed(&record->born_at, 0);
    store_relaxed(&record->tid, 0);
    store_relaxed(&record->has_lock, 0);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* as in wait_unpublish */
    add_own(&record->lived, life);
    if (record->starter) count_life(thread, (uint32_t)record->starter, life);
    fetch_add_relaxed(&process->segment->threads_now, -1);
}

/* Sealed, it may not even ask for its pid. */
static bool is_own_process(void) {
    return load_acquire(&process->state) == PROCESS_READY && !is_sealed() &&
           process->segment->pid == (int32_t)syscall(SYS_getpid);
}

void lives_end(void) {
    if (is_own_process()) store_relaxed(&process->segment->end_ticks, clock_ticks());
}

void lives_go_on(void) {
    if (is_own_process()) store_relaxed(&process->segment->end_ticks, 0);
}

/* --- starts --------------------------------------------------------------------------------------------------- */

union thread_function {
    void *(*posix)(void *);
    int (*c11)(void *);
};

struct thread_start {
    union thread_function function;
    void *argument;
    uint32_t stack;      /* id of the stack that starts it; 0: not known */
    int32_t starter;     /* the thread that does, where threads are traced */
    bool is_tick_hidden; /* a thread has the mask of the one that made it */
    bool has_more_stack;
};

/* Threads that were created and do not run yet. Static, because it must not come from the program's heap. When more
 * threads than this start at once, the others begin at their first hook. */
enum { STARTS = 256 };
static struct thread_start starts[STARTS];
static uint32_t starts_taken[STARTS];

static struct thread_start *take_start(struct thread_start start) {
    for (uint32_t i = 0; i < STARTS; i++) {
        uint32_t is_free = 0;
        if (load_relaxed(&starts_taken[i]) || !compare_exchange(&starts_taken[i], &is_free, 1)) continue;
        starts[i] = start;
        return &starts[i];
    }
    return NULL;
}

static void free_start(const struct thread_start *start) {
    store_release(&starts_taken[start - starts], 0);
}

/* In the new thread, whose function begins in `frame`. */
static struct thread_start begin(struct thread_start *start, struct frame frame) {
    struct thread_start taken = *start;
    free_start(start);
    cpu_inherit(taken.is_tick_hidden, taken.has_more_stack);
    struct thread *thread = thread_enter();
    if (!thread) return taken;
    store_relaxed(&thread->counters->starter, taken.stack);
    if (traces(TRACE_THREAD) && !is_paused()) RECORD(thread, trace_birth(thread, taken.stack, taken.starter));
    if (load_relaxed(&process->cpu_hz)) cpu_time_routine(thread, (uintptr_t)taken.function.posix, frame);
    thread_leave(thread);
    return taken;
}

/* The calls of the program's functions are tail calls, so no frame of ours is in the thread's stacks. */
static void *thread_main(void *start) {
    struct thread_start taken = begin(start, CALLER_FRAME());
    return taken.function.posix(taken.argument);
}

static int thread_main_c11(void *start) {
    struct thread_start taken = begin(start, CALLER_FRAME());
    return taken.function.c11(taken.argument);
}

/* NULL: nothing is recorded, or there is no room; then the thread is created as it is. */
static struct thread_start *start_from(union thread_function function, void *argument, struct frame frame) {
    struct thread_start start = {.function = function, .argument = argument, .is_tick_hidden = cpu_tick_is_hidden()};
    struct thread *thread = thread_enter();
    if (thread) {
        if (!is_paused()) RECORD(thread, start.stack = callstack(thread, frame); local_frames_note(thread, frame));
        if (traces(TRACE_THREAD)) start.starter = trace_own_tid();
        thread_leave(thread);
    }
    return load_acquire(&process->state) == PROCESS_READY ? take_start(start) : NULL;
}

/* The slot belongs to the new thread where there is one. */
static void start_ended(const struct thread_start *start, uint32_t stack, bool is_running) {
    struct thread *thread = is_running && stack ? thread_enter() : NULL;
    if (!is_running) free_start(start);
    if (!thread) return;
    struct start_counters *counters;
    RECORD(thread, counters = start_counters_of(thread, stack));
    if (counters) add_own(&counters->started, 1);
    thread_leave(thread);
}

/* Whether `roomier` is what the thread should be made with: the attributes with a larger stack, for a thread that was given as much as it needs. The
 * copy refers to what the program's attributes refer to. A stack of the program's own stays as it is. */
static bool wants_more_stack(const pthread_attr_t *attributes, pthread_attr_t *roomier) {
    enum { MORE = 16384 };
    void *low;
    size_t size;
    if (!attributes || !load_relaxed(&process->cpu_hz) || pthread_attr_getstacksize(attributes, &size) != 0 ||
        size >= CPU_SMALL_STACK)
        return false;
    /* Without a stack of the program's glibc answers with one that ends at address 0. */
    if (pthread_attr_getstack(attributes, &low, &size) != 0 || (uintptr_t)low + size != 0) return false;
    *roomier = *attributes;
    return pthread_attr_setstacksize(roomier, size + MORE) == 0;
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, struct thread_start *start) {
    pthread_attr_t roomier;
    start->has_more_stack = wants_more_stack(attributes, &roomier);
    if (start->has_more_stack && real.pthread_create(thread, &roomier, thread_main, start) == 0) return 0;
    start->has_more_stack = false;
    return real.pthread_create(thread, attributes, thread_main, start);
}

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                        void *argument) {
    struct thread_start *start = start_from((union thread_function){.posix = function}, argument, CALLER_FRAME());
    if (!start) return real.pthread_create(thread, attributes, function, argument);
    uint32_t stack = start->stack;
    int result = create(thread, attributes, start);
    start_ended(start, stack, result == 0);
    return result;
}

HOOK int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    struct thread_start *start = start_from((union thread_function){.c11 = function}, argument, CALLER_FRAME());
    if (!start) return real.thrd_create(thread, function, argument);
    uint32_t stack = start->stack;
    int result = real.thrd_create(thread, thread_main_c11, start);
    start_ended(start, stack, result == thrd_success);
    return result;
}

/* --- forks ---------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void fork_ended(pid_t child, uint64_t since, const uint64_t *caller) {
    struct thread *thread = is_paused() ? NULL : thread_enter();
    if (!thread) return;
    RECORD(thread, trace_fork(thread, child, since, callstack(thread, frame_at(caller))));
    thread_leave(thread);
}

/* The child may not read a clock either, and begins no recording that would say so. */
static pid_t fork_blindly(void) {
    pid_t child = real.fork();
    if (child == 0) fetch_add_relaxed(&shared_control()->unrecorded_processes, 1);
    return child;
}

/* vfork returns twice to one stack, so it has no hook. */
HOOK pid_t fork(void) {
    if (thread_is_blind()) return fork_blindly();
    if (!traces(TRACE_THREAD)) return real.fork();
    uint64_t since = clock_ticks();
    pid_t child = real.fork();
    if (child > 0) fork_ended(child, since, CALLER());
    return child;
}
