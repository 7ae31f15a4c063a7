/* start.c: how a process and its threads begin and end to be recorded: what thread_enter does where it is more than a load. */
#include "ingest/shim/core/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/control.h"
#include "ingest/shim/core/hook_cost.h"
#include "ingest/shim/core/own_budget.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/sample.h"
#include "ingest/shim/core/segment_file.h"
#include "ingest/shim/core/slots.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"
#include "ingest/shim/cpu/threads.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/heap/peak.h"
#include "ingest/shim/heap/probes.h"
#include "ingest/shim/locks/earlier_waits.h"
#include "ingest/shim/locks/joins.h"
#include "ingest/shim/locks/plain_mutex.h"
#include "ingest/shim/locks/waits.h"
#include "ingest/shim/stacks/intern.h"
#include "ingest/shim/stacks/stackrange.h"
#include "ingest/shim/stacks/unwind.h"

enum { INDEX_FIRST = 1 << 9 };

/* These stay true across a fork. */
static pthread_key_t thread_end_key;
static uint32_t thread_end_key_made;
static uint32_t has_blind; /* a thread of it, or of a process that it was forked from, forbade itself the clock */

/* --- processes ----------------------------------------------------------------------------------------------- */

/* An allocator in the executable itself is called by it without a slot. */
static bool is_of_program(const void *function) {
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)function, &found) == 0 && !*found.dlfo_link_map->l_name;
}

/* A program may bring its own allocator, linked in or preloaded before us. Then the hooks of the heap are never called,
 * and the segment must not say that the heap was recorded. */
static bool is_heap_hooked(void) {
    if (is_late()) return !is_of_program((void *)real.malloc);
    return dlsym(RTLD_DEFAULT, "malloc") == (void *)malloc;
}

static void fill_header(uint64_t now) {
    struct segment *segment = process->segment;
    segment->version = SEGMENT_VERSION;
    segment->header_size = SEGMENT_HEADER_SIZE;
    segment->features = process->features;
    segment->pid = getpid();
    segment->ppid = getppid();
    segment->start_realtime_ns = now;
    segment->start_monotonic_ns = clock_monotonic_ns();
    segment->start_ticks = clock_ticks();
    segment->depth = process->depth;
    segment->cpu_hz = process->cpu_hz;
    ssize_t length = readlink("/proc/self/exe", segment->executable, sizeof segment->executable - 1);
    segment->executable[length > 0 ? length : 0] = '\0';
    store_relaxed(&segment->used, SEGMENT_HEADER_SIZE);
    store_release(&segment->magic, SEGMENT_MAGIC);
}

static bool start_tables(void) {
    process->stacks = index_new(INDEX_FIRST);
    process->objects = index_new(INDEX_FIRST);
    return process->stacks && process->objects && rules_start() && blocks_start();
}

static bool is_followed(void) {
    const struct control *control = shared_control();
    return !(control->features & FEATURE_NO_CHILDREN) || getpid() == control->first_pid;
}

static uint64_t clock_realtime_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* It is inherited by threads, and by processes over fork and exec. */
static bool is_clock_forbidden(void) {
    int mode = PR_TSC_ENABLE;
    return real_syscall(SYS_prctl, PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV;
}

static void find_own_range(void) {
    struct dl_find_object own;
    if (_dl_find_object((void *)(uintptr_t)find_own_range, &own) != 0) return;
    process->own_low = (uintptr_t)own.dlfo_map_start;
    process->own_high = (uintptr_t)own.dlfo_map_end;
}

static bool start_recording(uint64_t now_ns, bool is_child) {
    struct control *control = shared_control();
    find_own_range();
    process->features = control->features;
    if (!is_heap_hooked()) process->features &= ~(uint32_t)FEATURE_HEAP;
    process->depth = control->depth;
    process->ids_max = control->ids_max;
    process->sample_bytes = control->sample_bytes;
    process->sample_n = control->sample_n;
    process->has_budget = control->has_budget;
    store_relaxed(&process->cpu_hz, process->features & FEATURE_CPU ? control->cpu_hz : 0);
    if (!start_tables() || !(segment_map(now_ns) || (control_renew() && segment_map(now_ns)))) {
        fetch_add_relaxed(&shared_control()->unrecorded_processes, 1);
        control_unmake();
        return false;
    }
    if (process->cpu_hz && !cpu_start(is_child)) store_relaxed(&process->cpu_hz, 0);
    fill_header(now_ns);
    if (process->has_budget) hook_cost_start();
    if (process->has_budget && control_is_of_service()) own_budget_start();
    cpu_time_start();
    return true;
}

static void thread_ended(void *thread);

static void begin_trace(void) {
    uint32_t kinds = process->features & FEATURE_TRACE ? shared_control()->trace_kinds & ~TRACE_WALL : 0;
    if (kinds & TRACE_ALLOC && process->features & FEATURE_HEAP) process->features |= FEATURE_ALLOC_EVENTS;
    store_relaxed(&heap_notes.kinds, process->features & (FEATURE_LIFETIMES | FEATURE_ALLOC_EVENTS));
    store_relaxed(&trace_kinds, kinds | (process->features & FEATURE_WALL ? TRACE_WALL : 0));
}

static void switch_off(void) {
    store_relaxed(&heap_mode, HEAP_OFF);
    store_relaxed(&is_io_off, 1);
    store_relaxed(&is_locks_off, 1);
    store_relaxed(&trace_kinds, 0);
    store_release(&process->state, PROCESS_OFF);
}

/* A child of a process that is locked in: what it takes to begin a recording may kill it. */
static COLD bool stay_off(void) {
    if (shared_control()) fetch_add_relaxed(&shared_control()->unrecorded_processes, 1);
    switch_off();
    return false;
}

/* The first hook of a process. One thread starts it; what others do meanwhile is not recorded. libc is ready once
 * `environ` is set; before that (allocations of the dynamic loader) nothing is decided. */
static COLD bool process_start(void) {
    uint32_t state = load_acquire(&process->state);
    if (state == PROCESS_READY) return true;
    if (state != PROCESS_NEW || !environ) return false;
    if (!process_allocate()) return false;
    uint32_t expected = PROCESS_NEW;
    if (!compare_exchange(&process->state, &expected, PROCESS_STARTING)) return false;
    if (load_relaxed(&has_filter)) return stay_off();
    bool is_child = thread_end_key_made; /* or the next recording of one process */
    bool is_key_made = is_child || pthread_key_create(&thread_end_key, thread_ended) == 0;
    thread_end_key_made = is_key_made;
    bool is_controlled = is_key_made && control_find(), is_blind = is_clock_forbidden();
    if (is_controlled && is_blind) fetch_add_relaxed(&shared_control()->unrecorded_processes, 1);
    uint64_t now_ns = is_blind ? 0 : clock_realtime_ns();
    if (is_controlled)
        control_name_dumps(now_ns); /* also in a child that is not recorded: it must not overwrite its parent's */
    bool is_recording = is_controlled && !is_blind && is_followed() && start_recording(now_ns, is_child);
    if (!is_recording || !(process->features & FEATURE_HEAP))
        store_relaxed(&heap_mode, HEAP_OFF);
    else if (process->sample_n > 1 || process->sample_bytes > 1 || process->has_budget)
        store_relaxed(&heap_mode, HEAP_SAMPLED);
    else
        store_relaxed(&heap_mode, HEAP_EVERY);
    if (!is_recording || !(process->features & FEATURE_IO)) store_relaxed(&is_io_off, 1);
    /* A forked child begins at its first hook: of locks where there is no other. */
    bool has_locks = process->features & FEATURE_LOCKS || !(process->features & (FEATURE_HEAP | FEATURE_CPU));
    if (!is_recording || !has_locks)
        store_relaxed(&is_locks_off, 1);
    else
        plain_mutexes_try();
    if (is_recording) begin_trace();
    store_release(&process->state, is_recording ? PROCESS_READY : PROCESS_OFF);
    return is_recording;
}

/* --- threads -------------------------------------------------------------------------------------------------- */

/* Memory of an earlier recording whose threads have left it. It stays true across a fork: the child's is zeros then. */
static struct thread *spare;
static uint32_t spare_lock;

static void give_spare(struct thread *thread) {
    while (exchange_acq_rel(&spare_lock, 1))
        __builtin_ia32_pause();
    thread->next_free = spare;
    spare = thread;
    store_release(&spare_lock, 0);
}

/* Threads meet here at once, and who goes away without maps memory that nobody gives back. Not for ever, for a child that was forked meanwhile has it
 * locked. */
static bool take_spare_lock(void) {
    enum { PATIENCE = 2000 }; /* pauses: some 50 us */
    for (int i = 0; i < PATIENCE; i++) {
        if (exchange_acq_rel(&spare_lock, 1) == 0) return true;
        __builtin_ia32_pause();
    }
    return false;
}

/* Those that run already come to their first hooks at about the same time. If each mapped its own memory then, all would wait for the lock of the
 * process's memory, and whoever has it may have no processor. What none of them takes is for later threads. In a forked child it is zeros, too. */
enum { THREAD_ROOM = (sizeof(struct thread) + 4095) / 4096 * 4096 };
static char *ahead;
static uint64_t ahead_count, ahead_taken;

static bool is_unlimited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

void threads_ahead(uint64_t count) {
    enum { AHEAD_MOST = 512 };
    if (count > AHEAD_MOST) count = AHEAD_MOST;
    if (!count || ahead || !is_unlimited(RLIMIT_AS) || !is_unlimited(RLIMIT_DATA)) return;
    char *memory = wiped_memory_ahead(count * THREAD_ROOM);
    if (!memory) return;
    ahead = memory;
    store_release(&ahead_count, count);
}

static struct thread *take_ahead(void) {
    uint64_t count = load_acquire(&ahead_count);
    if (load_relaxed(&ahead_taken) >= count) return NULL;
    uint64_t at = fetch_add_relaxed(&ahead_taken, 1);
    return at < count ? (struct thread *)(void *)(ahead + at * THREAD_ROOM) : NULL;
}

static struct thread *thread_memory(void) {
    struct thread *thread = NULL;
    if (is_sealed()) return take_ahead();
    if (load_relaxed(&spare) && take_spare_lock()) {
        thread = spare;
        if (thread) spare = thread->next_free;
        store_release(&spare_lock, 0);
    }
    if (thread && madvise(thread, sizeof *thread, MADV_DONTNEED) == 0) return thread;
    thread = take_ahead();
    return thread ? thread : wiped_memory(sizeof *thread);
}

static struct thread *new_thread(void) {
    struct thread *thread = thread_memory();
    if (!thread) return NULL;
    process_lock();
    struct chunk *chunk = chunk_new(sizeof(struct thread_counters));
    if (chunk) {
        chunk_publish(chunk, CHUNK_THREAD);
        thread->next_of_all = process->all;
        process->all = thread;
    }
    process_unlock();
    if (!chunk) {
        private_memory_free(thread, sizeof *thread);
        return NULL;
    }
    thread->counters = chunk_body(chunk);
    peak_begin(thread);
    return thread;
}

/* A thread that ended leaves its counters to the next one: they are sums. */
static struct thread *take_thread(void) {
    process_lock();
    struct thread *thread = process->free_threads;
    if (thread) process->free_threads = thread->next_free;
    process_unlock();
    return thread ? thread : new_thread();
}

static void give_thread(struct thread *thread) {
    process_lock();
    thread->next_free = process->free_threads;
    process->free_threads = thread;
    process_unlock();
}

static void make_orphan(void) {
    struct thread *orphan = new_thread();
    if (!orphan) return;
    orphan->orphan = ORPHAN_SHARED;
    process_lock();
    bool is_first = !process->orphan;
    if (is_first) store_release(&process->orphan, orphan);
    process_unlock();
    if (is_first) return;
    orphan->orphan = ORPHAN_NOT; /* two threads ended at once: the next thread gets this one */
    give_thread(orphan);
}

static void begin_thread(struct thread *thread) {
    thread->errno_at = &errno;
    thread->held_count = 0;
    thread->light = NULL;
    thread->light_since = 0;
    thread->exit_rounds = 0;
    thread->birth_number = 0;
    thread->tid = 0;
    store_relaxed(&thread->signal_stack, 0);
    thread->traced_object = 0;
    thread->region_count = 0;
    thread->earlier_holds = is_late() ? EARLIER_HOLDS : 0;
    stack_range_start(thread);
    sample_start(thread);
    pthread_setspecific(thread_end_key, thread);
    life_begins(thread);
    join_begins();
    if (is_late() && !is_sealed()) cpu_note_signal_stack(thread);
    if (load_relaxed(&process->cpu_hz)) cpu_begin(thread);
}

/* Sealed for now: a thread that begins gets no timer, and would have none later. */
static bool stays_closed(void) {
    return stays_sealed() && load_relaxed(&process->may_open);
}

/* `self` points at the first while a thread begins, at the second in a thread that there was no room for, and at the third in one that began while the process
 * was sealed, which may end: each of their events is counted as dropped. Their states are set at run time, because initialised data would add a megabyte to
 * the file for each. */
static struct thread busy_thread, unrecorded_thread, closed_thread;

static void become_blind(void) {
    store_relaxed(&blind_thread.state, THREAD_BUSY);
    store_relaxed(&has_blind, 1);
    fetch_add_relaxed(&process->segment->blind_threads, 1);
    self = &blind_thread;
}

struct thread *thread_blind(struct thread *thread) {
    if (thread->orphan) return NULL;
    cpu_end(thread);
    become_blind();
    return thread;
}

void thread_unblind(struct thread *thread) {
    fetch_add_relaxed(&process->segment->blind_threads, -1);
    self = thread;
    thread_leave(thread);
}

/* The first hook of a thread: from here on it is recorded. Hooks that are called inside this function are not. */
static COLD struct thread *thread_start(void) {
    int saved_errno = errno;
    struct thread *before = self, *thread = NULL;
    store_relaxed(&busy_thread.state, THREAD_BUSY);
    self = &busy_thread;
    bool is_recording = process_start();
    bool is_blind = is_recording && load_relaxed(&has_blind) && is_clock_forbidden();
    bool is_closed = is_recording && stays_closed();
    if (is_recording && !is_blind && !is_closed) thread = take_thread();
    if (is_blind) {
        become_blind();
    } else if (thread) {
        begin_thread(thread);
        thread->state = THREAD_BUSY;
        self = thread;
        if (!is_sealed()) earlier_wait_ends(thread);
    } else if (is_recording) { /* without room this thread stays unrecorded, and does not try again */
        self = is_closed ? &closed_thread : &unrecorded_thread;
        store_relaxed(&self->state, THREAD_BUSY);
        fetch_add_relaxed(&process->segment->dropped_heap, 1);
    } else {
        self = before;
    }
    errno = saved_errno;
    return thread;
}

/* A thread still frees after its end was noted (its TLS, destructors of other keys). That is recorded in the orphan, a
 * struct thread which all such threads share. */
static COLD struct thread *enter_orphan(void) {
    struct thread *orphan = load_acquire(&process->orphan);
    if (!orphan) return NULL; /* it ended before this recording began */
    self = &busy_thread;
    while (exchange_acq_rel(&process->orphan_lock, 1))
        __builtin_ia32_pause();
    orphan->errno_at = &errno;
    orphan->held_count = 0;
    orphan->stack = (struct stack_range){0, 0}; /* of any thread: looked up when a stack is walked */
    return orphan;
}

void thread_leave_orphan(struct thread *thread) {
    if (thread->orphan == ORPHAN_STALE) {
        thread->state = THREAD_NONE;
        return;
    }
    store_release(&process->orphan_lock, 0);
    self = thread;
}

/* A thread that began while the process was sealed for now. A signal handler that comes meanwhile finds it busy: it would wait for a lock that is its own. */
static bool is_let_in(void) {
    self = &busy_thread;
    bool is_closed = stays_closed();
    self = &closed_thread;
    return !is_closed;
}

COLD struct thread *thread_enter_slowly(void) {
    struct thread *thread = self;
    uint32_t state = load_acquire(&process->state);
    bool is_left_out = thread == &unrecorded_thread || (thread == &closed_thread && !is_let_in());
    if (is_left_out && state == PROCESS_READY) {
        fetch_add_relaxed(&process->segment->dropped_heap, 1);
        return NULL;
    }
    if (thread->state == THREAD_WAITS && state == PROCESS_READY && !thread->orphan) {
        thread->state = THREAD_BUSY;
        RECORD(thread, earlier_wait_ends(thread));
        return thread;
    }
    bool is_busy = thread->state == THREAD_BUSY && thread != &unrecorded_thread && thread != &closed_thread;
    if (is_busy || thread == &busy_thread) return NULL;
    if (state == PROCESS_OFF || state == PROCESS_STARTING) return NULL;
    if (thread->orphan == ORPHAN_STALE) {
        thread_forget();
        give_spare(thread);
    } else if (state == PROCESS_READY && thread->orphan) {
        return enter_orphan();
    }
    return thread_start();
}

/* The destructor of our thread-specific key. It puts itself off to the last round of destructors, so that what the
 * others free is still recorded as the thread's own. */
static void thread_ended(void *value) {
    struct thread *thread = value;
    if (self == thread && thread->orphan == ORPHAN_STALE) {
        thread_forget();
        give_spare(thread);
        return;
    }
    if (load_acquire(&process->state) != PROCESS_READY || self != thread) return;
    if (++thread->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(thread_end_key, thread);
        return;
    }
    int saved_errno = errno;
    thread->state = THREAD_BUSY;
    cpu_end(thread);
    wait_abandoned(thread);
    if (traces(TRACE_THREAD | TRACE_WAIT)) trace_moment(thread, EVENT_DEATH, NULL); /* it lets joins go on */
    join_ends();
    life_ends(thread);
    store_relaxed(&thread->signal_stack, 0);
    if (!load_acquire(&process->orphan)) make_orphan();
    struct thread *orphan = load_acquire(&process->orphan);
    self = orphan ? orphan : &busy_thread;
    give_thread(thread);
    errno = saved_errno;
}

/* --- recordings of a process that runs on ------------------------------------------------------------------------ */

/* A thread inside a hook leaves it as a stale one; one that is outside begins anew at its next hook. The order of the two stores is that
 * in which others see them. A hook that is in between keeps its counters, which nobody reads any more. */
static void make_stale(void) {
    process_lock();
    for (struct thread *thread = process->all; thread; thread = thread->next_of_all)
        if (thread->orphan == ORPHAN_NOT) store_release(&thread->orphan, ORPHAN_STALE);
    for (struct thread *thread = process->all; thread; thread = thread->next_of_all)
        if (thread->state == THREAD_IDLE) thread->state = THREAD_NONE;
    process_unlock();
}

void recording_over(void) {
    switch_off();
    control_leave();
    make_stale();
}

bool recording_again(void) {
    if (load_acquire(&process->state) == PROCESS_NEW) return true;
    make_stale();
    struct thread *next;
    for (struct thread *thread = process->free_threads; thread; thread = next) {
        next = thread->next_free;
        give_spare(thread);
    }
    blocks_forget();
    store_relaxed(&is_io_off, 0);
    store_relaxed(&is_locks_off, 0);
    return process_renew();
}

/* The hooks of what is not recorded would only jump on. They stay where a later recording of the process may want them, or where one of them gave memory
 * away that only it knows. */
static void leave_idle_hooks(void) {
    static const char *const heap[] = {
        "malloc",        "calloc",   "realloc", "free",    "reallocarray",       "posix_memalign",
        "aligned_alloc", "memalign", "valloc",  "pvalloc", "malloc_usable_size", NULL};
    static const char *const locks[] = {"pthread_mutex_lock",
                                        "pthread_mutex_trylock",
                                        "pthread_mutex_unlock",
                                        "pthread_rwlock_rdlock",
                                        "pthread_rwlock_wrlock",
                                        "pthread_rwlock_tryrdlock",
                                        "pthread_rwlock_trywrlock",
                                        "pthread_rwlock_unlock",
                                        "pthread_spin_lock",
                                        "pthread_spin_trylock",
                                        "pthread_spin_unlock",
                                        "mtx_lock",
                                        "mtx_trylock",
                                        "mtx_unlock",
                                        NULL};
    if (control_is_of_service()) return;
    if (load_relaxed(&heap_mode) == HEAP_OFF && !pool_is_used()) slots_pass_by(heap);
    if (load_relaxed(&is_locks_off)) slots_pass_by(locks);
    slots_pass();
}

/* At load: a program that neither allocates nor locks gets a segment too, and with it its row in the warehouse. */
__attribute__((constructor)) static void process_loaded(void) {
    keep_pages_small();
    late_find();
    real_resolve(); /* before there are threads to see the pointers change */
    if (is_late()) return;
    struct thread *thread = thread_enter();
    if (thread) thread_leave(thread);
    leave_idle_hooks();
    bool is_to_measure = thread && process->has_budget && load_relaxed(&heap_mode) == HEAP_SAMPLED && !is_paused();
    int saved_errno = errno;
    if (is_to_measure) hook_cost_measure(thread);
    errno = saved_errno;
}
