#include "cli/record/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/new_run_tags.h"
#include "cli/record/options_behind.h"
#include "cli/web/tls.h"
#include "ingest/record/ids_limit.h"
#include "ingest/record/pprof_watch.h"

enum {
    DEPTH_DEFAULT = 64,
    IDS_MAX = 1 << 24,   /* the capacity of the runtime's tables */
    CPU_HZ_DEFAULT = 99, /* not a multiple of frequent timer rates such as 10 and 100 Hz */
    CPU_HZ_MAX = 10000,
    WALL_HZ_DEFAULT = 99,
    WALL_HZ_MAX = 1000,
    WINDOWS_DEFAULT = 64,
    WINDOWS_MAX = 1 << 24,
    SYNC_SAMPLE_DEFAULT = 100, /* a stack walk is several times the cost of an uncontended lock */
};
#define INTERVAL_MIN_NS     INT64_C(10000000)
#define INTERVAL_MAX_NS     INT64_C(3600000000000)
#define KEEP_MAX_NS         (INT64_C(366) * 24 * 3600 * 1000000000)
#define SAMPLE_BYTES_MAX    (INT64_C(1) << 40)
#define BUDGET_LEAST        0.1 /* per cent */
#define BUDGET_MOST         1000.0
#define BUDGET_DEFAULT      0.05 /* of what clear does not start: it does somebody's work */
#define TRACE_LEAST         (INT64_C(1) << 20)
#define TRACE_MOST          (INT64_C(1) << 32)
#define TRACE_DEFAULT       (INT64_C(64) << 20)
#define TRACE_LIMIT_DEFAULT 1000000
#define TRACE_ALLOC_DEFAULT (INT64_C(1) << 20)
#define TRACE_ALLOC_MOST    (INT64_C(1) << 40)
#define TRACE_LIMIT_MOST    INT64_C(3600000000000)

#define AT(member) offsetof(struct profile_request, member)

/* A plain number counts events; one with a unit is a size. The last one given holds. */
static int take_sample(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    struct collector_options *recorder = &request->recorder;
    int64_t value;
    bool is_count = !*text || strchr("0123456789", text[strlen(text) - 1]);
    int code = is_count ? cli_count("--sample", text, 1, INT32_MAX, &value, err)
                        : cli_bytes("--sample", text, 1, SAMPLE_BYTES_MAX, &value, err);
    if (code) return -1;
    recorder->sample_n = is_count ? (uint32_t)value : 1;
    recorder->sample_bytes = is_count ? 0 : (uint64_t)value;
    return 0;
}

/* "3%": of the program's own CPU time; or "off". */
static int take_budget(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    char *end = NULL;
    (void)row;
    request->has_no_budget = strcmp(text, "off") == 0;
    request->recorder.budget = 0;
    if (request->has_no_budget) return 0;
    double percent = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    if (!end || strcmp(end, "%") != 0 || !(percent >= BUDGET_LEAST && percent <= BUDGET_MOST))
        return error_usage(err, "--budget must be a percentage from %g%% to %g%%, such as 3%%, or off, not '%s'",
                           BUDGET_LEAST, BUDGET_MOST, text);
    request->recorder.budget = percent / 100;
    return 0;
}

static int take_cpu(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    static const char perf[] = "perf", rate[] = "perf,";
    int64_t hz = 0;
    bool has_rate = strncmp(text, rate, strlen(rate)) == 0;
    request->uses_perf = has_rate || strcmp(text, perf) == 0;
    if (has_rate) text += strlen(rate);
    if (request->uses_perf && !has_rate)
        hz = CPU_HZ_DEFAULT;
    else if (strcmp(text, "off") != 0 && cli_count("--cpu", text, 1, CPU_HZ_MAX, &hz, err))
        return -1;
    request->cpu_hz = (uint32_t)hz;
    request->asks_cpu = hz > 0;
    return 0;
}

static int take_wall(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    int64_t hz = WALL_HZ_DEFAULT;
    (void)row;
    if (text && cli_count("--wall", text, 1, WALL_HZ_MAX, &hz, err)) return -1;
    request->recorder.features |= FEATURE_WALL;
    request->recorder.wall_hz = (uint32_t)hz;
    return 0;
}

static int take_follow(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    bool all = strcmp(text, "all") == 0;
    if (!all && strcmp(text, "none") != 0) return error_usage(err, "--follow must be all or none, not '%s'", text);
    request->recorder.features &= ~(uint32_t)FEATURE_NO_CHILDREN;
    if (!all) request->recorder.features |= FEATURE_NO_CHILDREN;
    return 0;
}

static int take_start(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    bool off = strcmp(text, "off") == 0;
    if (!off && strcmp(text, "on") != 0) return error_usage(err, "--start must be on or off, not '%s'", text);
    request->is_switched = true;
    request->recorder.is_paused = off;
    return 0;
}

static int take_windows(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    int64_t most = 0;
    if (strcmp(text, "all") != 0 && cli_count("--windows", text, 1, WINDOWS_MAX, &most, err)) return -1;
    request->recorder.windows.most = (uint64_t)most;
    request->has_windows = true;
    return 0;
}

static int take_depth(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    int64_t value = 0;
    (void)row;
    if (cli_count("--depth", text, 1, SEGMENT_DEPTH_MAX, &value, err)) return -1;
    request->recorder.depth = (uint32_t)value;
    return 0;
}

static int take_feature_off(struct profile_request *request, enum segment_feature feature) {
    request->recorder.features &= ~(uint32_t)feature;
    return 0;
}

static int add_pid(struct profile_request *request, const char *text, struct error *err) {
    int64_t pid;
    if (cli_count("--pid", text, 1, INT32_MAX, &pid, err)) return -1;
    for (size_t i = 0; i < request->pid_count; i++)
        if (request->pids[i] == pid) return 0;
    request->pids = xrealloc(request->pids, (request->pid_count + 1) * sizeof *request->pids);
    request->pids[request->pid_count++] = (pid_t)pid;
    return 0;
}

/* One, or several with commas, as `pgrep -d,` writes them. */
static int take_pid(void *into, const struct option_row *row, const char *text, struct error *err) {
    int code = 0;
    (void)row;
    for (const char *at = text; at && code == 0;) {
        size_t length = strcspn(at, ",");
        char *one = xasprintf("%.*s", (int)length, at);
        code = add_pid(into, one, err);
        free(one);
        at = at[length] ? at + length + 1 : NULL;
    }
    return code;
}

static int take_name(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row, (void)err;
    request->names = xrealloc(request->names, (request->name_count + 1) * sizeof *request->names);
    request->names[request->name_count++] = xstrdup(text);
    return 0;
}

static int take_pprof(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row;
    free(request->pprof);
    return (request->pprof = pprof_watch_url(text, err)) ? 0 : -1;
}

static int take_no_heap(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)row, (void)text, (void)err;
    take_feature_off(into, FEATURE_MMAP);
    return take_feature_off(into, FEATURE_HEAP);
}

static int take_no_locks(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)row, (void)text, (void)err;
    return take_feature_off(into, FEATURE_LOCKS);
}

static int take_no_io(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)row, (void)text, (void)err;
    return take_feature_off(into, FEATURE_IO);
}

static int take_nothing(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)into, (void)row, (void)text, (void)err;
    return 0;
}

static int take_leaks(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row, (void)text, (void)err;
    request->recorder.features |= FEATURE_LEAKS | FEATURE_LEAKS_ALWAYS;
    return 0;
}

static int take_no_leaks(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row, (void)text, (void)err;
    request->recorder.features &= ~(uint32_t)FEATURE_LEAKS_ALWAYS;
    return take_feature_off(into, FEATURE_LEAKS);
}

static int take_lifetimes(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row, (void)text, (void)err;
    request->recorder.features |= FEATURE_LIFETIMES;
    return 0;
}

static const struct trace_word {
    const char *word;
    uint32_t kinds;
} trace_words[] = {
    {"lock", TRACE_LOCK},     {"wait", TRACE_WAIT},   {"sleep", TRACE_SLEEP},         {"syscall", TRACE_SYSCALL},
    {"region", TRACE_REGION}, {"hold", TRACE_HOLD},   {"alloc", TRACE_ALLOC},         {"cpu", TRACE_CPU},
    {"thread", TRACE_THREAD}, {"fiber", TRACE_FIBER}, {"preempted", TRACE_PREEMPTED}, {"all", UINT32_MAX},
};

static uint32_t trace_kinds_of(const char *word, size_t size) {
    for (size_t i = 0; i < sizeof trace_words / sizeof *trace_words; i++)
        if (strlen(trace_words[i].word) == size && memcmp(trace_words[i].word, word, size) == 0)
            return trace_words[i].kinds;
    return 0;
}

static int take_trace(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    uint32_t asked = text ? 0 : TRACE_LOCK | TRACE_WAIT | TRACE_REGION;
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        size_t size = strcspn(word, ",");
        uint32_t found = trace_kinds_of(word, size);
        if (!found)
            return error_usage(err,
                               "--%s: there is no kind of events '%.*s': lock, wait, hold, sleep, syscall, "
                               "region, alloc, cpu, thread, fiber or all",
                               row->name, (int)size, word);
        asked |= found;
    }
    request->recorder.features |= FEATURE_TRACE;
    request->recorder.trace_kinds = asked;
    return 0;
}

static int take_trace_limit(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    int64_t limit;
    (void)row;
    if (number_duration("--trace-limit", text, 0, TRACE_LIMIT_MOST, &limit, err)) return -1;
    request->recorder.trace_limit_ns = (uint64_t)limit;
    return 0;
}

static const struct when_word {
    const char *word;
    uint32_t kinds, events; /* those that must be traced, and those that are looked at */
    bool has_limit;         /* TRACE_LIMIT is about them */
} when_words[] = {
    {"lock_wait", TRACE_LOCK, 1u << EVENT_LOCK | 1u << EVENT_READ, false},
    {"wait", TRACE_WAIT, 1u << EVENT_WAIT | 1u << EVENT_CHANNEL, false},
    {"hold", TRACE_HOLD, 1u << EVENT_HOLD, true},
    {"sleep", TRACE_SLEEP, 1u << EVENT_SLEEP, true},
    {"syscall", TRACE_SYSCALL, 1u << EVENT_SYSCALL, true},
    {"region", TRACE_REGION, 1u << EVENT_REGION, false},
    {"fiber", TRACE_FIBER, 1u << EVENT_FIBER, false},
};

static const struct when_word *find_when(const char *text, size_t size) {
    for (size_t i = 0; i < sizeof when_words / sizeof *when_words; i++)
        if (strlen(when_words[i].word) == size && memcmp(when_words[i].word, text, size) == 0) return &when_words[i];
    return NULL;
}

static int refuse_when(const char *text, struct error *err) {
    return error_usage(err,
                       "--trace-when: '%s' is not KIND>TIME, KIND:NAME>TIME or signal; KIND is lock_wait, wait, hold, "
                       "sleep, syscall, region or fiber, and sleep, syscall and region have a NAME of at most 47 bytes",
                       text);
}

/* KIND>TIME, KIND:NAME>TIME, or "signal". */
static int take_trace_when(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct collector_options *recorder = &((struct profile_request *)into)->recorder;
    struct trace_when when = {0};
    int64_t limit;
    (void)row;
    recorder->stores_when_asked = true;
    if (strcmp(text, "signal") == 0) return 0;
    const char *sign = strrchr(text, '>'), *colon = strchr(text, ':');
    size_t size = strcspn(text, ":>"), name_size = colon && sign && colon < sign ? (size_t)(sign - colon - 1) : 0;
    const struct when_word *word = find_when(text, size);
    bool may_have_name = word && word->kinds & (TRACE_SLEEP | TRACE_SYSCALL | TRACE_REGION);
    if (!word || !sign || name_size >= sizeof when.name || (name_size && !may_have_name)) return refuse_when(text, err);
    if (number_duration("--trace-when", sign + 1, 1, TRACE_LIMIT_MOST, &limit, err)) return -1;
    if (recorder->trace_when_count == TRACE_WHEN_MAX)
        return error_usage(err, "--trace-when can be given %d times", TRACE_WHEN_MAX);
    when.events = word->events;
    when.limit_ns = (uint64_t)limit;
    if (name_size) memcpy(when.name, colon + 1, name_size);
    recorder->trace_when[recorder->trace_when_count++] = when;
    return 0;
}

/* What is looked at must be traced. */
static int check_trace_when(const struct collector_options *recorder, struct error *err) {
    for (uint32_t i = 0; i < recorder->trace_when_count; i++)
        for (size_t word = 0; word < sizeof when_words / sizeof *when_words; word++) {
            const struct when_word *is = &when_words[word];
            if (recorder->trace_when[i].events != is->events) continue;
            if (!(recorder->trace_kinds & is->kinds))
                return error_usage(
                    err, "--trace-when '%s>...' looks at events that are not recorded: add their kind to --trace",
                    is->word);
            if (is->has_limit && recorder->trace_when[i].limit_ns < recorder->trace_limit_ns)
                return error_usage(err, "--trace-when '%s>...' is below --trace-limit: shorter ones are no events",
                                   is->word);
        }
    if (recorder->stores_when_asked && recorder->streams_events)
        return error_usage(err, "--stream and --trace-when exclude each other");
    return 0;
}

static int take_trace_alloc(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    int64_t size;
    (void)row;
    if (cli_bytes("--trace-alloc", text, 1, TRACE_ALLOC_MOST, &size, err)) return -1;
    request->recorder.trace_alloc = (uint64_t)size;
    return 0;
}

static int take_trace_buffer(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    int64_t size;
    (void)row;
    if (cli_bytes("--trace-buffer", text, TRACE_LEAST, TRACE_MOST, &size, err)) return -1;
    request->recorder.trace_max = (uint64_t)size;
    return 0;
}

static int take_sync_callstacks(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    (void)row, (void)text, (void)err;
    request->recorder.features |= FEATURE_SYNC_STACKS;
    return 0;
}

static int take_uuid(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct profile_request *request = into;
    if (run_uuid_read(request->uuid, text)) {
        request->run.uuid = request->uuid;
        return 0;
    }
    return error_usage(err, "--%s must be 32 hexadecimal digits in groups of 8-4-4-4-12, not '%s'", row->name, text);
}

static const struct option_row run_rows[] = {
    {"label", .type = OPTION_TEXT, .offset = AT(run.label), .argument = "NAME", .words = "<label>",
     .help = "Label the run. Other commands find it by this name."},
    {"tag", .type = OPTION_TAKE, .take = tags_take, .offset = AT(tags), .is_repeatable = true, .argument = "KEY=VALUE",
     .words = "<tag>", .help = "Tag the run, as in `commit=1a2b3c`."},
    {"no-git", .type = OPTION_SWITCH, .offset = AT(no_git),
     .help = "Do not tag the run with the commit of the work tree (`git_commit`, `git_branch`, `git_dirty`)."},
    {"output", .letter = 'o', .type = OPTION_TEXT, .offset = AT(output), .argument = "DIR", .words = "<directory>",
     .help = "Write text dumps and pprof profiles to DIR instead of `NAME.profile/`."},
    {"no-files", .type = OPTION_SWITCH, .offset = AT(no_files),
     .help = "Write no text dumps and pprof profiles: the run is in the warehouse alone."},
    {"uuid", .type = OPTION_TAKE, .take = take_uuid, .argument = "UUID",
     .help = "Give the run this UUID, so that a script finds it: `clear runs UUID`. Default: a random one."},
    {"quiet", .letter = 'q', .type = OPTION_SWITCH, .offset = AT(quiet), .help = "Print no summary on standard error."},
    {0},
};

const struct option_row profile_recorded_rows[] = {
    {"cpu", .letter = 'F', .type = OPTION_TAKE, .take = take_cpu, .argument = "HZ|off|perf[,HZ]",
     .words = "99 off perf perf,999",
     .help = "CPU samples a second and thread. Default: 99. `off`: none. `perf`: use `perf record`, also for static "
             "and Go programs; `perf,999` for jobs of a few milliseconds."},
    {"callstacks", .letter = 'g', .type = OPTION_TAKE, .take = take_nothing,
     .help = "Accepted for users of perf, without effect: every figure has its call stack."},
    {"no-heap", .type = OPTION_TAKE, .take = take_no_heap, .help = "Do not record allocations and mappings."},
    {"no-locks", .type = OPTION_TAKE, .take = take_no_locks, .help = "Do not record locks and other waits."},
    {"no-io", .type = OPTION_TAKE, .take = take_no_io,
     .help = "Do not record calls that read and write files and sockets."},
    {"leaks", .type = OPTION_TAKE, .take = take_leaks,
     .help =
         "At the end of each process, search its memory for blocks that nothing points at any more, however long that "
         "takes. Without this option a process is searched where it takes less than about 0.1 s or a tenth of its "
         "life."},
    {"no-leaks", .type = OPTION_TAKE, .take = take_no_leaks, .help = "Search no process at its end."},
    {"lifetimes", .type = OPTION_TAKE, .take = take_lifetimes,
     .help = "Count the blocks of each site by size and by lifetime."},
    {"sync-callstacks", .type = OPTION_TAKE, .take = take_sync_callstacks,
     .help = "Record each caller of a lock or cell separately. Implies `--sample=100` unless `--sample` is given."},
    {"follow", .type = OPTION_TAKE, .take = take_follow, .argument = "all|none", .words = "all none",
     .help = "Record forked processes too (default), or only the target."},
    {0},
};

static const struct option_row event_rows[] = {
    {"wall", .type = OPTION_TAKE, .take = take_wall, .argument = "[=HZ]", .words = "99",
     .help =
         "Look at every thread HZ times a second, also at those that wait, and record in what: the kinds `wall` and "
         "`off-cpu`. The program gets no signals for that. Default: 99."},
    {"trace", .type = OPTION_TAKE, .take = take_trace, .argument = "[=KINDS]",
     .words = "lock wait hold sleep syscall region alloc cpu thread fiber preempted all",

     .help = "Keep single events with their times, the latest of each thread; `clear trace` shows them. KINDS, with "
             "commas: `lock` (waits for locks, who had the lock and who released it), `wait` (for other threads), "
             "`hold`, `sleep`, `syscall` (calls that wait for the system), `region` (what `clear.h` reports), `alloc` "
             "(large blocks), `cpu` (samples), `thread` (threads and processes that begin and end), `fiber`, "
             "`preempted` (the kernel took the processor from a thread), `all`. "
             "Default: lock,wait,region."},
    {"trace-alloc", .type = OPTION_TAKE, .take = take_trace_alloc, .argument = "SIZE", .words = "1MiB",
     .help = "With `--trace=alloc`, keep blocks of SIZE or more. Default: 1MiB."},
    {"trace-limit", .type = OPTION_TAKE, .take = take_trace_limit, .argument = "TIME", .words = "1ms",
     .help = "With `--trace`, keep sleeps, calls, and holds that nobody waited for if they took TIME or longer. "
             "Default: 1ms."},
    {"trace-when", .type = OPTION_TAKE, .take = take_trace_when, .is_repeatable = true, .argument = "KIND>TIME",
     .words = "'lock_wait>10ms' 'region:request>200ms' signal",
     .help =
         "With `--trace`, store events only when one took longer: those that were kept until then. `lock_wait>10ms`, "
         "`region:request>200ms`; KIND is lock_wait, wait, hold, sleep, syscall, region or fiber. Also "
         "`clear_trace_dump()` "
         "of `clear.h` and SIGUSR1 to clear store them; `signal`: only these."},
    {"stream", .type = OPTION_SWITCH, .offset = AT(recorder.streams_events),
     .help = "With `--trace`, store events at each flush: all are kept, as long as the buffer holds those of one "
             "`--interval`."},
    {"trace-last", .type = OPTION_DURATION, .offset = AT(recorder.trace_last_ns), .min = 1, .max = KEEP_MAX_NS,
     .argument = "TIME", .words = "10s",
     .help = "With `--trace`, store events of the last TIME before the end of each process alone. Default: all that "
             "the buffer has."},
    {"trace-buffer", .type = OPTION_TAKE, .take = take_trace_buffer, .argument = "SIZE", .words = "64MiB",
     .help = "With `--trace`, keep at most SIZE of events a process (40 bytes each). Default: 64MiB."},
    {0},
};

static const struct option_row around_rows[] = {
    {"counters", .type = OPTION_SWITCH, .offset = AT(counters),
     .help = "Record hardware and software counters with `perf stat`."},
    {"syscalls", .type = OPTION_SWITCH, .offset = AT(syscalls),
     .help = "Count system calls with `strace -c`, in a second execution whose output is discarded."},
    {"pprof", .type = OPTION_TAKE, .take = take_pprof, .argument = "URL", .words = "http://localhost:6060 :6060",
     .help =
         "Fetch what the program itself serves there by Go's net/http/pprof while it runs, about once a second: its "
         "heap, and its mutex and block profiles where it records them, become windows of the run; its goroutines, as "
         "they were last."},
    {"wait", .type = OPTION_SWITCH, .offset = AT(waits),
     .help = "When the target has ended, record what it started until the last process has ended: for daemons."},
    {"detach", .type = OPTION_SWITCH, .offset = AT(detaches),
     .help = "As `--wait`, in the background: the command ends with the target."},
    {"start", .type = OPTION_TAKE, .take = take_start, .argument = "on|off", .words = "on off",
     .help = "Start with recording on or off. SIGUSR2 to clear then switches it."},
    {0},
};

const struct option_row profile_cost_rows[] = {
    {"sample", .type = OPTION_TAKE, .take = take_sample, .argument = "N|SIZE", .words = "100 512KiB",
     .help = "N: record every Nth heap, lock and cell event, and multiply by N. SIZE (`512KiB`): Poisson-sample "
             "allocations, one in SIZE bytes on average; values are unbiased estimates."},
    {"budget", .type = OPTION_TAKE, .take = take_budget, .argument = "PERCENT", .words = "3% 5% off",
     .help =
         "What recording may add to the CPU time of the program, such as `3%`. While it would be more, allocations are "
         "sampled, as with `--sample=SIZE`, and acquisitions of locks that need not wait; the doctor and the summary "
         "say how. Default: `off`; of what clear does not start, `--pid` and clear env, 5%."},
    {"depth", .type = OPTION_TAKE, .take = take_depth, .argument = "N",
     .help = "Frames kept of each stack. Default: 64, at most 1024."},
    {"profile-max", .type = OPTION_COUNT, .offset = AT(ids_max), .max = IDS_MAX, .argument = "N",
     .help =
         "Distinct stacks and objects kept of each process. Further stacks are cut to their innermost frames, further "
         "objects are counted as dropped. Default: by the memory of the machine. 0: no limit."},
    {0},
};

static const struct option_row window_rows[] = {
    {"interval", .type = OPTION_DURATION, .offset = AT(interval_ns), .min = INTERVAL_MIN_NS, .max = INTERVAL_MAX_NS,
     .argument = "TIME",
     .help = "Time between flushes (`1`, `250ms`), at least 10ms. Default: a sixth of the run so far, from 50ms to 1 "
             "second. "
             "A flush stores a window: what changed since the previous one."},
    {"windows", .type = OPTION_TAKE, .take = take_windows, .argument = "N|all", .words = "64 all",
     .help = "Windows kept of each kind and process; older ones are merged. Default: 64."},
    {"keep", .type = OPTION_DURATION, .offset = AT(recorder.windows.keep_ns), .min = INTERVAL_MIN_NS,
     .max = KEEP_MAX_NS, .argument = "TIME",
     .help = "Keep all windows of the last TIME (`10m`), and merge older ones into one."},
    {0},
};

static const struct option_row http_rows[] = {
    {"http", .type = OPTION_TEXT, .offset = AT(http), .argument = "ADDRESS", .words = "127.0.0.1:6060 :0",
     .help = "Serve the run while it is recorded, as `clear serve` does."},
    {"http-anywhere", .type = OPTION_SWITCH, .offset = AT(http_anywhere),
     .help = "Allow an address that other machines can reach."},
    {"http-token", .type = OPTION_TEXT, .offset = AT(http_token), .argument = "FILE", .words = "<file>",
     .help = "The first line of FILE is the token for `POST /debug/pprof/toggle`, which switches recording. Default: "
             "`$CLEAR_HTTP_TOKEN`, else a new token, which is printed."},
    TLS_OPTIONS(struct profile_request),
    {0},
};

static const struct option_row running_rows[] = {
    {"pid", .letter = 'p', .type = OPTION_TAKE, .take = take_pid, .is_repeatable = true, .argument = "PID",
     .help = "Record a process that runs already, from now on, in place of a TARGET. Several are given with commas, or "
             "one after another."},
    {"name", .type = OPTION_TAKE, .take = take_name, .is_repeatable = true, .argument = "NAME",
     .help = "The same for all processes of that name that belong to you."},
    {"duration", .type = OPTION_DURATION, .offset = AT(duration_ns), .min = INTERVAL_MIN_NS, .max = KEEP_MAX_NS,
     .argument = "TIME", .words = "30s",
     .help =
         "With `--pid`, end the recording after TIME; the process runs on. Default: until Ctrl-C, `clear detach` or "
         "its end."},
    {0},
};

const struct option_group profile_options[] = {{"Run", run_rows, 0},
                                               {"A process that runs", running_rows, 0},
                                               {"What is recorded", profile_recorded_rows, 0},
                                               {"Cost", profile_cost_rows, 0},
                                               {"Looks and events", event_rows, 0},
                                               {"Beside the program", around_rows, 0},
                                               {"Windows", window_rows, 0},
                                               {"HTTP", http_rows, 0},
                                               CLI_WAREHOUSE(profile_request, database),
                                               CLI_OPTIONS_END};
#undef AT

static int check_output(const struct profile_request *request, struct error *err) {
    if (!request->no_files || !request->output) return 0;
    return error_usage(err, "--no-files and --output exclude each other");
}

/* What needs to have started the process, or a supervisor of it. */
static int check_running(const struct profile_request *request, int argc, char **argv, struct error *err) {
    if (argc > 1)
        return error_usage(err, "--pid records a process that runs, and %s would be a target: leave out one", argv[1]);
    if (request->counters || request->syscalls || request->uses_perf)
        return error_usage(err, "--pid excludes --counters, --syscalls and --cpu=perf: perf -p and strace -p do that");
    if (request->pprof)
        return error_usage(
            err,
            "--pid excludes --pprof: it tells what happened since the program began; clear ingest %s/heap "
            "stores what it says now",
            request->pprof);
    if (request->detaches || request->waits)
        return error_usage(
            err, "--pid excludes --wait and --detach: the recording ends by --duration, Ctrl-C or clear detach");
    if (request->recorder.features & FEATURE_NO_CHILDREN)
        return error_usage(err, "--pid excludes --follow=none: processes that are forked from now on are recorded too");
    return 0;
}

static int take_target(struct profile_request *request, int argc, char **argv, struct error *err) {
    tags_add_configured(&request->tags);
    if (!request->no_git) tags_add_git(&request->tags);
    if (request->http_anywhere && !request->http) return error_usage(err, "--http-anywhere needs --http ADDRESS");
    if (request->http_token && !request->http) return error_usage(err, "--http-token needs --http ADDRESS");
    if (request->tls_cert && !request->http) return error_usage(err, "--tls-cert needs --http ADDRESS");
    if (request->tls_key && !request->http) return error_usage(err, "--tls-key needs --http ADDRESS");
    if (request->pid_count || request->name_count) return check_running(request, argc, argv, err);
    if (request->duration_ns) return error_usage(err, "--duration is for a process that runs already: --pid PID");
    if (argc < 2) return error_usage(err, "no target: clear profile [OPTION]... TARGET [-- ARGS...]");
    request->arguments = argv + 1;
    /* TARGET -- ARGS: only the first "--" is ours. */
    if (argc > 2 && strcmp(argv[2], "--") == 0) {
        argv[2] = argv[1];
        request->arguments++;
    }
    return 0;
}

static int check_wait(const struct profile_request *request, struct error *err) {
    if (!request->waits || !(request->recorder.features & FEATURE_NO_CHILDREN)) return 0;
    return error_usage(err, "--wait and --detach are for processes that the target starts: leave out --follow=none");
}

static int check_trace(const struct collector_options *recorder, struct error *err) {
    if (!(recorder->features & FEATURE_TRACE))
        return recorder->streams_events || recorder->trace_last_ns || recorder->stores_when_asked
                   ? error_usage(err, "--stream, --trace-last and --trace-when need --trace")
                   : 0;
    if (recorder->streams_events && recorder->trace_last_ns)
        return error_usage(err, "--stream and --trace-last exclude each other");
    if (check_trace_when(recorder, err)) return -1;
    if (recorder->trace_kinds & TRACE_SYSCALL && !(recorder->features & FEATURE_IO))
        return error_usage(err, "--trace=syscall and --no-io exclude each other");
    if (recorder->trace_kinds & TRACE_ALLOC &&
        (!(recorder->features & FEATURE_HEAP) || recorder->sample_n > 1 || recorder->sample_bytes > 1))
        return error_usage(err, "--trace=alloc needs every allocation: leave out --no-heap and --sample");
    if (recorder->trace_kinds & TRACE_CPU && !(recorder->features & FEATURE_CPU))
        return error_usage(err, "--trace=cpu needs --cpu=HZ");
    if (recorder->trace_kinds & TRACE_FIBER && !(recorder->features & FEATURE_FIBERS))
        return error_usage(err, "--trace=fiber and --no-fibers exclude each other");
    if (!(recorder->trace_kinds & (TRACE_LOCK | TRACE_WAIT | TRACE_HOLD))) return 0;
    if (!(recorder->features & FEATURE_LOCKS))
        return error_usage(err, "--trace and --no-locks exclude each other; --trace=syscall,sleep,region has no locks");
    if (recorder->sample_n > 1)
        return error_usage(err, "--trace needs every wait: leave out --sample=N and --sync-callstacks");
    return 0;
}

static int check_wall(const struct collector_options *recorder, struct error *err) {
    if (!(recorder->features & FEATURE_WALL)) return 0;
    if (!(recorder->features & FEATURE_CPU)) return error_usage(err, "--wall needs --cpu=HZ: its running time is that");
    if (!(recorder->features & FEATURE_LOCKS) || !(recorder->features & FEATURE_IO))
        return error_usage(err, "--wall needs the calls that wait: leave out --no-locks and --no-io");
    if (recorder->sample_n > 1)
        return error_usage(err, "--wall needs every wait: leave out --sample=N and --sync-callstacks");
    return 0;
}

static int check_heap(const struct collector_options *recorder, struct error *err) {
    if (recorder->features & FEATURE_LIFETIMES && !(recorder->features & FEATURE_HEAP))
        return error_usage(err, "--lifetimes and --no-heap exclude each other");
    if (!(recorder->features & FEATURE_LEAKS_ALWAYS)) return 0;
    if (!(recorder->features & FEATURE_HEAP)) return error_usage(err, "--leaks and --no-heap exclude each other");
    if (recorder->sample_n > 1 || recorder->sample_bytes > 1)
        return error_usage(err, "--leaks needs every allocation: leave out --sample and --sync-callstacks");
    return 0;
}

static int check_budget(const struct collector_options *recorder, struct error *err) {
    if (recorder->budget <= 0) return 0;
    if (!(recorder->features & FEATURE_HEAP))
        return error_usage(err, "--budget and --no-heap exclude each other: it is held by sampling allocations");
    if (recorder->sample_n > 1 || recorder->sample_bytes > 1 || recorder->features & FEATURE_SYNC_STACKS)
        return error_usage(err, "--budget samples by itself: leave out --sample and --sync-callstacks");
    if (recorder->features & FEATURE_LEAKS_ALWAYS || recorder->trace_kinds & TRACE_ALLOC)
        return error_usage(err, "--leaks and --trace=alloc need every allocation: leave out --budget");
    return 0;
}

/* What clear does not start has a budget, unless it is asked for what has none. */
static bool gets_budget(const struct profile_request *request) {
    const struct collector_options *recorder = &request->recorder;
    bool is_running = request->pid_count || request->name_count;
    return (is_running || request->is_service) && !request->has_no_budget && recorder->budget <= 0 &&
           recorder->features & FEATURE_HEAP && recorder->sample_n <= 1 && recorder->sample_bytes <= 1 &&
           !(recorder->features & FEATURE_SYNC_STACKS) && !(recorder->features & FEATURE_LEAKS_ALWAYS) &&
           !(recorder->trace_kinds & TRACE_ALLOC);
}

/* Sets what follows from the options. */
static void derive_settings(struct profile_request *request) {
    struct collector_options *recorder = &request->recorder;
    if (gets_budget(request)) recorder->budget = BUDGET_DEFAULT;
    if (recorder->sample_n > 1 || recorder->sample_bytes > 1 || recorder->features & FEATURE_SYNC_STACKS ||
        !(recorder->features & FEATURE_HEAP))
        recorder->features &= ~(uint32_t)FEATURE_LEAKS; /* it needs every block */
    recorder->ids_max = request->ids_max < 0 ? ids_limit_default() : (uint64_t)request->ids_max;
    bool splits_locks = recorder->features & FEATURE_SYNC_STACKS;
    if (splits_locks && !recorder->sample_n) recorder->sample_n = SYNC_SAMPLE_DEFAULT;
    if (request->cpu_hz && !request->uses_perf) {
        recorder->features |= FEATURE_CPU;
        recorder->cpu_hz = request->cpu_hz;
    }
    /* --keep keeps its windows unmerged. */
    if (!request->has_windows && !recorder->windows.keep_ns) recorder->windows.most = WINDOWS_DEFAULT;
    request->waits = request->waits || request->detaches;
    request->run.command = request->arguments;
    request->run.tags = &request->tags;
    request->run.sample_n = recorder->sample_n;
    request->run.sample_bytes = recorder->sample_bytes;
}

/* The options in front of the target, and then those behind it. */
static int read_options(struct profile_request *request, int *argc, char **argv, struct error *err) {
    size_t count = (size_t)*argc;
    char **given = xcalloc(count, sizeof *given); /* cli_options takes its words out, a "--" too */
    memcpy(given, argv, count * sizeof *given);
    int code = cli_options(argc, argv, request, err);
    bool is_over = false;
    for (size_t i = 2; code >= 0 && *argc > 1 && i < count; i++)
        if (given[i] == argv[1]) is_over = strcmp(given[i - 1], "--") == 0;
    free(given);
    return code < 0 ? -1 : options_behind_target(request, is_over, argc, argv, err);
}

void profile_request_init(struct profile_request *request) {
    *request = (struct profile_request){.cpu_hz = CPU_HZ_DEFAULT,
                                        .ids_max = -1,
                                        .recorder = {.features = FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS |
                                                                 FEATURE_CHANNELS | FEATURE_FIBERS | FEATURE_IO |
                                                                 FEATURE_MMAP | FEATURE_LEAKS,
                                                     .depth = DEPTH_DEFAULT,
                                                     .trace_max = TRACE_DEFAULT,
                                                     .trace_limit_ns = TRACE_LIMIT_DEFAULT,
                                                     .trace_alloc = TRACE_ALLOC_DEFAULT}};
}

int profile_request_settle(struct profile_request *request, struct error *err) {
    derive_settings(request);
    if (check_wait(request, err) || check_trace(&request->recorder, err) || check_wall(&request->recorder, err))
        return -1;
    return check_heap(&request->recorder, err) || check_budget(&request->recorder, err) ? -1 : 0;
}

int profile_request_read(struct profile_request *request, int argc, char **argv, struct error *err) {
    profile_request_init(request);
    if (read_options(request, &argc, argv, err)) return -1;
    if (take_target(request, argc, argv, err) || check_output(request, err)) return -1;
    return profile_request_settle(request, err);
}

void profile_request_free(struct profile_request *request) {
    free(request->pprof);
    for (size_t i = 0; i < request->name_count; i++)
        free(request->names[i]);
    free(request->names);
    free(request->pids);
    run_tags_free(&request->tags);
}
