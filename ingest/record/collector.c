#include "ingest/record/collector.h"

#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "base/units.h"
#include "ingest/record/budget.h"
#include "ingest/record/kernel/control_group.h"
#include "ingest/record/kernel/preemptions.h"
#include "ingest/record/kernel/run_delay.h"
#include "ingest/record/kernel/syscall_filter.h"
#include "ingest/record/names/resolve.h"
#include "ingest/record/recorded.h"
#include "ingest/record/recorded_events.h"
#include "ingest/record/recorded_rings.h"
#include "ingest/record/recording_note.h"
#include "ingest/record/wall.h"
#include "ingest/symbols/source_map.h"
#include "schema/facts.h"
#include "schema/schema.h"

/* ---- CPU time that no one saw ---- */

/* The CPU time that the kernel counted for the program and that no recorder in it saw.
 *
 * A recorder ends before its process does: the kernel takes 0.2 to 0.5 ms to take a small process down, more for a large one. And
 * nothing is seen of processes that nothing can be preloaded into. What is missing is credited to the function [unsampled], without a
 * caller, so that the CPU time of a run is that of getrusage(2). */

struct unseen_cpu {
    uint64_t used_ns; /* by the program and the children that it waited for, in user and kernel mode; 0: not known */
    uint64_t recorded_ns; /* of them, the recorder's own share included */
    uint64_t processes;   /* that were recorded */
};

/* Below the first share it is left alone, from the second one and that time a process on it is said. */
enum { CREDIT_PERCENT = 1, SAY_PERCENT = 10, SAY_NS = 50000000, END_NS = 5000000 };

/* Stores what is missing at the end of a run, if it is 1 % of what was used or more, and sets *credited_ns. `pid`: the program's. *text
 * says so where it is so much that it cannot be the ends of processes, else it is NULL; free it. */
static int unseen_cpu_store(struct resolver *resolver, int64_t run_id, pid_t pid, const struct unseen_cpu *cpu,
                            uint64_t *credited_ns, char **text, struct error *err) {
    uint64_t missing = cpu->used_ns > cpu->recorded_ns ? cpu->used_ns - cpu->recorded_ns : 0;
    *text = NULL;
    *credited_ns = 0;
    if (missing == 0 || missing < cpu->used_ns / 100 * CREDIT_PERCENT) return 0;
    int64_t trace = resolve_trace_below(resolver, NULL, "[unsampled]", NULL, 0, 0, err);
    sqlite3_stmt *statement =
        trace < 0 ? NULL : db_prepare(resolver->db, embedded_text("ingest/collector/unseen_cpu"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":pid", pid);
    db_bind_int(statement, ":trace", trace);
    db_bind_int(statement, ":ns", (int64_t)missing);
    if (db_run(resolver->db, statement, err)) return -1;
    if (sqlite3_changes(resolver->db->handle) == 0) return 0; /* no CPU time was recorded */
    *credited_ns = missing;
    if (missing < SAY_NS + cpu->processes * END_NS || missing < cpu->used_ns / 100 * SAY_PERCENT) return 0;
    *text =
        xasprintf("%s of %s of CPU time was not seen: processes that cannot be recorded, such as static ones and those "
                  "that were started without LD_PRELOAD",
                  units_ns((int64_t)missing).text, units_ns((int64_t)cpu->used_ns).text);
    return 0;
}

/* Address space that a process reserves for its segment. Memory is used only as the segment fills. */
#define SEGMENT_RESERVE (UINT64_C(16) << 30)

struct moment {
    uint64_t ticks, ns; /* of the time stamp counter and of CLOCK_MONOTONIC, at once */
};

/* Looks at waits for locks, between those at run delays: every 3 ms, for no more than 1 % of a processor, and only while threads had none for 2 %
 * of the time or more. */
enum { WAIT_LOOK_NS = 3000000, REST_OF_WAIT_LOOK = 100, PARTS_OF_DELAY = 50 };
struct wait_looks {
    bool are_on;         /* threads wait for locks, and threads have no processor */
    int64_t due_ns;      /* CLOCK_MONOTONIC; of the next */
    uint64_t last_ns;    /* of the last */
    uint64_t delay_ns;   /* run delay when that was last looked at, */
    int64_t delay_at_ns; /* and when it was */
};

struct collector {
    struct db *db;
    int64_t run_id;
    int directory;                   /* ours: a duplicate */
    bool uses_tsc, is_stale;         /* stale: the last flush was rolled back */
    bool is_dump_asked;              /* by collector_store_events */
    struct saved_rings saved;        /* by the last flush */
    int64_t sealed_ns, seal_took_ns; /* CLOCK_MONOTONIC; of the last seal before the end */
    bool is_reopened;                /* by collector_reopen: the segments stay */
    struct collector_options options;
    struct moment start;
    struct moment last;                            /* of a reopened recording that is over; zeros: it goes on */
    struct tick_rate known_rate;                   /* of a reopened recording; zeros: it is measured */
    struct recording_note note;                    /* the file says the same */
    int note_file;                                 /* -1: none */
    int64_t start_ns;                              /* the same moment as `start`, since the epoch */
    uint64_t program_started_ns, program_ended_ns; /* collector_set_span; 0: unknown */
    uint64_t program_waits, program_cpu_ns;        /* collector_set_usage */
    uint64_t unseen_cpu_ns;                        /* of them, what no recorder saw and was credited */
    struct run_delay run_delay;
    int64_t look_due_ns;            /* CLOCK_MONOTONIC: at the processor time and the waits of all processes */
    struct preemptions preemptions; /* with TRACE_PREEMPTED */
    struct wait_looks wait_looks;
    pid_t first_pid;                    /* of the program; 0: unknown */
    struct wall *wall;                  /* of FEATURE_WALL, once the program is there */
    struct budget *budget;              /* the same, of a budget */
    struct budget_levels budget_window; /* of the window that is being written */
    struct budget_levels coarsest;      /* of a reopened recording: the highest */
    struct resolver resolver;
    struct recorded **processes; /* those that are not finished */
    size_t count, capacity;
    struct map names;               /* of segment files met */
    struct map biases;              /* pid and start of a process -> the bias of its executable */
    struct collector_before before; /* of what was attached to; an age of 0: it was started for the recording */
    uint64_t paused_since_ns;       /* CLOCK_MONOTONIC; 0: recording is on */
    struct collector_totals gone;   /* of finished processes, and of the collector itself */
};

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

/* Reads both clocks at once: the closest of a few pairs, because an interrupt between the two reads separates them. */
static struct moment moment_now(void) {
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = __rdtsc(), ns = (uint64_t)clock_monotonic_ns(), after = __rdtsc();
        if (after - before >= least) continue;
        least = after - before;
        best = (struct moment){before + least / 2, ns};
    }
    return best;
}

/* Now, or the last moment of a recording that is over. */
static struct moment recording_now(const struct collector *collector) {
    return collector->last.ns ? collector->last : moment_now();
}

/* ns since the epoch, by the monotonic clock: windows must not overlap when somebody sets the clock. */
static int64_t flush_time(const struct collector *collector) {
    return collector->start_ns + (int64_t)(recording_now(collector).ns - collector->start.ns);
}

/* The counter must run at one rate in all states of the processor, and the kernel must trust it on this machine (it
 * compares the sockets' counters at boot and takes another clock where they differ). */
static bool tsc_is_usable(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) return false;
    char source[8] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t size = read(file, source, sizeof source - 1);
    close(file);
    return size >= 4 && memcmp(source, "tsc\n", 4) == 0;
}

static struct tick_rate tick_rate(const struct collector *collector) {
    if (!collector->uses_tsc) return (struct tick_rate){1, 1};
    if (collector->known_rate.ticks) return collector->known_rate;
    struct moment now = moment_now();
    return (struct tick_rate){now.ns - collector->start.ns, now.ticks - collector->start.ticks};
}

static uint64_t paused_ns(const struct collector *collector) {
    uint64_t since = collector->paused_since_ns;
    return collector->gone.paused_ns + (since ? (uint64_t)clock_monotonic_ns() - since : 0);
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static int write_control(int directory, const struct collector_options *options, bool uses_tsc, struct error *err) {
    struct control control = {.magic = SEGMENT_MAGIC,
                              .version = SEGMENT_VERSION,
                              .size = sizeof control,
                              .features = options->features | (uses_tsc ? FEATURE_TSC : 0),
                              .depth = options->depth,
                              .ids_max = options->ids_max,
                              .sample_n = options->sample_n,
                              .sample_bytes = options->sample_bytes,
                              .cpu_hz = options->cpu_hz,
                              .trace_max = options->trace_max,
                              .trace_kinds = options->trace_kinds,
                              .trace_limit_ns = options->trace_limit_ns,
                              .trace_alloc = options->trace_alloc,
                              .trace_when_count = options->trace_when_count,
                              .is_paused = options->is_paused,
                              .has_budget = options->budget > 0,
                              .budget_ppm = (uint32_t)(options->budget * 1e6 + 0.5),
                              .segment_max = SEGMENT_RESERVE};
    memcpy(control.trace_when, options->trace_when, sizeof control.trace_when);
    int file = openat(directory, "control", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return error_fail(err, "control file of the recording: %s", strerror(errno));
    bool written = write(file, &control, sizeof control) == (ssize_t)sizeof control;
    int why = errno;
    if (close(file) || !written) return error_fail(err, "control file of the recording: %s", strerror(why));
    return 0;
}

/* For a process that has to store the recording in our place. */
static void write_note(struct collector *collector) {
    struct recording_note *note = &collector->note;
    if (collector->is_reopened) return;
    note->first_pid = collector->first_pid;
    note->program_started_ns = collector->program_started_ns;
    note->program_ended_ns = collector->program_ended_ns;
    note->program_waits = collector->program_waits;
    note->paused_ns = paused_ns(collector);
    recording_note_write(note, collector->note_file);
}

static struct collector *new_collector(struct db *db, int64_t run_id, int directory, struct error *err) {
    struct collector *made = xcalloc(1, sizeof *made);
    made->db = db;
    made->run_id = run_id;
    made->note_file = -1;
    made->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    run_delay_open(&made->run_delay, clock_monotonic_ns());
    if (made->directory >= 0) return made;
    error_fail(err, "private directory: %s", strerror(errno));
    run_delay_close(&made->run_delay);
    free(made);
    return NULL;
}

static void start_clocks(struct collector *collector) {
    collector->start = moment_now();
    if (collector->options.is_paused) collector->paused_since_ns = collector->start.ns;
    collector->start_ns = clock_realtime_ns() - (int64_t)((uint64_t)clock_monotonic_ns() - collector->start.ns);
    recording_note_init(&collector->note);
    collector->note.uses_tsc = collector->uses_tsc;
    collector->note.start_ns = collector->start.ns;
    collector->note.start_ticks = collector->start.ticks;
    collector->note.start_realtime_ns = collector->start_ns;
    collector->note_file = recording_note_open(collector->directory);
}

int collector_open(struct collector **collector, struct db *db, int64_t run_id, int directory,
                   const struct collector_options *options, struct error *err) {
    struct collector *made = new_collector(db, run_id, directory, err);
    *collector = NULL;
    if (!made) return -1;
    made->options = *options;
    made->uses_tsc = tsc_is_usable();
    if (write_control(directory, options, made->uses_tsc, err) || resolver_open(&made->resolver, db, err)) {
        collector_close(made);
        return -1;
    }
    start_clocks(made);
    write_note(made);
    *collector = made;
    return 0;
}

void collector_built(struct collector *collector, const struct ingest_program *program) {
    struct symbolizer *symbolizer = collector->resolver.symbolizer;
    source_map_built(symbolizer_sources(symbolizer), program->build_directory, program->source);
    symbolizer_find_sources(symbolizer_module(symbolizer, program->path, ""));
}

/* Programs have the file mapped, so they see the change at once. */
static int set_control(const struct collector *collector, size_t offset, uint32_t value, struct error *err) {
    int file = openat(collector->directory, "control", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return error_fail(err, "control file of the recording: %s", strerror(errno));
    ssize_t size = pwrite(file, &value, sizeof value, (off_t)offset);
    int why = errno;
    close(file);
    return size == (ssize_t)sizeof value ? 0 : error_fail(err, "control file of the recording: %s", strerror(why));
}

int collector_set_first(struct collector *collector, pid_t pid, struct error *err) {
    collector->first_pid = pid;
    write_note(collector);
    if (pid > 0) run_delay_watch(&collector->run_delay, pid); /* it may be over before its segment is found */
    run_delay_look_beside(&collector->run_delay);
    if (collector->options.features & FEATURE_WALL && !collector->wall)
        collector->wall = wall_start(collector->directory, collector->options.wall_hz, collector->paused_since_ns != 0);
    if (collector->options.features & FEATURE_WALL && !collector->wall)
        return error_fail(err, "--wall: no thread could be started");
    if (collector->options.budget > 0 && !collector->budget)
        collector->budget = budget_start(collector->directory, collector->options.budget, collector->uses_tsc);
    if (collector->options.budget > 0 && !collector->budget)
        return error_fail(err, "--budget: no thread could be started");
    return set_control(collector, offsetof(struct control, first_pid), (uint32_t)pid, err);
}

void collector_set_usage(struct collector *collector, uint64_t waits, uint64_t cpu_ns) {
    collector->program_waits = waits;
    collector->program_cpu_ns = cpu_ns;
    write_note(collector);
}

void collector_set_attached(struct collector *collector, struct collector_before before) {
    collector->before = before;
    if (before.age_ns <= 0) collector->before.age_ns = 1;
}

void collector_set_status(struct collector *collector, int wait_status) {
    collector->note.wait_status = wait_status;
    collector->note.has_status = 1;
    write_note(collector);
}

void collector_set_group(struct collector *collector, const struct control_group_use *use) {
    collector->note.group = *use;
    write_note(collector);
}

void collector_set_span(struct collector *collector, uint64_t started_ns, uint64_t ended_ns) {
    collector->program_started_ns = started_ns;
    collector->program_ended_ns = ended_ns;
    write_note(collector);
}

int collector_pause(struct collector *collector, bool is_paused, struct error *err) {
    if (is_paused == (collector->paused_since_ns != 0)) return 0;
    if (set_control(collector, offsetof(struct control, is_paused), is_paused, err)) return -1;
    wall_pause(collector->wall, is_paused);
    collector->gone.paused_ns = paused_ns(collector);
    collector->paused_since_ns = is_paused ? (uint64_t)clock_monotonic_ns() : 0;
    return 0;
}

void collector_close(struct collector *collector) {
    if (!collector) return;
    wall_stop(collector->wall);
    budget_stop(collector->budget);
    for (size_t i = 0; i < collector->count; i++)
        recorded_free(collector->processes[i]);
    free(collector->processes);
    map_free(&collector->names);
    map_free(&collector->biases);
    run_delay_close(&collector->run_delay);
    preemptions_free(&collector->preemptions);
    if (collector->resolver.db) resolver_close(&collector->resolver);
    if (collector->note_file >= 0) close(collector->note_file);
    close(collector->directory);
    free(collector);
}

/* ---- looking for processes --------------------------------------------------------------------------------------- */

static bool is_segment_name(const char *name) {
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".seg") == 0;
}

static void find_segments(struct collector *collector) {
    int copy = openat(collector->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list) {
        if (copy >= 0) close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list));) {
        bool added = false;
        if (!is_segment_name(entry->d_name)) continue;
        map_put(&collector->names, entry->d_name, strlen(entry->d_name), &added);
        if (!added) continue;
        if (collector->count == collector->capacity) {
            collector->capacity = collector->capacity ? collector->capacity * 2 : 16;
            collector->processes = xrealloc(collector->processes, collector->capacity * sizeof(struct recorded *));
        }
        collector->processes[collector->count++] = recorded_new(entry->d_name);
    }
    closedir(list);
}

/* A copy of a segment has a file beside it where its process ran when it was copied. */
static bool was_running(const struct collector *collector, const char *name) {
    char *mark = xasprintf("%s" RECORDING_RUNS_SUFFIX, name);
    bool is_there = faccessat(collector->directory, mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    free(mark);
    return is_there;
}

/* This is looked up before the segment is read. A process that ends after that is read again by the next flush. */
static bool still_runs(const struct collector *collector, const struct recorded *recorded) {
    if (collector->is_reopened && was_running(collector, recorded->name)) return true;
    int written = segment_is_written(collector->directory, recorded->name);
    if (written >= 0) return written;
    return recorded->head.pid <= 0 || kill(recorded->head.pid, 0) == 0 || errno == EPERM;
}

size_t collector_running(struct collector *collector) {
    size_t running = 0;
    find_segments(collector);
    for (size_t i = 0; i < collector->count; i++)
        running += still_runs(collector, collector->processes[i]);
    return running;
}

/* ---- a recording that another process began ---------------------------------------------------------------------- */

static int read_control(struct collector *collector, struct error *err) {
    struct control control;
    int file = openat(collector->directory, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t size = file < 0 ? -1 : pread(file, &control, sizeof control, 0);
    if (file >= 0) close(file);
    if (size != (ssize_t)sizeof control || control.magic != SEGMENT_MAGIC || control.version != SEGMENT_VERSION ||
        control.size != sizeof control)
        return error_fail(err, "control: is not that of a recording of this version");
    collector->options = (struct collector_options){.features = control.features,
                                                    .depth = control.depth,
                                                    .ids_max = control.ids_max,
                                                    .sample_n = control.sample_n,
                                                    .sample_bytes = control.sample_bytes,
                                                    .cpu_hz = control.cpu_hz,
                                                    .trace_max = control.trace_max,
                                                    .trace_kinds = control.trace_kinds,
                                                    .trace_limit_ns = control.trace_limit_ns,
                                                    .trace_alloc = control.trace_alloc,
                                                    .budget = control.has_budget ? control.budget_ppm / 1e6 : 0};
    collector->coarsest = (struct budget_levels){atomic_load_explicit(&control.sample_coarsest, memory_order_relaxed),
                                                 atomic_load_explicit(&control.lock_coarsest, memory_order_relaxed)};
    return 0;
}

/* The rate over the longest time that is known. */
static struct tick_rate noted_rate(const struct recording_note *note, bool is_of_now) {
    struct moment end = is_of_now ? moment_now() : (struct moment){note->flush_ticks, note->flush_ns};
    return end.ns > note->start_ns && end.ticks > note->start_ticks
               ? (struct tick_rate){end.ns - note->start_ns, end.ticks - note->start_ticks}
               : (struct tick_rate){1, 1};
}

struct latest_event {
    struct segment_view *view;
    uint64_t ticks;
};

/* Each thread fills its chunks in the order of time. */
static void on_events(void *context, size_t offset, uint64_t turn, uint64_t count) {
    struct latest_event *latest = context;
    struct segment_event event;
    if (!count || segment_view_events(latest->view, offset, turn, (size_t)count - 1, 1, &event) != 1) return;
    bool is_of_block = event.kind == EVENT_ALLOC || event.kind == EVENT_FREE; /* its end is no time */
    uint64_t ticks = is_of_block ? event.begin : event.end;
    if (latest->ticks < ticks) latest->ticks = ticks;
}

/* The process may have gone on without its recorder, and was killed then: its events say at least until when. 0: there are none, or
 * none that can be. */
static uint64_t latest_event(const struct collector *collector, struct segment_view *view) {
    static const struct segment_visitor visitor = {.event_chunk = on_events};
    struct latest_event latest = {.view = view};
    struct moment now = moment_now();
    if (!recording_note_is_of_now(&collector->note))
        return 0; /* of another start of the machine, whose clock was another */
    segment_view_walk(view, &visitor, &latest);
    return latest.ticks <= (view->head.features & FEATURE_TSC ? now.ticks : now.ns) ? latest.ticks : 0;
}

/* When the process ended or became another program, by CLOCK_MONOTONIC; the last moment that its segment knows where it was killed, 0
 * where there is none. */
static uint64_t ended_ns(const struct collector *collector, const struct recorded *recorded) {
    struct segment_view view;
    struct error ignored = {0};
    if (segment_view_open(&view, collector->directory, recorded->name, &ignored) <= 0) return 0;
    uint64_t ticks = atomic_load_explicit(&view.head.end_ticks, memory_order_relaxed);
    bool is_tsc = view.head.features & FEATURE_TSC;
    struct tick_rate rate = tick_rate(collector);
    if (!ticks) ticks = latest_event(collector, &view);
    segment_view_close(&view);
    if (!ticks || !is_tsc) return ticks;
    if (ticks < collector->start.ticks) return 0;
    return collector->start.ns + tick_scaled(ticks - collector->start.ticks, rate.ns, rate.ticks);
}

/* The last moment that anything is known of: the latest flush, or the end of a process. */
static struct moment last_known(const struct collector *collector) {
    struct tick_rate rate = tick_rate(collector);
    uint64_t ns = collector->start.ns;
    if (ns < collector->note.flush_ns) ns = collector->note.flush_ns;
    if (ns < collector->program_ended_ns) ns = collector->program_ended_ns;
    for (size_t i = 0; i < collector->count; i++) {
        uint64_t ended = ended_ns(collector, collector->processes[i]);
        if (ns < ended) ns = ended;
    }
    if (ns > INT64_MAX / 8) ns = INT64_MAX / 8; /* of a damaged segment */
    return (struct moment){collector->start.ticks + tick_scaled(ns - collector->start.ns, rate.ticks, rate.ns), ns};
}

static int take_note(struct collector *collector, struct error *err) {
    struct recording_note *note = &collector->note;
    if (recording_note_read(note, collector->directory, err) || read_control(collector, err)) return -1;
    bool is_of_now = recording_note_is_of_now(note);
    collector->uses_tsc = note->uses_tsc != 0;
    collector->known_rate = noted_rate(note, is_of_now);
    collector->start = (struct moment){note->start_ticks, note->start_ns};
    collector->start_ns = note->start_realtime_ns;
    collector->first_pid = note->first_pid;
    collector->program_started_ns = note->program_started_ns;
    collector->program_ended_ns = note->program_ended_ns;
    collector->program_waits = note->program_waits;
    collector->gone.paused_ns = note->paused_ns;
    if (faccessat(collector->directory, RECORDING_CUT_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        collector->last = (struct moment){note->flush_ticks, note->flush_ns};
    else if (!is_of_now || !collector_running(collector))
        collector->last = last_known(collector);
    if (collector->last.ns && !collector->program_ended_ns) collector->program_ended_ns = collector->last.ns;
    return 0;
}

int collector_reopen(struct collector **collector, struct db *db, int64_t run_id, int directory, struct error *err) {
    struct collector *made = new_collector(db, run_id, directory, err);
    *collector = NULL;
    if (!made) return -1;
    made->is_reopened = true;
    if (take_note(made, err) || resolver_open(&made->resolver, db, err)) {
        collector_close(made);
        return -1;
    }
    *collector = made;
    return 0;
}

/* 0, or -1 with the error set. A process that the earlier copy has not, or not whole, began after it. */
static int pass_earlier(struct collector *collector, struct recorded *recorded, int earlier,
                        const struct recording_note *note, struct error *err) {
    struct segment_view view;
    struct error ignored = {0};
    if (segment_view_open(&view, earlier, recorded->name, &ignored) <= 0) return 0;
    recorded->is_running = true;
    recorded_read(recorded, &collector->resolver, &view,
                  view.head.features & FEATURE_TSC ? note->flush_ticks : note->flush_ns);
    int64_t time_ns = collector->start_ns + (int64_t)(note->flush_ns - collector->start.ns);
    int code = recorded_pass(recorded, &collector->resolver, &view, time_ns, err);
    segment_view_close(&view);
    return code;
}

int collector_after(struct collector *collector, int earlier, struct error *err) {
    struct recording_note note;
    if (recording_note_read(&note, earlier, err)) return -1;
    find_segments(collector);
    for (size_t i = 0; i < collector->count; i++)
        if (pass_earlier(collector, collector->processes[i], earlier, &note, err)) return -1;
    return 0;
}

void collector_called(struct collector *collector, const char *file, const char *link) {
    resolver_called(&collector->resolver, file, link);
}

void collector_moved(struct collector *collector, const char *moved, const char *moved_to) {
    collector->resolver.moved = moved;
    collector->resolver.moved_to = moved_to;
}

/* ---- where programs were loaded ---------------------------------------------------------------------------------- */

static void note_bias(struct collector *collector, const struct recorded *recorded) {
    uint64_t bias;
    const int64_t process[] = {recorded->head.pid, (int64_t)recorded->head.start_realtime_ns};
    if (!address_space_bias(&recorded->space, recorded->head.executable, &bias)) return;
    map_put(&collector->biases, process, sizeof process, NULL)->value = (int64_t)bias;
}

bool collector_bias(const struct collector *collector, int64_t pid, int64_t started_ns, uint64_t *bias) {
    const int64_t process[] = {pid, started_ns};
    const struct map_entry *entry = map_find(&collector->biases, process, sizeof process);
    if (entry) *bias = (uint64_t)entry->value;
    return entry != NULL;
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

/* Distinct locks or cells. One of them may have several rows, one for each caller. */
static size_t distinct_things(const struct counts *counts) {
    struct map things = {0};
    for (size_t i = 0; i < counts->count; i++)
        map_put(&things, &counts->rows[i].key[1], 2 * sizeof(int64_t), NULL); /* thing and place */
    size_t count = things.count;
    map_free(&things);
    return count;
}

static uint64_t ticks_to_ns(const struct recorded *recorded, struct tick_rate rate, uint64_t ticks) {
    if (!(recorded->head.features & FEATURE_TSC) || !rate.ticks) return ticks;
    return tick_scaled(ticks, rate.ns, rate.ticks);
}

static double ns_a_tick(const struct recorded *recorded, struct tick_rate rate) {
    return recorded->head.features & FEATURE_TSC && rate.ticks ? (double)rate.ns / (double)rate.ticks : 1;
}

static uint64_t peak_bytes(const struct recorded *recorded) {
    const struct peak_levels *peak = (const void *)recorded->counts[MEASURE_PEAK].total;
    return peak->peak_bytes;
}

static void add_totals(struct collector_totals *totals, const struct collector *collector,
                       const struct recorded *recorded) {
    struct tick_rate rate = tick_rate(collector);
    uint64_t ids_max = collector->options.ids_max;
    const struct counts *counts = recorded->counts;
    const struct heap_sums *heap = (const void *)counts[MEASURE_HEAP].total;
    const struct lock_counters *locks = (const void *)counts[MEASURE_LOCK].total;
    const struct wait_counters *waits = (const void *)counts[MEASURE_WAIT].total;
    const struct task_counters *tasks = (const void *)counts[MEASURE_FIBER].total;
    const struct cpu_counters *cpu = (const void *)counts[MEASURE_CPU].total;
    totals->processes += recorded->process_id != 0;
    totals->running += recorded->is_running;
    totals->alloc_count += heap->alloc_count;
    totals->alloc_bytes += heap->alloc_bytes;
    totals->free_count += heap->free_count;
    totals->free_bytes += heap->free_bytes;
    if (totals->peak_bytes < peak_bytes(recorded)) totals->peak_bytes = peak_bytes(recorded);
    totals->sites += counts[MEASURE_HEAP].count;
    totals->acquires += recorded_events(recorded, MEASURE_LOCK);
    totals->contended += locks->contended + locks->read_contended + locks->timeouts + locks->unfinished;
    totals->wait_ns += ticks_to_ns(recorded, rate, locks->wait + locks->read_wait);
    totals->other_waits += waits->waited + waits->timeouts + waits->unfinished;
    totals->other_wait_ns += ticks_to_ns(recorded, rate, waits->wait);
    totals->locks += distinct_things(&counts[MEASURE_LOCK]);
    totals->cells += distinct_things(&counts[MEASURE_CELL]);
    totals->cell_events += recorded_events(recorded, MEASURE_CELL);
    totals->channels += counts[MEASURE_CHANNEL].count;
    totals->channel_events += recorded_events(recorded, MEASURE_CHANNEL);
    totals->fibers += tasks->spawns;
    const struct io_counters *io = (const void *)counts[MEASURE_IO].total;
    totals->io_calls += io->calls;
    totals->io_bytes += io->bytes;
    const struct mapping_counters *maps = (const void *)counts[MEASURE_MMAP].total;
    totals->maps += maps->map_count;
    if (maps->map_bytes > maps->unmap_bytes) totals->mapped_bytes += maps->map_bytes - maps->unmap_bytes;
    const struct cpu_counters *own = (const void *)counts[MEASURE_RECORDER].total;
    totals->recorder_samples += own->samples;
    totals->recorder_cpu_ns += own->cpu_ns;
    totals->cpu_samples += cpu->samples;
    totals->cpu_ns += cpu->cpu_ns;
    totals->cpu_squares += atomic_load_explicit(&recorded->head.cpu_squares, memory_order_relaxed);
    totals->alloc_variance += atomic_load_explicit(&recorded->head.alloc_variance, memory_order_relaxed);
    totals->free_variance += atomic_load_explicit(&recorded->head.free_variance, memory_order_relaxed);
    totals->alloc_byte_variance += atomic_load_explicit(&recorded->head.alloc_byte_variance, memory_order_relaxed);
    totals->free_byte_variance += atomic_load_explicit(&recorded->head.free_byte_variance, memory_order_relaxed);
    totals->heap_seen += recorded->threads.heap_recorded + recorded->threads.heap_passed;
    totals->locks_passed += (int64_t)(recorded->threads.lock_passed - recorded->threads.lock_left);
    totals->locks_excess += (int64_t)recorded->threads.lock_excess;
    totals->hold_variance += atomic_load_explicit(&recorded->head.hold_variance, memory_order_relaxed) *
                             HOLD_VARIANCE_UNIT * ns_a_tick(recorded, rate) * ns_a_tick(recorded, rate);
    totals->truncated += recorded->truncated;
    totals->capped += ids_max && atomic_load_explicit(&recorded->head.stacks, memory_order_relaxed) > ids_max;
    totals->corrupt += recorded->is_corrupt;
    totals->blind_threads += atomic_load_explicit(&recorded->head.blind_threads, memory_order_relaxed);
    totals->nameless += atomic_load_explicit(&recorded->head.nameless_addresses, memory_order_relaxed);
    uint64_t python = atomic_load_explicit(&recorded->head.python, memory_order_relaxed);
    bool is_unread = python && !atomic_load_explicit(&recorded->head.has_python_frames, memory_order_relaxed);
    totals->unread_python += is_unread;
    if (is_unread) totals->python_version = python <= UINT16_MAX ? (uint32_t)python : 1;
    totals->segment_bytes += atomic_load_explicit(&recorded->head.used, memory_order_relaxed);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        totals->dropped += counts[i].dropped;
        if (i == MEASURE_CPU) totals->cpu_dropped += counts[i].dropped;
        totals->events += recorded_events(recorded, i);
    }
}

static uint64_t unrecorded(const struct collector *collector) {
    struct control control;
    int file = openat(collector->directory, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return 0;
    ssize_t size = pread(file, &control, sizeof control, 0);
    close(file);
    return size == (ssize_t)sizeof control ? atomic_load_explicit(&control.unrecorded_processes, memory_order_relaxed)
                                           : 0;
}

void collector_totals(const struct collector *collector, struct collector_totals *totals) {
    *totals = collector->gone;
    for (size_t i = 0; i < collector->count; i++)
        add_totals(totals, collector, collector->processes[i]);
    totals->cpu_ns += collector->unseen_cpu_ns;
    totals->unseen_cpu_ns = collector->unseen_cpu_ns;
    totals->unrecorded = unrecorded(collector);
    if (collector->budget) {
        struct budget_result result = budget_result(collector->budget);
        totals->budget_cost = result.cost;
        totals->coarsest_bytes = result.coarsest.heap ? SAMPLE_LEVEL_BYTES(result.coarsest.heap) : 0;
        totals->coarsest_lock_n = result.coarsest.locks ? LOCK_LEVEL_N(result.coarsest.locks) : 0;
    }
    totals->paused_ns = paused_ns(collector);
    totals->symbolize_ns = collector->resolver.symbolize_ns;
}

/* ---- flushing ---------------------------------------------------------------------------------------------------- */

/* 1: the view is open. 0: there is no segment: it is not ready, it is broken, or its process died before it wrote the
 * header. */
static int open_segment(struct collector *collector, struct recorded *recorded, struct segment_view *view) {
    struct error ignored = {0};
    if (segment_view_open(view, collector->directory, recorded->name, &ignored) > 0) return 1;
    recorded->is_corrupt = !recorded->is_running;
    return 0;
}

/* The last moment of the process that is known, on its clock of lock times: the program's end, else now. */
static uint64_t last_ticks(const struct collector *collector, const struct recorded *recorded,
                           const struct segment_view *view) {
    struct moment now = recording_now(collector);
    bool is_over = !recorded->is_running && view->head.pid == collector->first_pid && collector->program_ended_ns;
    uint64_t ended_ns = is_over && collector->program_ended_ns < now.ns ? collector->program_ended_ns : now.ns;
    if (!(view->head.features & FEATURE_TSC)) return ended_ns;
    struct tick_rate rate = tick_rate(collector);
    return now.ticks - tick_scaled(now.ns - ended_ns, rate.ticks, rate.ns);
}

/* A reopened recording says it in its segments alone. */
static bool may_trace(const struct collector *collector) {
    return collector->is_reopened || collector->options.features & FEATURE_TRACE;
}

/* Before all else, because the programs run on. */
static void save_rings(struct collector *collector, const struct recording_terms *terms) {
    uint64_t began_ns = (uint64_t)clock_monotonic_ns();
    collector->saved = (struct saved_rings){0};
    for (size_t i = 0; i < collector->count; i++) {
        struct recorded *recorded = collector->processes[i];
        struct segment_view view;
        recorded->is_running = still_runs(collector, recorded);
        recorded->wants_events = false;
        recorded_forget_rings(recorded);
        if (!may_trace(collector) || !open_segment(collector, recorded, &view)) continue;
        recorded->wants_events = recorded_wants_events(recorded, &view.head, terms);
        if (recorded->wants_events && recorded->is_running) recorded_save_rings(recorded, &view);
        collector->saved.events += recorded->rings_count;
        segment_view_close(&view);
    }
    collector->saved.ns = (uint64_t)clock_monotonic_ns() - began_ns;
}

void collector_pass(struct collector *collector) {
    struct moment now = moment_now();
    collector->note.flush_ns = now.ns;
    collector->note.flush_ticks = now.ticks;
    write_note(collector);
}

/* Of one that no flush has read, by the name of its segment; 0: it does not run. */
static pid_t process_of(const struct recorded *recorded) {
    if (recorded->head.pid > 0) return recorded->is_running ? recorded->head.pid : 0;
    long pid = strtol(recorded->name, NULL, 10);
    return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* At the waits of all processes, or of those that had any when all were looked at last. */
static void look_at_waits(struct collector *collector, bool is_of_all) {
    struct wait_looks *looks = &collector->wait_looks;
    int64_t began_cpu_ns = clock_thread_cpu_ns();
    struct moment now = moment_now();
    struct tick_rate rate = tick_rate(collector);
    struct wait_look look = {.now_ns = now.ns,
                             .now_ticks = collector->uses_tsc ? now.ticks : now.ns,
                             .rate_ns = rate.ns,
                             .rate_ticks = rate.ticks,
                             .gap_ns = looks->are_on && looks->last_ns ? now.ns - looks->last_ns : 0};
    for (size_t i = 0; i < collector->count; i++) {
        struct recorded *recorded = collector->processes[i];
        if ((!is_of_all && !recorded->has_waited) || process_of(recorded) <= 0) continue;
        bool has_waited = wait_delays_look(&recorded->wait_delays, collector->directory, recorded->name, &look);
        if (is_of_all) recorded->has_waited = has_waited;
    }
    int64_t rest_ns = (clock_thread_cpu_ns() - began_cpu_ns) * REST_OF_WAIT_LOOK;
    looks->last_ns = now.ns;
    looks->due_ns = clock_monotonic_ns() + (rest_ns > WAIT_LOOK_NS ? rest_ns : WAIT_LOOK_NS);
}

/* Only where threads have no processor may waits be for one. */
static void decide_wait_looks(struct collector *collector, int64_t now_ns) {
    struct wait_looks *looks = &collector->wait_looks;
    uint64_t sum_ns = run_delay_sum(&collector->run_delay).ns, delay_ns = sum_ns - looks->delay_ns;
    int64_t took_ns = now_ns - looks->delay_at_ns;
    bool has_waited = false;
    for (size_t i = 0; i < collector->count; i++)
        has_waited |= collector->processes[i]->has_waited;
    looks->are_on = has_waited && (int64_t)delay_ns * PARTS_OF_DELAY >= took_ns;
    looks->delay_ns = sum_ns;
    looks->delay_at_ns = now_ns;
}

/* How long until the next look. */
static int64_t rest_of_looks(const struct collector *collector) {
    int64_t due_ns = collector->look_due_ns;
    const struct wait_looks *looks = &collector->wait_looks;
    if (looks->are_on && looks->due_ns < due_ns) due_ns = looks->due_ns;
    if (collector->preemptions.rings && collector->preemptions.due_ns < due_ns) due_ns = collector->preemptions.due_ns;
    return due_ns - clock_monotonic_ns();
}

static bool tells_preemptions(const struct collector *collector) {
    return collector->options.trace_kinds & TRACE_PREEMPTED && !collector->is_reopened;
}

static void take_preemptions(struct collector *collector) {
    if (collector->preemptions.rings) preemptions_take(&collector->preemptions);
}

/* At the processor time and the waits of all processes that are known. */
static void look_at_all(struct collector *collector, int64_t now_ns) {
    int64_t began_cpu_ns = clock_thread_cpu_ns();
    collector->preemptions.shortest_ns = (int64_t)collector->options.trace_limit_ns;
    for (size_t i = 0; i < collector->count; i++) {
        struct recorded *recorded = collector->processes[i];
        pid_t pid = process_of(recorded);
        if (pid > 0 && tells_preemptions(collector)) preemptions_watch(&collector->preemptions, pid);
        if (pid > 0) run_delay_watch(&collector->run_delay, pid);
    }
    run_delay_look(&collector->run_delay);
    look_at_waits(collector, true);
    decide_wait_looks(collector, now_ns);
    int64_t ended_ns = clock_monotonic_ns();
    collector->look_due_ns =
        ended_ns + run_delay_rest(ended_ns - (int64_t)collector->start.ns, clock_thread_cpu_ns() - began_cpu_ns);
}

int64_t collector_look(struct collector *collector) {
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns >= collector->preemptions.due_ns) take_preemptions(collector);
    if (now_ns < collector->look_due_ns) {
        if (collector->wait_looks.are_on && now_ns >= collector->wait_looks.due_ns) look_at_waits(collector, false);
        return rest_of_looks(collector);
    }
    find_segments(collector); /* a program that lives for less than a flush takes is seen here alone */
    look_at_all(collector, now_ns);
    return rest_of_looks(collector);
}

/* The statements of a flush call it now and then: a flush takes as long as a hundred looks, and short runs have little else. No statement runs while
 * the sums of the waits are read (recorded_read). */
static int look_meanwhile(void *context) {
    struct collector *collector = context;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns >= collector->preemptions.due_ns) take_preemptions(collector);
    if (now_ns >= collector->look_due_ns)
        look_at_all(collector, now_ns);
    else if (collector->wait_looks.are_on && now_ns >= collector->wait_looks.due_ns)
        look_at_waits(collector, false);
    return 0;
}

/* A program that asked for no new privileges mostly installs a filter of system calls at once, if at all. The runtime makes none until it is told. */
static void tell_open(const struct collector *collector, const struct recorded *recorded) {
    const struct segment *head = &recorded->head;
    uint64_t closed_ns = atomic_load_explicit(&head->closed_ns, memory_order_relaxed), yes = 1;
    if (collector->is_reopened || !recorded->is_running || !closed_ns)
        return; /* a recording of another user is only read */
    if ((uint64_t)clock_monotonic_ns() < closed_ns + SEGMENT_CLOSED_NS) return;
    if (!recorded_is_here(recorded, &collector->resolver) || !syscall_filter_is_absent(head->pid)) return;
    int file = openat(collector->directory, recorded->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t ignored = file < 0 ? 0 : pwrite(file, &yes, sizeof yes, offsetof(struct segment, is_open));
    (void)ignored;
    if (file >= 0) close(file);
}

/* Reads the counters of all processes. The clock is read after that, so everything in a window happened before its
 * end. */
static void read_processes(struct collector *collector, bool is_last) {
    collector_pass(collector);
    for (size_t i = 0; i < collector->count; i++) {
        struct recorded *recorded = collector->processes[i];
        struct segment_view view;
        recorded->wall = collector->wall;
        recorded->is_last = is_last;
        recorded->is_read = open_segment(collector, recorded, &view);
        if (!recorded->is_read) continue;
        recorded_read(recorded, &collector->resolver, &view, last_ticks(collector, recorded, &view));
        segment_view_close(&view);
        tell_open(collector, recorded);
    }
}

void collector_read_ahead(struct collector *collector) {
    find_segments(collector);
    for (size_t i = 0; i < collector->count; i++) {
        struct error ignored = {0}; /* one that is being made is none yet */
        struct segment_view view;
        if (segment_view_open(&view, collector->directory, collector->processes[i]->name, &ignored) <= 0) continue;
        recorded_meet(collector->processes[i], &collector->resolver, &view);
        segment_view_close(&view);
    }
    resolver_read_ahead(&collector->resolver);
}

/* Of the threads of a process, as of the last look. */
static int write_thread_delay(struct collector *collector, const struct recorded *recorded,
                              const struct thread_delay *thread, struct error *err) {
    sqlite3_stmt *statement = db_prepare(collector->db, embedded_text("ingest/collector/thread_delay"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_int(statement, ":tid", thread->tid);
    db_bind_text(statement, ":name", thread->name);
    db_bind_int(statement, ":ran", (int64_t)thread->ran_ns);
    db_bind_int(statement, ":delay", (int64_t)thread->ns);
    return db_run(collector->db, statement, err);
}

static int write_thread_delays(struct collector *collector, const struct recorded *recorded, struct error *err) {
    size_t count;
    int code = 0;
    struct thread_delay *threads = run_delay_threads(&collector->run_delay, recorded->head.pid, &count);
    for (size_t i = 0; i < count && code == 0; i++)
        code = write_thread_delay(collector, recorded, &threads[i], err);
    free(threads);
    return code ? -1 : 0;
}

static int write_process(struct collector *collector, struct recorded *recorded, const struct recording_terms *terms,
                         struct error *err) {
    struct segment_view view;
    if (!recorded->is_read || !open_segment(collector, recorded, &view)) return 0;
    note_bias(collector, recorded);
    recorded->run_delay_ns += run_delay_take(&collector->run_delay, recorded->head.pid, !recorded->is_running);
    int code = recorded_write(recorded, &collector->resolver, &view, terms, err);
    if (code == 0 && recorded->run_delay_ns) code = write_thread_delays(collector, recorded, err);
    segment_view_close(&view);
    return code;
}

/* From the start of the program to its end; of a running one to the moment when its counters were read. */
static int64_t duration_of(const struct collector *collector, int64_t flushed_ns) {
    uint64_t start = collector->program_started_ns ? collector->program_started_ns : collector->start.ns;
    uint64_t end = collector->program_ended_ns;
    if (!end) end = (uint64_t)(flushed_ns - collector->start_ns) + collector->start.ns;
    return end > start ? (int64_t)(end - start) : 0;
}

/* The row of the run is older than its program, by the time that it took to start that: 6 to 10 ms, 50 on a busy machine. Events count from there on,
 * so it comes before them. */
static int update_start(struct collector *collector, struct error *err) {
    if (!collector->program_started_ns) return 0;
    sqlite3_stmt *statement = db_prepare(collector->db, embedded_text("ingest/collector/start"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":started",
                collector->start_ns + (int64_t)(collector->program_started_ns - collector->start.ns));
    db_bind_int(statement, ":run", collector->run_id);
    return db_run(collector->db, statement, err);
}

static int update_run(struct collector *collector, int64_t flushed_ns, struct error *err) {
    sqlite3_stmt *statement = db_prepare(collector->db, "UPDATE runs SET duration_ns = :duration WHERE id = :run", err);
    if (!statement) return -1;
    db_bind_int(statement, ":duration", duration_of(collector, flushed_ns));
    db_bind_int(statement, ":run", collector->run_id);
    return db_run(collector->db, statement, err);
}

/* About the recording itself: beside the run's first profile. */
static int write_counter(struct collector *collector, const char *name, double value, const char *unit,
                         struct error *err) {
    sqlite3_stmt *statement = db_prepare(collector->db, embedded_text("ingest/collector/recorder_counter"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", collector->run_id);
    db_bind_text(statement, ":name", name);
    db_bind_real(statement, ":value", value);
    db_bind_text(statement, ":unit", unit);
    return db_run(collector->db, statement, err);
}

static int store_before(struct collector *collector, struct error *err) {
    const struct collector_before *before = &collector->before;
    if (!before->age_ns) return 0;
    if (write_counter(collector, "recorder.attached_ms", (double)before->age_ns / 1e6, "ms", err)) return -1;
    return before->bytes < 0
               ? 0
               : write_counter(collector, before->is_exact ? "recorder.before_bytes" : "recorder.before_memory_bytes",
                               (double)before->bytes, "bytes", err);
}

/* At each flush, because a reader of the figures must know that they are not complete, or whose they are. */
int collector_store_times(struct collector *collector, struct error *err) {
    uint64_t ns = paused_ns(collector);
    if (ns && write_counter(collector, "recorder.paused_ms", (double)ns / 1e6, "ms", err)) return -1;
    if (store_before(collector, err)) return -1;
    struct run_delay_sum delay = run_delay_sum(&collector->run_delay);
    return delay.is_known ? write_counter(collector, "recorder.run_delay_ms", (double)delay.ns / 1e6, "ms", err) : 0;
}

/* That the recorder may use, as the program it started may, unless it asks for others. */
static int usable_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Of a budget: whether allocations were sampled at any time. */
static bool was_sampled(const struct collector *collector) {
    return collector->budget ? budget_result(collector->budget).exact_ns >= 0 : collector->coarsest.heap > 0;
}

static bool were_locks_sampled(const struct collector *collector) {
    return collector->budget ? budget_result(collector->budget).locks_exact_ns >= 0 : collector->coarsest.locks > 0;
}

/* How many there were of which the counters are estimates. */
static double exact_acquires(const struct collector_totals *totals) {
    double count = (double)totals->acquires + (double)totals->locks_passed - (double)totals->locks_excess;
    return count > 0 ? count : 0;
}

/* At each flush, after the processes were written: then their totals are as of now. Of a recording whose recorder was killed, what it cost is not
 * known. */
static int write_budget(struct collector *collector, struct error *err) {
    struct collector_totals totals;
    if (collector->options.budget <= 0) return 0;
    if (write_counter(collector, "recorder.budget_percent", 100 * collector->options.budget, "percent", err)) return -1;
    if (!collector->budget) return 0;
    collector_totals(collector, &totals);
    budget_note_others(collector->budget, totals.contended + totals.other_waits + totals.io_calls + totals.cell_events +
                                              totals.channel_events);
    struct budget_result result = budget_result(collector->budget);
    if (result.exact_ns >= 0 &&
        write_counter(collector, "recorder.budget_exact_ms", (double)result.exact_ns / 1e6, "ms", err))
        return -1;
    if (result.locks_exact_ns >= 0 &&
        write_counter(collector, "recorder.budget_locks_exact_ms", (double)result.locks_exact_ns / 1e6, "ms", err))
        return -1;
    if (write_counter(collector, "recorder.budget_acquires", exact_acquires(&totals), "count", err)) return -1;
    return write_counter(collector, "recorder.budget_cost_percent", 100 * result.cost, "percent", err) ||
                   write_counter(collector, "recorder.budget_allocations", (double)totals.heap_seen, "count", err)
               ? -1
               : 0;
}

/* A timer of CPU time expires at a tick of the kernel, and stands for all of its periods since the last one: those are no samples of their
 * own. So n expiries of t samples each are as exact as sum(t)^2 / sum(t^2) independent samples. Of a recording of a runtime that does not
 * say: nothing. */
static int write_exactness(struct collector *collector, const struct collector_totals *totals, struct error *err) {
    double samples = (double)totals->cpu_samples, squares = (double)totals->cpu_squares;
    double live = (double)totals->alloc_variance - (double)totals->free_variance;
    if ((samples == 0 || squares > 0) && write_counter(collector, "recorder.cpu_effective_samples",
                                                       squares > 0 ? samples * samples / squares : 0, "count", err))
        return -1;
    if (were_locks_sampled(collector) &&
        write_counter(collector, "recorder.hold_variance", totals->hold_variance, "ns^2", err))
        return -1;
    if (collector->options.sample_bytes <= 1 && !was_sampled(collector)) return 0;
    if (write_counter(collector, "recorder.alloc_count_variance", (double)totals->alloc_variance, "count", err) ||
        write_counter(collector, "recorder.live_count_variance", live > 0 ? live : 0, "count", err))
        return -1;
    if (collector->options.sample_bytes > 1) return 0;
    double alloc = (double)totals->alloc_byte_variance, in_use = alloc - (double)totals->free_byte_variance;
    return write_counter(collector, "recorder.alloc_bytes_variance", alloc * BYTE_VARIANCE_UNIT, "bytes^2", err) ||
                   write_counter(collector, "recorder.live_bytes_variance",
                                 in_use > 0 ? in_use * BYTE_VARIANCE_UNIT : 0, "bytes^2", err)
               ? -1
               : 0;
}

/* Of a group whose share of the processors has a limit. */
static int write_throttled(struct collector *collector, struct error *err) {
    const struct control_group_use *use = &collector->note.group;
    if (use->processor_thousandths <= 0) return 0;
    return write_counter(collector, "recorder.group_processors", (double)use->processor_thousandths / 1e3, "count",
                         err) ||
                   write_counter(collector, "recorder.throttled_ms", (double)use->throttled_ns / 1e6, "ms", err)
               ? -1
               : 0;
}

/* What it cost and lost, and how many processors there were. */
static int write_costs(struct collector *collector, uint64_t started_ns, struct error *err) {
    struct collector_totals totals;
    collector_totals(collector, &totals);
    double flush_ms = (double)(totals.flush_ns + (uint64_t)clock_monotonic_ns() - started_ns) / 1e6;
    const struct {
        const char *name, *unit;
        double value;
    } rows[] = {{"recorder.flushes", "count", (double)totals.flushes + 1},
                {"recorder.flush_ms", "ms", flush_ms},
                {"recorder.cpu_ms", "ms", (double)totals.recorder_cpu_ns / 1e6},
                {"recorder.cpu_samples", "count", (double)totals.recorder_samples},
                {"recorder.events", "count", (double)totals.events},
                {"recorder.dropped", "count", (double)totals.dropped},
                {"recorder.truncated", "count", (double)totals.truncated},
                {"recorder.segment_bytes", "bytes", (double)totals.segment_bytes},
                {"recorder.voluntary_switches", "count", (double)collector->program_waits},
                {"recorder.processors", "count", usable_processors()},
                {"recorder.corrupt_segments", "count", (double)totals.corrupt},
                {"recorder.unrecorded_processes", "count", (double)totals.unrecorded}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (write_counter(collector, rows[i].name, rows[i].value, rows[i].unit, err)) return -1;
    return write_throttled(collector, err) || write_exactness(collector, &totals, err) ? -1 : 0;
}

static int add_comment(struct collector *collector, const char *text, const char *sql, struct error *err) {
    sqlite3_stmt *statement = db_prepare(collector->db, sql, err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", collector->run_id);
    db_bind_text(statement, ":text", text);
    return db_run(collector->db, statement, err);
}

int collector_warn(struct collector *collector, const char *text, struct error *err) {
    return add_comment(collector, text,
                       "UPDATE profiles SET comments = json_insert(comments, '$[#]', :text)"
                       " WHERE id = (SELECT min(id) FROM profiles WHERE run_id = :run)",
                       err);
}

int collector_say(struct collector *collector, const char *text, struct error *err) {
    return add_comment(collector, text,
                       "UPDATE profiles SET comments = json_insert(comments, '$[#]', :text)"
                       " WHERE id IN (SELECT min(id) FROM profiles WHERE run_id = :run GROUP BY kind)",
                       err);
}

/* Only at the last flush, because every flush writes the comments of profiles anew. */
static int warn_of_unrecorded(struct collector *collector, struct error *err) {
    uint64_t count = unrecorded(collector);
    if (!count) return 0;
    char *text =
        xasprintf("# WARNING: %llu processes could not be recorded: no space or no permission for a segment, or "
                  "no clock (PR_SET_TSC)",
                  (unsigned long long)count);
    int code = collector_warn(collector, text, err);
    free(text);
    return code;
}

static int warn_of_memory(struct collector *collector, struct error *err) {
    char *text = control_group_memory_text(&collector->note.group);
    if (!text) return 0;
    char *comment = xasprintf("# WARNING: %s", text);
    int code = collector_warn(collector, comment, err);
    free(comment);
    free(text);
    return code;
}

/* Where recording was paused, or children were not to be recorded, it is meant that something is missing. */
static int credit_unseen_cpu(struct collector *collector, struct error *err) {
    struct collector_totals totals;
    char *text, *comment;
    collector->unseen_cpu_ns = 0;
    collector_totals(collector, &totals);
    struct unseen_cpu cpu = {collector->program_cpu_ns, totals.cpu_ns + totals.recorder_cpu_ns, totals.processes};
    if (paused_ns(collector) || collector->options.features & FEATURE_NO_CHILDREN) return 0;
    if (unseen_cpu_store(&collector->resolver, collector->run_id, collector->first_pid, &cpu, &collector->unseen_cpu_ns,
                         &text, err))
        return -1;
    if (!text) return 0;
    comment = xasprintf("# WARNING: %s", text);
    int code = collector_warn(collector, comment, err);
    free(comment);
    free(text);
    return code;
}

/* After the counters were read: how allocations were sampled until then. */
static void note_budget(struct collector *collector, struct recording_terms *terms) {
    struct budget_levels level = collector->coarsest;
    if (collector->options.budget <= 0) return;
    if (collector->budget) level = collector->budget_window = budget_window(collector->budget);
    terms->sample_bytes = level.heap > 0 && level.heap <= SAMPLE_LEVELS ? SAMPLE_LEVEL_BYTES(level.heap) : 0;
    terms->lock_n = level.locks > 0 && level.locks <= LOCK_LEVELS ? LOCK_LEVEL_N(level.locks) : 1;
}

static int flush_all(struct collector *collector, bool final, uint64_t started_ns, struct error *err) {
    struct recording_terms terms = {.run_id = collector->run_id,
                                    .sample_n = collector->options.sample_n,
                                    .sample_bytes = collector->options.sample_bytes,
                                    .cpu_hz = collector->options.cpu_hz,
                                    .origin_ticks = collector->start.ticks,
                                    .origin_monotonic_ns = (int64_t)collector->start.ns,
                                    .origin_ns = collector->start_ns,
                                    .limits = collector->options.windows,
                                    .keeps_all_events = collector->options.streams_events,
                                    .was_paused = paused_ns(collector) != 0,
                                    .wall_hz = collector->options.wall_hz,
                                    .is_final = final,
                                    .stores_when_asked = collector->options.stores_when_asked,
                                    .is_dump_asked = collector->is_dump_asked,
                                    .preemptions = &collector->preemptions,
                                    .trace_last_ns = collector->options.trace_last_ns};
    take_preemptions(collector);
    save_rings(collector, &terms);
    read_processes(collector, final);
    note_budget(collector, &terms);
    terms.rate = tick_rate(collector);
    terms.time_ns = flush_time(collector);
    if (update_start(collector, err)) return -1;
    for (size_t i = 0; i < collector->count; i++)
        if (write_process(collector, collector->processes[i], &terms, err)) return -1;
    if (resolver_store_sources(&collector->resolver, collector->run_id, err) ||
        update_run(collector, terms.time_ns, err) || collector_store_times(collector, err) ||
        write_budget(collector, err))
        return -1;
    if (!final) return 0;
    return credit_unseen_cpu(collector, err) || write_costs(collector, started_ns, err) ||
                   warn_of_unrecorded(collector, err) || warn_of_memory(collector, err)
               ? -1
               : 0;
}

/* Finished processes are in the warehouse, so their segments are removed: a build of thousands of processes must not
 * fill /dev/shm. */
static void drop_finished(struct collector *collector) {
    size_t kept = 0;
    for (size_t i = 0; i < collector->count; i++) {
        struct recorded *recorded = collector->processes[i];
        recorded_committed(recorded);
        if (!recorded->is_finished) {
            collector->processes[kept++] = recorded;
            continue;
        }
        add_totals(&collector->gone, collector, recorded);
        wall_forget(collector->wall, recorded->name);
        if (!collector->is_reopened) unlinkat(collector->directory, recorded->name, 0);
        recorded_free(recorded);
    }
    collector->count = kept;
}

/* The ids of the transaction do not exist: everything is looked up and written again. */
static void forget(struct collector *collector) {
    for (size_t i = 0; i < collector->count; i++)
        recorded_rolled_back(collector->processes[i]);
    collector->is_stale = true;
}

/* At most a twentieth of the recorder's time. What the first seal takes is not known yet: of many rows about as much as the flush that wrote
 * them, and a compiler that runs for some seconds is not to be sealed twice. */
static bool is_seal_due(const struct collector *collector, int64_t flush_started_ns, int64_t now_ns) {
    enum { BETWEEN_NS = 2000000000, MOST_TIMES = 20 };
    if (!collector->sealed_ns) return now_ns - (int64_t)collector->start.ns >= MOST_TIMES * (now_ns - flush_started_ns);
    return now_ns - collector->sealed_ns >= BETWEEN_NS + MOST_TIMES * collector->seal_took_ns;
}

/* Who looks at a run that is recorded sees facts of some seconds ago. The end of the run seals it too. */
static int seal(struct collector *collector, int64_t flush_started_ns, struct error *err) {
    int64_t now_ns = clock_monotonic_ns();
    if (!is_seal_due(collector, flush_started_ns, now_ns)) return 0;
    int code = facts_seal(collector->db, collector->run_id, err);
    collector->sealed_ns = clock_monotonic_ns();
    collector->seal_took_ns = collector->sealed_ns - now_ns;
    return code;
}

/* The first flush seals all the same. */
int collector_seal(struct collector *collector, struct error *err) {
    if (db_check_place(collector->db, err) || db_begin(collector->db, err)) return -1;
    if (facts_seal(collector->db, collector->run_id, err) == 0) return db_commit(collector->db, err);
    db_rollback(collector->db);
    return -1;
}

void collector_move(struct collector *collector, int64_t run_id) {
    collector->run_id = run_id;
    forget(collector);
}

static int write_all(struct collector *collector, bool final, uint64_t started_ns, struct error *err) {
    if (collector->is_stale && resolver_forget(&collector->resolver, err)) return -1;
    collector->is_stale = false;
    if (db_check_place(collector->db, err) || db_begin(collector->db, err)) return -1;
    if (flush_all(collector, final, started_ns, err) || (!final && seal(collector, (int64_t)started_ns, err))) {
        db_rollback(collector->db);
        return -1;
    }
    return db_commit(collector->db, err);
}

void collector_store_events(struct collector *collector) {
    collector->is_dump_asked = true;
}

struct saved_rings collector_saved_rings(const struct collector *collector) {
    return collector->saved;
}

int collector_flush(struct collector *collector, bool final, struct error *err) {
    uint64_t started_ns = (uint64_t)clock_monotonic_ns();
    enum { STEPS_BETWEEN_LOOKS = 2000 }; /* some 100 us */
    find_segments(collector);
    if (!collector->is_reopened)
        sqlite3_progress_handler(collector->db->handle, STEPS_BETWEEN_LOOKS, look_meanwhile, collector);
    int code = write_all(collector, final, started_ns, err);
    sqlite3_progress_handler(collector->db->handle, 0, NULL, NULL);
    if (code && collector->budget) budget_window_failed(collector->budget, collector->budget_window);
    if (code)
        forget(collector);
    else
        drop_finished(collector);
    if (code == 0) collector->is_dump_asked = false;
    collector->gone.flushes++;
    collector->gone.flush_ns += (uint64_t)clock_monotonic_ns() - started_ns;
    return code;
}
