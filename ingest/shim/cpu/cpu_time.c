#include "ingest/shim/cpu/cpu_time.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"
#include "ingest/shim/core/slots.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/stacks/entries.h"
#include "ingest/shim/stacks/intern.h"
#include "ingest/shim/stacks/unwind.h"

enum {
    ENTRIES_KEPT = 1 << 12, /* a larger index is not left to the next thread */
    ENTRIES_PER_CHUNK = 64,
    THREADS_PER_CHUNK = 64,
    THREADS_MAX = 1 << 14, /* later threads have no labels */
    BALANCE_INTERVALS = 4, /* a balance above as many is credited */
    NAME_EVERY = 16,       /* samples of a thread after which its name is read again */
    PID_SHIFT = 42,
};

/* --- clocks --------------------------------------------------------------------------------------------------- */

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    if (syscall(SYS_clock_gettime, clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t process_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Its tables and clock are the process's own: not in a child of vfork, which shares the memory alone. */
static bool is_own_process(void) {
    return process->segment->pid == (int32_t)syscall(SYS_getpid);
}

static _Atomic uint64_t *exec_slot(void) {
    return &shared_control()->execs[(uint64_t)getpid() % SEGMENT_EXECS];
}

void cpu_time_start(void) {
    uint64_t mine = (uint64_t)getpid(), left = load_relaxed(exec_slot());
    if (control_attached_pid() == (int32_t)mine) store_relaxed(&process->cpu_counted, process_ns());
    if (left >> PID_SHIFT != mine) return;
    store_relaxed(&process->cpu_counted, (left & ((1ull << PID_SHIFT) - 1)) * 1000);
    store_relaxed(exec_slot(), 0);
}

void cpu_time_hand_over(struct thread *thread) {
    if (!cpu_interval_ns() || is_sealed() || !is_own_process()) return;
    cpu_time_settle(thread);
    uint64_t counted = is_paused() ? process_ns() : load_relaxed(&process->cpu_counted);
    store_relaxed(exec_slot(), (uint64_t)getpid() << PID_SHIFT | counted / 1000);
}

void cpu_time_take_back(void) {
    if (cpu_interval_ns() && !is_sealed() && is_own_process()) store_relaxed(exec_slot(), 0);
}

/* --- entries -------------------------------------------------------------------------------------------------- */

/* Needs process->lock. */
static void note_thread(struct thread *thread) {
    if (process->threads == THREADS_MAX) return;
    struct segment_thread *noted = list_room(&process->thread_chunk, sizeof *noted, THREADS_PER_CHUNK, CHUNK_THREADS);
    if (!noted) return;
    *noted = (struct segment_thread){.id = ++process->threads, .tid = (int32_t)syscall(SYS_gettid)};
    list_added(process->thread_chunk);
    thread->noted = noted;
}

static struct cpu_counters *add_entry(struct thread *thread, uint32_t id, uint32_t flags, uint64_t hash) {
    if (!thread->cpu_entries) thread->cpu_entries = index_small(thread);
    if (!thread->cpu_entries || !process_lock_from(thread)) return NULL;
    if (!thread->noted) note_thread(thread);
    struct segment_cpu *entry = list_room(&thread->cpu_chunk, sizeof *entry, ENTRIES_PER_CHUNK, CHUNK_CPU);
    if (entry) {
        *entry = (struct segment_cpu){.stack = id, .thread = thread->noted ? thread->noted->id : 0, .flags = flags};
        list_added(thread->cpu_chunk);
    }
    process_unlock();
    if (!entry) return NULL;
    uint64_t place = (uint64_t)((char *)entry - (char *)process->segment) / sizeof *entry;
    return index_put(&thread->cpu_entries, hash, place) ? &entry->counters : NULL;
}

static struct cpu_counters *counters_of(struct thread *thread, uint32_t id, uint32_t flags) {
    uint64_t hash = ((uint64_t)id << 1 | flags) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32) | 1ull << 63;
    uint32_t place = thread->cpu_entries ? index_find(thread->cpu_entries, hash) : 0;
    struct segment_cpu *entries = (struct segment_cpu *)process->segment;
    return place ? &entries[place].counters : add_entry(thread, id, flags, hash);
}

/* --- counting ------------------------------------------------------------------------------------------------- */

static void note_name(struct thread *thread) {
    if (thread->noted) syscall(SYS_prctl, PR_GET_NAME, thread->noted->name);
}

static struct routine_balance *balance_of(uint64_t routine);

static uint64_t routine_of(const struct thread *thread) {
    return thread->routine ? thread->routine : process->entry;
}

/* What the first sample of a thread stands for. The timer's first interval is cut at a random moment, so it is less than an interval,
 * unless threads that began in the same function ended without a sample. */
static uint64_t first_credit(struct thread *thread, uint64_t wanted) {
    const struct routine_balance *balance = balance_of(routine_of(thread));
    int64_t others = balance ? load_relaxed(&balance->ns) : 0;
    uint64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID), room = now > thread->cpu_counted ? now - thread->cpu_counted : 0;
    if (others > 0) room += (uint64_t)others;
    return wanted < room ? wanted : room;
}

/* Between two samples of a thread its clock goes on for an interval, so only the first one asks the clock. */
bool cpu_time_count(struct thread *thread, const struct walked_stack *stack, uint32_t flags, uint64_t ticks) {
    uint64_t interval = cpu_interval_ns();
    uint32_t id = stack->depth ? stack_intern(thread, stack) : 0;
    struct cpu_counters *counters = id ? counters_of(thread, id, flags) : NULL;
    if (!counters || !interval) return false;
    uint64_t taken = thread->cpu_samples ? ticks * interval : first_credit(thread, ticks * interval);
    if (thread->cpu_samples++ % NAME_EVERY == 0) note_name(thread);
    fetch_add_relaxed(&process->cpu_counted, taken);
    thread->cpu_counted += taken;
    add_own(&counters->samples, ticks);
    add_own(&counters->cpu_ns, taken);
    if (traces(TRACE_WALL)) store_relaxed(&thread->counters->ran_at, id);
    if (!(flags & CPU_OF_RECORDER)) fetch_add_relaxed(&process->segment->cpu_squares, ticks * ticks);
    return true;
}

void cpu_time_pay(struct thread *thread) {
    const uint64_t pc = LEAF_RECORDER;
    struct walked_stack stack = {.pc = &pc, .depth = 1, .flags = STACK_INCOMPLETE};
    uint64_t ticks = thread->owed;
    if (!ticks || !cpu_interval_ns()) return;
    unwind_changed(&stack);
    if (cpu_time_count(thread, &stack, CPU_OF_RECORDER, ticks)) thread->owed -= ticks;
}

/* A tick may come while the kept one is counted: then it finds the place taken. */
enum kept_state { KEPT_NONE, KEPT_ONE, KEPT_IS_COUNTED };

bool cpu_time_keep(struct thread *thread, const struct walked_stack *stack, uint32_t flags, uint64_t ticks) {
    if (!stack->depth) return false;
    /* A machine that stands still for some milliseconds can bring several ticks while the lock is taken once. */
    if (thread->kept_state == KEPT_ONE && load_relaxed(&process->lock)) return thread->kept_ticks += ticks, true;
    if (thread->kept_state != KEPT_NONE) return false;
    memcpy(thread->kept_pc, stack->pc, stack->depth * sizeof stack->pc[0]);
    thread->kept_depth = stack->depth;
    thread->kept_flags = stack->flags;
    thread->kept_cpu_flags = flags;
    thread->kept_ticks = ticks;
    thread->kept_state = KEPT_ONE;
    return true;
}

void cpu_time_count_kept(struct thread *thread) {
    if (likely(thread->kept_state != KEPT_ONE)) return;
    thread->kept_state = KEPT_IS_COUNTED;
    struct walked_stack stack = {.pc = thread->kept_pc, .depth = thread->kept_depth, .flags = thread->kept_flags};
    bool is_counted =
        unwind_note_all(thread, &stack) && cpu_time_count(thread, &stack, thread->kept_cpu_flags, thread->kept_ticks);
    thread->kept_state = is_counted ? KEPT_NONE : KEPT_ONE;
}

void cpu_time_skip(struct thread *thread) {
    store_relaxed(&process->cpu_counted, process_ns());
    thread->cpu_counted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread->cpu_samples++;
}

/* --- what no sample met ---------------------------------------------------------------------------------------- */

/* The stack of the threads that begin in `routine`, below `leaf` (0: none): the C library's frames below it are those of the first
 * such thread. */
static uint32_t routine_stack(struct thread *thread, uint64_t routine, uint64_t leaf) {
    uint64_t pc[2 + ROUTINE_CALLERS] = {leaf}, *own = leaf ? &pc[1] : pc;
    struct walked_stack stack = {.pc = pc, .depth = leaf ? 2 : 1};
    *own = routine + 1;
    if (routine != process->entry) {
        memcpy(own + 1, process->start_pc, process->start_depth * sizeof pc[0]);
        stack.depth += process->start_depth;
    }
    if (stack.depth > process->depth) stack.depth = process->depth;
    unwind_note(thread, *own);
    unwind_changed(&stack);
    return stack_intern(thread, &stack);
}

static bool credit_unsampled(struct thread *thread, uint64_t routine, uint64_t ns) {
    uint32_t id = routine_stack(thread, routine, LEAF_UNSAMPLED);
    struct cpu_counters *counters = id ? counters_of(thread, id, 0) : NULL;
    if (!counters) return false;
    uint64_t now = process_ns(), counted = load_relaxed(&process->cpu_counted);
    uint64_t room = now > counted ? now - counted : 0, taken = ns < room ? ns : room;
    note_name(thread);
    fetch_add_relaxed(&process->cpu_counted, taken);
    add_own(&counters->cpu_ns, taken);
    return true;
}

/* NULL: the table is full. Such threads count as the program's main function. */
static struct routine_balance *balance_of(uint64_t routine) {
    for (uint32_t i = 0; i < ROUTINES; i++) {
        struct routine_balance *balance = &process->routines[(routine / 16 + i) % ROUTINES];
        uint64_t found = load_relaxed(&balance->routine);
        if (found == routine || (found == 0 && compare_exchange(&balance->routine, &found, routine)) ||
            found == routine)
            return balance;
    }
    return NULL;
}

/* The clock of the thread that called exec goes on in the new image, where less than all of it is to be counted. */
static void begin_first(struct thread *thread) {
    uint64_t lived = clock_ns(CLOCK_THREAD_CPUTIME_ID), open = process_ns() - load_relaxed(&process->cpu_counted);
    store_relaxed(&process->entry, getauxval(AT_ENTRY));
    thread->cpu_counted = lived > open ? lived - open : 0;
}

static void publish_routine(struct thread *thread) {
    if (traces(TRACE_WALL)) store_relaxed(&thread->counters->routine, routine_stack(thread, routine_of(thread), 0));
}

void cpu_time_begin(struct thread *thread) {
    thread->cpu_counted = thread->owed = thread->cpu_samples = thread->routine = 0;
    thread->kept_state = KEPT_NONE;
    if (!process->entry) begin_first(thread);
    if (is_late()) thread->cpu_counted = clock_ns(CLOCK_THREAD_CPUTIME_ID); /* it may have run long before */
    thread->noted = NULL;
    publish_routine(thread);
    if (!thread->cpu_entries) return;
    uint64_t slots = thread->cpu_entries->mask + 1;
    if (slots > ENTRIES_KEPT) {
        private_memory_free(thread->cpu_entries, sizeof *thread->cpu_entries + slots * sizeof(struct index_entry));
        thread->cpu_entries = NULL;
    } else if (thread->cpu_entries->count) {
        memset(thread->cpu_entries->entries, 0, slots * sizeof(struct index_entry));
        thread->cpu_entries->count = 0;
    }
}

static void note_start(struct thread *thread, struct frame frame) {
    struct walked_stack stack;
    unwind(thread, frame, &stack);
    uint32_t depth = stack.depth < ROUTINE_CALLERS ? stack.depth : ROUTINE_CALLERS;
    memcpy(process->start_pc, stack.pc, depth * sizeof stack.pc[0]);
    store_release(&process->start_depth, depth);
}

void cpu_time_routine(struct thread *thread, uint64_t routine, struct frame frame) {
    uint32_t expected = 0;
    thread->routine = routine;
    if (!load_relaxed(&process->start_state) && compare_exchange(&process->start_state, &expected, 1))
        note_start(thread, frame);
    publish_routine(thread);
}

void cpu_time_end(struct thread *thread) {
    uint64_t interval = cpu_interval_ns(), routine = routine_of(thread);
    struct routine_balance *balance = balance_of(routine);
    if (!interval || is_paused() || is_sealed() || !balance) return;
    cpu_time_count_kept(thread);
    cpu_time_pay(thread);
    uint64_t lived = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t rest = (int64_t)(lived - thread->cpu_counted);
    /* What is left of a thread that was sampled often enough is the thread's own. */
    if (rest > 0 && lived > BALANCE_INTERVALS * interval && credit_unsampled(thread, routine, (uint64_t)rest)) return;
    int64_t now = __atomic_add_fetch(&balance->ns, rest, __ATOMIC_RELAXED);
    if (now <= (int64_t)(BALANCE_INTERVALS * interval)) return;
    int64_t taken = __atomic_exchange_n(&balance->ns, 0, __ATOMIC_RELAXED);
    if (taken > 0 && !credit_unsampled(thread, routine, (uint64_t)taken)) fetch_add_relaxed(&balance->ns, taken);
}

void cpu_time_settle(struct thread *thread) {
    if (!cpu_interval_ns() || is_paused() || is_sealed() || !is_own_process()) return;
    cpu_time_count_kept(thread);
    cpu_time_pay(thread);
    for (uint32_t i = 0; i < ROUTINES; i++) {
        struct routine_balance *balance = &process->routines[i];
        int64_t taken = load_relaxed(&balance->routine) ? __atomic_exchange_n(&balance->ns, 0, __ATOMIC_RELAXED) : 0;
        if (taken > 0) credit_unsampled(thread, balance->routine, (uint64_t)taken);
    }
    uint64_t now = process_ns(), counted = load_relaxed(&process->cpu_counted);
    if (now > counted) credit_unsampled(thread, process->entry, now - counted);
    thread->cpu_counted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread->cpu_samples = 0;
}
