#include "ingest/record/budget.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "ingest/record/segment_view.h"
#include "ingest/segment.h"

#define LEAST_CPU_NS 2e6 /* less tells nothing: it is added to what comes */

/* ---- processes ---------------------------------------------------------------------------------------------------- */

struct budgeted {
    char *name; /* of the segment */
    int file;   /* -1: it is over */
    clockid_t clock;
    uint64_t cpu_ns, ticks, events, passed, locks, locks_sampled, locks_passed; /* as of the last look */
};

struct budget {
    int directory, control; /* control: -1 where it cannot be written */
    bool uses_tsc, is_stopping;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t stopped;
    struct map names; /* name of a segment -> index; -1: it is over, and passed over */
    struct budgeted *processes;
    size_t count, capacity;
    struct budget_state state;
    struct budget_sums since;                     /* the last decision */
    struct budget_levels highest, coarsest, told; /* in this window, of the run, in the control file */
    int64_t started_ns, exact_ns, locks_exact_ns,
        noted_ns; /* CLOCK_MONOTONIC; exact_ns: a time; noted_ns: the last budget_note_others */
    uint64_t start_ticks;
    double others_ns, others_rate; /* by then; ns a ns since the note before */
};

#define LOAD(member) atomic_load_explicit(&head.member, memory_order_relaxed)

static bool read_head(int file, struct segment *head) {
    return pread(file, head, sizeof *head, 0) == (ssize_t)sizeof *head && head->magic == SEGMENT_MAGIC &&
           head->version == SEGMENT_VERSION && head->pid > 0;
}

static uint64_t cpu_of(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec : 0;
}

static void add_process(struct budget *budget, const char *name, size_t size) {
    struct segment head;
    clockid_t clock;
    int file = openat(budget->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    if (!read_head(file, &head) || clock_getcpuclockid(head.pid, &clock) != 0) {
        close(file); /* it is looked for again: the header is written when the file is there */
        return;
    }
    if (budget->count == budget->capacity) {
        budget->capacity = budget->capacity ? 2 * budget->capacity : 16;
        budget->processes = xrealloc(budget->processes, budget->capacity * sizeof *budget->processes);
    }
    map_put(&budget->names, name, size, NULL)->value = (int64_t)budget->count;
    /* What it used before its segment was made is no business of ours; of what came then until now, neither its CPU time is known nor, so, its cost. */
    budget->processes[budget->count++] = (struct budgeted){.name = xstrdup(name),
                                                           .file = file,
                                                           .clock = clock,
                                                           .cpu_ns = cpu_of(clock),
                                                           .ticks = LOAD(budget_ticks),
                                                           .events = LOAD(budget_events),
                                                           .passed = LOAD(budget_passed),
                                                           .locks = LOAD(budget_locks),
                                                           .locks_sampled = LOAD(budget_locks_sampled),
                                                           .locks_passed = LOAD(budget_locks_passed)};
}

static void find_processes(struct budget *budget) {
    int copy = openat(budget->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0) close(copy);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".seg") == 0 && !map_find(&budget->names, entry->d_name, size))
            add_process(budget, entry->d_name, size);
    }
    if (list) closedir(list);
}

static double ns_of(const struct budget *budget, double ticks) {
    uint64_t elapsed = __rdtsc() - budget->start_ticks;
    if (!budget->uses_tsc || !elapsed) return ticks;
    return ticks * (double)(clock_monotonic_ns() - budget->started_ns) / (double)elapsed;
}

/* What came since; a program can write anything there, also less than before. */
static double rise(uint64_t now, uint64_t *before) {
    double more = now > *before ? (double)(now - *before) : 0;
    *before = now;
    return more;
}

static void end(struct budget *budget, struct budgeted *process) {
    struct map_entry *entry = map_find(&budget->names, process->name, strlen(process->name));
    if (entry) entry->value = -1;
    close(process->file);
    free(process->name);
    *process = budget->processes[--budget->count];
    if (process == &budget->processes[budget->count]) return;
    entry = map_find(&budget->names, process->name, strlen(process->name));
    if (entry) entry->value = process - budget->processes;
}

/* The CPU time and what the hooks say, of one moment: where we had no processor in between, once more. 0: it is over. */
static uint64_t read_moment(const struct budgeted *process, struct segment *head) {
    enum { MOMENT_NS = 100000, TRIES = 4 };
    uint64_t before_ns, cpu_ns = cpu_of(process->clock);
    for (int i = 0; i < TRIES && cpu_ns; i++) {
        before_ns = cpu_ns;
        if (!read_head(process->file, head)) return 0;
        cpu_ns = cpu_of(process->clock);
        if (cpu_ns <= before_ns + MOMENT_NS) break;
    }
    return cpu_ns;
}

/* False: it is over, or another program runs in the process, which has a segment of its own: its CPU time must not count twice. */
static bool look_at_process(struct budget *budget, struct budgeted *process) {
    struct segment head;
    if (segment_is_written(budget->directory, process->name) == 0) return false;
    uint64_t cpu_ns = read_moment(process, &head);
    if (!cpu_ns) return false;
    double cpu = rise(cpu_ns, &process->cpu_ns), recorded = ns_of(budget, rise(LOAD(budget_ticks), &process->ticks));
    double passed = rise(LOAD(budget_passed), &process->passed);
    double passed_ns = ns_of(budget, passed * (double)LOAD(budget_pass_cost) / 256);
    struct budget_sums sums = {.recorded_ns = recorded < cpu ? recorded : cpu,
                               .events = rise(LOAD(budget_events), &process->events),
                               .passed_ns = passed_ns < cpu ? passed_ns : cpu,
                               .passed = passed,
                               .locks = rise(LOAD(budget_locks), &process->locks),
                               .locks_sampled = rise(LOAD(budget_locks_sampled), &process->locks_sampled),
                               .locks_passed = rise(LOAD(budget_locks_passed), &process->locks_passed),
                               .cpu_ns = cpu};
    budget_add(&budget->since, &sums);
    return true;
}

/* ---- the thread that looks ---------------------------------------------------------------------------------------- */

static uint32_t higher(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void note_levels(struct budget_levels *highest, struct budget_levels now) {
    *highest = (struct budget_levels){higher(highest->heap, now.heap), higher(highest->locks, now.locks)};
}

static struct budget_levels levels_of(const struct budget_state *state) {
    return (struct budget_levels){state->level, state->lock_level};
}

/* Writes the levels of the state into the control file. */
static void tell_levels(struct budget *budget) {
    struct budget_levels now = levels_of(&budget->state);
    int64_t age_ns = clock_monotonic_ns() - budget->started_ns;
    if (now.heap && budget->exact_ns < 0) budget->exact_ns = age_ns;
    if (now.locks && budget->locks_exact_ns < 0) budget->locks_exact_ns = age_ns;
    note_levels(&budget->highest, now);
    note_levels(&budget->coarsest, now);
    const uint32_t told[] = {now.heap, now.locks, budget->coarsest.heap, budget->coarsest.locks};
    _Static_assert(offsetof(struct control, lock_coarsest) - offsetof(struct control, sample_level) == 3 * sizeof *told,
                   "side by side");
    ssize_t size = pwrite(budget->control, told, sizeof told, offsetof(struct control, sample_level));
    if (size == (ssize_t)sizeof told) budget->told = now;
    budget->state.level = budget->told.heap; /* it is as it was where they could not be written */
    budget->state.lock_level = budget->told.locks;
}

static int64_t time_to_look(int64_t age_ns) {
    enum { FIRST_NS = 5000000, LAST_NS = 100000000, OF_AGE = 10 };
    int64_t time_ns = age_ns / OF_AGE;
    return time_ns < FIRST_NS ? FIRST_NS : time_ns < LAST_NS ? time_ns : LAST_NS;
}

static void look_once(struct budget *budget, int64_t since_ns) {
    find_processes(budget);
    for (size_t i = budget->count; i > 0; i--)
        if (!look_at_process(budget, &budget->processes[i - 1])) end(budget, &budget->processes[i - 1]);
    budget->since.other_ns += budget->others_rate * (double)since_ns;
    if (budget->since.cpu_ns < LEAST_CPU_NS) return;
    struct budget_levels before = levels_of(&budget->state);
    budget_decide(&budget->state, &budget->since);
    budget->since = (struct budget_sums){0};
    if (budget->state.level != before.heap || budget->state.lock_level != before.locks) tell_levels(budget);
}

static void *look(void *context) {
    struct budget *budget = context;
    int64_t looked_ns = clock_monotonic_ns();
    pthread_mutex_lock(&budget->lock);
    while (!budget->is_stopping) {
        int64_t now_ns = clock_monotonic_ns(), due_ns;
        look_once(budget, now_ns - looked_ns);
        looked_ns = now_ns;
        due_ns = clock_monotonic_ns() + time_to_look(now_ns - budget->started_ns);
        const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        pthread_cond_clockwait(&budget->stopped, &budget->lock, CLOCK_MONOTONIC, &due);
    }
    pthread_mutex_unlock(&budget->lock);
    return NULL;
}

struct budget *budget_start(int directory, double share, bool uses_tsc) {
    struct budget *budget = xcalloc(1, sizeof *budget);
    sigset_t all, before;
    int control = openat(directory, "control", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    *budget = (struct budget){.directory = directory,
                              .control = control,
                              .uses_tsc = uses_tsc,
                              .state.share = share,
                              .started_ns = clock_monotonic_ns(),
                              .start_ticks = __rdtsc(),
                              .exact_ns = -1,
                              .locks_exact_ns = -1};
    budget->noted_ns = budget->started_ns;
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->stopped, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&budget->thread, NULL, look, budget) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started) return budget;
    if (control >= 0) close(control);
    free(budget);
    return NULL;
}

void budget_stop(struct budget *budget) {
    if (!budget) return;
    pthread_mutex_lock(&budget->lock);
    budget->is_stopping = true;
    pthread_cond_signal(&budget->stopped);
    pthread_mutex_unlock(&budget->lock);
    pthread_join(budget->thread, NULL);
    while (budget->count)
        end(budget, &budget->processes[budget->count - 1]);
    free(budget->processes);
    map_free(&budget->names);
    if (budget->control >= 0) close(budget->control);
    pthread_cond_destroy(&budget->stopped);
    pthread_mutex_destroy(&budget->lock);
    free(budget);
}

void budget_note_others(struct budget *budget, uint64_t events) {
    pthread_mutex_lock(&budget->lock);
    double ns = (double)events * BUDGET_HEAVY_NS;
    int64_t now_ns = clock_monotonic_ns(), time_ns = now_ns - budget->noted_ns;
    budget->others_rate = time_ns > 0 && ns > budget->others_ns ? (ns - budget->others_ns) / (double)time_ns : 0;
    budget->others_ns = ns;
    budget->noted_ns = now_ns;
    pthread_mutex_unlock(&budget->lock);
}

struct budget_levels budget_window(struct budget *budget) {
    pthread_mutex_lock(&budget->lock);
    struct budget_levels highest = budget->highest;
    budget->highest = levels_of(&budget->state);
    pthread_mutex_unlock(&budget->lock);
    return highest;
}

void budget_window_failed(struct budget *budget, struct budget_levels levels) {
    pthread_mutex_lock(&budget->lock);
    note_levels(&budget->highest, levels);
    pthread_mutex_unlock(&budget->lock);
}

struct budget_result budget_result(struct budget *budget) {
    pthread_mutex_lock(&budget->lock);
    struct budget_sums sums = budget->state.all;
    budget_add(&sums, &budget->since);
    sums.other_ns = budget->others_ns;
    struct budget_result result = {budget_share_of(&sums), budget->coarsest, budget->exact_ns, budget->locks_exact_ns};
    pthread_mutex_unlock(&budget->lock);
    return result;
}
