#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/record/detach.h"
#include "cli/record/live_server.h"
#include "cli/record/profile_options.h"
#include "cli/record/profile_program.h"
#include "cli/record/status_line.h"
#include "cli/record/summary.h"
#include "cli/web/http_token.h"
#include "cli/web/tls.h"
#include "export/export.h"
#include "ingest/record/collector.h"
#include "ingest/record/launch.h"
#include "ingest/record/lost.h"
#include "ingest/record/private_dir.h"
#include "ingest/record/relatives.h"
#include "ingest/record/self_dumps.h"
#include "ingest/record/tools.h"
#include "ingest/symbols/source_rows.h"
#include "schema/schema.h"

enum {
    GRACE_STEPS = 20, /* the target's children get 20 * 2 ms to end */
    GRACE_STEP_NS = 2000000,
    INTERVAL_YOUNG_NS = 50000000, /* the shortest and the longest time between two flushes, without --interval */
    INTERVAL_OLD_NS = 1000000000,
    LOOK_NS = 50000000,        /* between two looks whether a process still runs */
    LOCKED_PATIENCE_MS = 1000, /* of one attempt to begin a run or to store its end */
    FLUSH_PATIENCE_MS = 10000, /* of a flush meanwhile: if it fails, the next one makes up for it */
};
#define LOCKED_AGAIN_NS INT64_C(10000000000) /* the message about it is repeated */

/* ---- one recording ---- */

struct recording {
    const struct profile_request *request;
    struct db db;
    struct private_dir directory;
    struct collector *collector;
    struct launch launch;
    struct watcher sampler, counter; /* perf record, perf stat */
    off_t input_start;               /* of standard input, -1 where it cannot be rewound */
    struct profile_target target;
    struct self_dumps dumps;
    char *runtime, *output;
    int64_t run_id, duration_ns;
    int64_t last_flush_ns;   /* what the last flush took, as writing_ns */
    struct live_server live; /* of --http */
    struct live_server_terms live_terms;
    char *token; /* that a client needs to switch recording */
    bool is_token_new;
    int wait_status;
    int report;   /* of --detach; -1: none */
    bool is_over; /* the target has ended, and what it started is waited for */
    bool warned, is_paused;
};

static char *output_name(const struct recording *recording) {
    const char *given = recording->request->output;
    return given ? xstrdup(given) : xasprintf("%s.profile", recording->target.name);
}

static char *tool_output(const struct recording *recording, enum tool tool) {
    static const char *const names[] = {"perf.data", "perf-stat", "strace"};
    return xasprintf("%s/%s", recording->directory.path, names[tool]);
}

static int check_tools(const struct profile_request *request, const char *directory, struct error *err) {
    if (request->uses_perf && tool_check(TOOL_PERF_RECORD, "--cpu=perf", directory, err)) return -1;
    if (request->counters && tool_check(TOOL_PERF_STAT, "--counters", directory, err)) return -1;
    return request->syscalls ? tool_check(TOOL_STRACE, "--syscalls", directory, err) : 0;
}

static struct ingest_program program_of(const struct recording *recording) {
    const struct build *build = &recording->target.build;
    return (struct ingest_program){
        .path = recording->target.program, .build_directory = build->place, .source = build->source};
}

/* Stores the source before anybody edits it. The output of the transpiler is searched for with it. */
static int keep_source(struct recording *recording, struct error *err) {
    const char *source = recording->target.build.source;
    char *text = source ? source_read(source) : NULL;
    if (!text) return 0;
    struct ingest_program program = program_of(recording);
    int code = sources_put(&recording->db, recording->run_id, source, SOURCE_ROLE, text, err);
    collector_built(recording->collector, &program);
    free(text);
    return code;
}

/* What all flushes took so far, without looking for names, which is work of the first one. */
static int64_t writing_ns(const struct recording *recording) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    return (int64_t)(totals.flush_ns - totals.symbolize_ns);
}

/* Prints the first failure only. */
static void flush(struct recording *recording) {
    struct error err = {0};
    int64_t before_ns = writing_ns(recording);
    int code = collector_flush(recording->collector, false, &err);
    recording->last_flush_ns = writing_ns(recording) - before_ns;
    if (code == 0 || recording->warned) return;
    recording->warned = true;
    fprintf(stderr, "clear: %s; the program continues, and each flush tries again\n", err.message);
}

/* Switches first, then flushes, so that a window ends when recording did. */
static int set_recording(struct recording *recording, bool is_on, struct error *err) {
    if (is_on == !recording->is_paused) return 0;
    if (collector_pause(recording->collector, !is_on, err))
        return error_prefix(err, "recording stays %s: ", is_on ? "off" : "on");
    recording->is_paused = !is_on;
    if (!recording->request->quiet) fprintf(stderr, "clear: recording is %s\n", is_on ? "on" : "off");
    flush(recording);
    return 0;
}

/* ---- the server ---- */

static int flush_for_server(void *context, struct error *err) {
    struct recording *recording = context;
    return collector_flush(recording->collector, false, err);
}

/* perf and strace give nothing before the end. */
static bool is_recorded(void *context, const char *kind) {
    static const struct {
        const char *kind;
        uint32_t features;
    } known[] = {{"heap", FEATURE_HEAP},  {"lock", FEATURE_LOCKS},         {"mutex", FEATURE_LOCKS},
                 {"mvcc", FEATURE_CELLS}, {"channels", FEATURE_CHANNELS},  {"block", FEATURE_LOCKS | FEATURE_CHANNELS},
                 {"cpu", FEATURE_CPU},    {"fibers", FEATURE_FIBERS},      {"io", FEATURE_IO},
                 {"mmap", FEATURE_MMAP},  {"lifetimes", FEATURE_LIFETIMES}};
    const struct recording *recording = context;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0) return recording->request->recorder.features & known[i].features;
    return false;
}

static bool is_on_for_server(void *context) {
    const struct recording *recording = context;
    return !recording->is_paused;
}

static int set_for_server(void *context, bool is_on, struct error *err) {
    return set_recording(context, is_on, err);
}

static int start_server(struct recording *recording, struct error *err) {
    const struct profile_request *request = recording->request;
    struct tls_texts tls;
    if (!request->http) return 0;
    recording->token = http_token(request->http_token, &recording->is_token_new, err);
    if (!recording->token) return -1;
    if (tls_read(&tls, request->tls_cert, request->tls_key, err)) {
        tls_free(&tls);
        return -1;
    }
    recording->live_terms = (struct live_server_terms){.address = request->http,
                                                       .database = request->database,
                                                       .token = recording->token,
                                                       .certificate = tls.certificate,
                                                       .key = tls.key,
                                                       .anywhere = request->http_anywhere,
                                                       .records = is_recorded,
                                                       .flush = flush_for_server,
                                                       .is_on = is_on_for_server,
                                                       .set = set_for_server,
                                                       .context = recording};
    int code = live_server_start(&recording->live, &recording->live_terms, err);
    tls_free(&tls); /* the server has its own copy, and the recorder needs no key */
    recording->live_terms.certificate = recording->live_terms.key = NULL;
    return code;
}

/* The certificate may be signed by nobody but itself: curl is told to trust it. */
static void print_switch(const struct recording *recording) {
    const char *certificate = recording->request->tls_cert;
    struct buffer trust = {0};
    if (certificate) buffer_add_text(&trust, " --cacert ");
    if (certificate) escape_shell(&trust, certificate);
    fprintf(stderr, "clear: switch recording with: curl%s -X POST -H 'Authorization: Bearer %s' '%stoggle'\n",
            buffer_text(&trust), recording->token, recording->live.url);
    buffer_free(&trust);
}

/* A new token is printed here and nowhere else. */
static int open_server(struct recording *recording, struct error *err) {
    const struct live_server *live = &recording->live;
    if (!live->pid) return 0;
    if (live_server_open(&recording->live, recording->run_id, err)) return -1;
    fprintf(stderr, "clear: serving the run at %s\n", live->url);
    if (recording->is_token_new && recording->request->http_anywhere)
        fprintf(stderr, "clear: the token, which every request needs: %s\n", recording->token);
    if (recording->is_token_new && !recording->request->quiet) print_switch(recording);
    return 0;
}

/* ---- begin ---- */

/* Removes the run of a program that was not started. */
static void cancel(struct recording *recording) {
    struct error ignored = {0};
    run_cancel(&recording->db, recording->run_id, &ignored);
}

/* How many of what killed recorders left belongs to this warehouse. */
static size_t count_lost(const char *database) {
    size_t count = 0;
    char **paths = lost_find(database);
    for (char **path = paths; *path; path++) {
        struct lost lost;
        struct error ignored = {0};
        if (lost_open(&lost, *path, &ignored) == 1) {
            count += lost_is_of(&lost, database);
            lost_close(&lost);
        }
        free(*path);
    }
    free(paths);
    return count;
}

static void sweep(const struct profile_request *request) {
    size_t kept;
    (void)private_dir_sweep(&kept);
    if (request->quiet || kept == 0) return;
    size_t count = count_lost(cli_database(request->database));
    if (count)
        fprintf(stderr, "clear: %s of a clear that was killed: clear recover --list\n",
                units_things((int64_t)count, "recording").text);
}

/* Another process has the file locked: says so, once and then every 10 s. */
static void say_locked(const struct recording *recording, int64_t *said_ns, const char *meanwhile) {
    int64_t now_ns = clock_monotonic_ns();
    if (*said_ns && now_ns - *said_ns < LOCKED_AGAIN_NS) return;
    *said_ns = now_ns;
    error_print("%s is locked by another process; %s", cli_database(recording->request->database), meanwhile);
}

/* The file may be locked for the one or the other. */
static int open_and_begin(struct recording *recording, struct error *err) {
    if (!recording->db.handle && cli_open(&recording->db, recording->request->database, DB_WRITE, err)) return -1;
    db_set_patience(&recording->db, LOCKED_PATIENCE_MS);
    recording->run_id = run_begin(&recording->db, &recording->request->run, err);
    db_set_patience(&recording->db, FLUSH_PATIENCE_MS);
    return recording->run_id < 0 ? -1 : 0;
}

/* While the file is locked, the program is not started, and Ctrl-C ends us. */
static int begin_run(struct recording *recording, struct error *err) {
    int64_t said_ns = 0;
    for (;;) {
        struct error failure = {0};
        if (open_and_begin(recording, &failure) == 0) return 0;
        if (!recording->db.was_locked) {
            *err = failure;
            return -1;
        }
        say_locked(recording, &said_ns, "the program starts as soon as it is free");
    }
}

static int prepare(struct recording *recording, struct error *err) {
    const struct profile_request *request = recording->request;
    sweep(request);
    if (start_server(recording, err)) return -1;
    if (profile_target_find(&recording->target, request->arguments, request->uses_perf, err)) return -1;
    if (recording->target.by_perf.what && !request->quiet)
        error_print("%s is %s: perf samples its CPU time, and nothing else of it is recorded (no allocations, locks or "
                    "waits)",
                    request->arguments[0], recording->target.by_perf.what);
    if (recording->target.built_by && !request->quiet)
        error_print("%s is built with %s (another rule: toolchain in clear.yaml)", request->arguments[0],
                    recording->target.built_by);
    recording->output = output_name(recording);
    if (!request->no_files && export_directory_check(recording->output, err)) return -1;
    if (private_dir_make(&recording->directory, err) || check_tools(request, recording->directory.path, err)) return -1;
    recording->runtime = launch_runtime(recording->directory.path, err);
    if (!recording->runtime || begin_run(recording, err)) return -1;
    self_dumps_open(&recording->dumps, recording->directory.path, &request->recorder);
    recording->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (collector_open(&recording->collector, &recording->db, recording->run_id, recording->directory.file,
                       &request->recorder, err) == 0 &&
        lost_describe(&recording->db, recording->run_id, &recording->directory, recording->target.program,
                      &recording->target.build, err) == 0 &&
        keep_source(recording, err) == 0 && open_server(recording, err) == 0)
        return 0;
    cancel(recording);
    return -1;
}

static int watch(struct recording *recording, struct watcher *watcher, enum tool tool, pid_t pid, struct error *err) {
    char *output = tool_output(recording, tool);
    int code = watcher_start(watcher, tool, recording->request->cpu_hz, pid, output, err);
    free(output);
    return code;
}

/* Called when the target's process exists but waits: starts what must see its first instruction. */
static int before_exec(void *context, pid_t pid, struct error *err) {
    struct recording *recording = context;
    const struct profile_request *request = recording->request;
    if (collector_set_first(recording->collector, pid, err)) return -1;
    if (request->uses_perf && watch(recording, &recording->sampler, TOOL_PERF_RECORD, pid, err)) return -1;
    return request->counters ? watch(recording, &recording->counter, TOOL_PERF_STAT, pid, err) : 0;
}

static void switch_recording(struct recording *recording) {
    struct error err = {0};
    recording->launch.has_signal = false;
    if (set_recording(recording, recording->is_paused, &err)) fprintf(stderr, "clear: %s\n", err.message);
}

/* What perf sampled, once it is stored. */
static int add_perf_totals(struct recording *recording, struct collector_totals *totals, struct error *err) {
    sqlite3_stmt *row = db_prepare(&recording->db, embedded_text("profile/cpu_totals.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", recording->run_id);
    if (db_step(&recording->db, row, err) != 1) return -1;
    totals->cpu_samples = (uint64_t)sqlite3_column_int64(row, 0);
    totals->cpu_ns = (uint64_t)sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return 0;
}

static struct collector_totals totals_of(struct recording *recording) {
    struct collector_totals totals;
    struct error ignored = {0};
    collector_totals(recording->collector, &totals);
    (void)self_dumps_totals(&recording->dumps, &recording->db, recording->run_id, &totals, &ignored);
    if (recording->request->uses_perf) (void)add_perf_totals(recording, &totals, &ignored);
    return totals;
}

/* Without --interval, a young run is flushed more often than an old one, so that also a run of half a second has windows
 * shorter than a fifth of it, by which growth is judged (schema/doctor/heap.sql). A flush that takes long is not made
 * often. */
static int64_t time_to_flush(const struct recording *recording) {
    if (recording->request->interval_ns) return recording->request->interval_ns;
    int64_t age_ns = clock_monotonic_ns() - (int64_t)recording->launch.started_ns;
    int64_t least_ns = 8 * recording->last_flush_ns, time_ns = age_ns / 6;
    if (time_ns < INTERVAL_YOUNG_NS) time_ns = INTERVAL_YOUNG_NS;
    if (time_ns < least_ns) time_ns = least_ns;
    return time_ns < INTERVAL_OLD_NS ? time_ns : INTERVAL_OLD_NS;
}

static bool others_run(const struct recording *recording) {
    return collector_running(recording->collector) || relatives_run(recording->directory.path);
}

/* True when what is waited for has ended: the program, or with --wait the last process that it started. */
static bool wait_for_end(struct recording *recording, int64_t wait_ns) {
    struct launch *launch = &recording->launch;
    if (!recording->is_over) return launch_wait(launch, (uint64_t)wait_ns, &recording->wait_status);
    return launch_wait_more(launch, (uint64_t)(wait_ns < LOOK_NS ? wait_ns : LOOK_NS)) || !others_run(recording);
}

/* Waits until a flush is due, or recording is to be switched (false), or the program has ended (true). Meanwhile the
 * server gets its answers. */
static bool wait_for_flush(struct recording *recording) {
    int64_t due_ns = clock_monotonic_ns() + time_to_flush(recording);
    for (;;) {
        int64_t left_ns = due_ns - clock_monotonic_ns(), wait_ns = left_ns > 0 ? left_ns : 0;
        if (wait_for_end(recording, wait_ns)) return true;
        live_server_step(&recording->live);
        if (recording->launch.has_signal || clock_monotonic_ns() >= due_ns) return false;
    }
}

static void flush_until_end(struct recording *recording, bool has_line) {
    struct status_line line;
    struct collector_totals totals;
    status_line_start(&line, has_line);
    while (!wait_for_flush(recording)) {
        if (recording->launch.has_signal)
            switch_recording(recording);
        else
            flush(recording);
        if (!status_line_is_due(&line)) continue;
        totals = totals_of(recording);
        status_line_draw(&line, &totals, recording->is_paused);
    }
    status_line_end(&line);
}

static void detach(struct recording *recording) {
    char *log = xasprintf("%s.log", recording->output);
    if (!recording->request->quiet)
        error_print("process %d goes on recording what runs; it prints to %s, and ends when the last process has ended "
                    "(kill %d: now)",
                    (int)getpid(), log, (int)getpid());
    detach_recorder(recording->report, recording->wait_status, log);
    recording->report = -1;
    free(log);
}

/* What the target started goes on, and is recorded until the last process has ended or somebody ends us. */
static void follow(struct recording *recording) {
    recording->is_over = true;
    if (!others_run(recording)) return;
    if (recording->report >= 0)
        detach(recording);
    else if (!recording->request->quiet)
        error_print("the target has ended; what it started is recorded until the last process has ended (Ctrl-C: now)");
    flush_until_end(recording, !recording->request->quiet && !recording->request->detaches);
    uint64_t now_ns = (uint64_t)clock_monotonic_ns();
    recording->duration_ns = (int64_t)(now_ns - recording->launch.started_ns);
    collector_set_span(recording->collector, recording->launch.started_ns, now_ns);
}

static void flush_until_exit(struct recording *recording) {
    collector_set_span(recording->collector, recording->launch.started_ns, 0);
    flush_until_end(recording, !recording->request->quiet);
    recording->duration_ns = (int64_t)(recording->launch.ended_ns - recording->launch.started_ns);
    collector_set_span(recording->collector, recording->launch.started_ns, recording->launch.ended_ns);
    collector_set_waits(recording->collector, recording->launch.waits);
    collector_set_status(recording->collector, recording->wait_status);
    for (int i = 0; i < GRACE_STEPS && collector_running(recording->collector); i++)
        nanosleep(&(struct timespec){.tv_nsec = GRACE_STEP_NS}, NULL);
    if (recording->request->waits) follow(recording);
    live_server_finish(&recording->live);
}

static int store_watched(struct recording *recording, struct watcher *watcher, struct error *err) {
    if (!watcher->pid) return 0;
    enum tool tool = watcher->tool;
    if (watcher_end(watcher, err)) return -1;
    char *output = tool_output(recording, tool);
    struct ingest_program program = program_of(recording);
    int code = tool_store(&recording->db, recording->run_id, tool, output, &program, err);
    free(output);
    return code;
}

/* Standard input is rewound if it is a file, else empty. Output is discarded. */
static void open_files(const struct recording *recording, int files[3]) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool is_rewound = recording->input_start >= 0 && lseek(STDIN_FILENO, recording->input_start, SEEK_SET) >= 0;
    files[0] = is_rewound ? STDIN_FILENO : nowhere;
    files[1] = files[2] = nowhere;
}

static int trace(struct recording *recording, const char *output, struct error *err) {
    int files[3], ignored;
    char *path, **words = strace_arguments(recording->target.program, recording->target.arguments, output, &path, err);
    if (!words) return -1;
    open_files(recording, files);
    launch_end(&recording->launch);
    recording->launch = (struct launch){.files = files};
    int code = launch_start(&recording->launch, path, words, NULL, NULL, err);
    while (code == 0 && !launch_wait(&recording->launch, INTERVAL_OLD_NS, &ignored))
        continue;
    close(files[1]);
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
    free(path);
    return code;
}

/* Runs the program a second time under strace, which would distort all other figures. */
static int count_syscalls(struct recording *recording, struct error *err) {
    if (!recording->request->syscalls) return 0;
    if (WIFSIGNALED(recording->wait_status)) {
        fprintf(stderr, "clear: --syscalls: a signal ended the program, so it is not run a second time\n");
        return 0;
    }
    fprintf(stderr, "clear: --syscalls: running the program a second time under strace, output discarded%s\n",
            recording->input_start < 0 ? ", its standard input empty" : "");
    char *output = tool_output(recording, TOOL_STRACE);
    int code = trace(recording, output, err);
    if (code == 0) code = tool_store(&recording->db, recording->run_id, TOOL_STRACE, output, NULL, err);
    free(output);
    return code;
}

static int take_dumps(struct recording *recording, struct error *err) {
    struct self_dumps *dumps = &recording->dumps;
    struct ingest_program program = program_of(recording);
    if (self_dumps_take(dumps, &recording->db, recording->run_id, recording->collector, &program, err)) return -1;
    for (size_t i = 0; i < dumps->loss_count; i++)
        fprintf(stderr, "clear: warning: the program's own dump (%s) is not stored: %s\n",
                self_dumps_variable(dumps->losses[i].kind), dumps->losses[i].error.message);
    return 0;
}

static int end_run(struct recording *recording, struct error *err) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    const struct run_ending ending = {.wait_status = recording->wait_status,
                                      .symbolize_ns = totals.symbolize_ns,
                                      .write_ns = totals.flush_ns - totals.symbolize_ns};
    return run_end(&recording->db, recording->run_id, &ending, err);
}

/* The run is stored already, and the program did not fail: its status stays. */
static void write_directory(struct recording *recording) {
    struct error failure = {0};
    struct buffer again = {0};
    if (export_directory(&recording->db, recording->run_id, recording->output, &failure) == 0) return;
    escape_shell(&again, cli_database(recording->request->database));
    fprintf(stderr, "clear: warning: %s; the run is stored, and clear export --db %s %lld -o DIR/ writes its files\n",
            failure.message, buffer_text(&again), (long long)recording->run_id);
    buffer_free(&again);
}

/* ---- storing the end ---- */

static int flush_last(struct recording *recording, struct error *err) {
    return collector_flush(recording->collector, true, err);
}

/* What must not be lost. While the file is locked it is tried again and again. */
static int store_end(struct recording *recording, struct error *err) {
    static int (*const steps[])(struct recording * recording, struct error * err) = {flush_last, end_run, take_dumps};
    int64_t said_ns = 0;
    (void)launch_is_asked_to_end(); /* what came before was for the program */
    db_set_patience(&recording->db, LOCKED_PATIENCE_MS);
    for (size_t i = 0; i < sizeof steps / sizeof *steps;) {
        struct error failure = {0};
        if (steps[i](recording, &failure) == 0)
            i++;
        else if (!recording->db.was_locked || launch_is_asked_to_end())
            return error_fail(err, "%s", failure.message);
        else
            say_locked(recording, &said_ns,
                       "the run is stored as soon as it is free (Ctrl-C: keep it to store it later)");
    }
    return 0;
}

/* The run could not be stored: its segments are kept for clear recover. */
static void keep(struct recording *recording, const struct error *why) {
    struct buffer place = {0};
    char *path = lost_keep(&recording->directory, recording->db.path, &recording->target.build);
    escape_shell(&place, path);
    error_print("%s", why->message);
    error_print("the end of the run is not stored; it is kept, and this stores it: clear recover %s",
                buffer_text(&place));
    buffer_free(&place);
    free(path);
}

/* For a reader of the figures who does not know the program: doctor shows it first. */
static int warn_of_perf(struct recording *recording, struct error *err) {
    const char *what = recording->target.by_perf.what;
    if (!what) return 0;
    char *text =
        xasprintf("# WARNING: only CPU time is recorded, by perf: the program is %s, and nothing can be preloaded "
                  "into it",
                  what);
    int code = collector_warn(recording->collector, text, err);
    free(text);
    return code;
}

static int finish(struct recording *recording, struct error *err) {
    /* A failure of perf or strace must not prevent the export of what was recorded. */
    struct error tools = {0};
    if (store_watched(recording, &recording->sampler, &tools) == 0 &&
        store_watched(recording, &recording->counter, &tools) == 0 && warn_of_perf(recording, &tools) == 0)
        (void)count_syscalls(recording, &tools);
    if (!recording->request->no_files) write_directory(recording);
    return tools.status == ERROR_NONE ? 0 : error_fail(err, "%s", tools.message);
}

/* Prints the error and keeps the status of the program, which did not fail. */
static int name_status(struct error *err, int wait_status) {
    if (WIFSIGNALED(wait_status))
        return error_prefix(
            err, "the program was ended by signal %d, and what it did is not all stored: ", WTERMSIG(wait_status));
    return error_prefix(
        err, "the program exited with status %d, and what it did is not all stored: ", WEXITSTATUS(wait_status));
}

/* ---- the command ---- */

static int start(struct recording *recording, struct error *err) {
    recording->launch = (struct launch){.before_exec = before_exec,
                                        .context = recording,
                                        .attended = recording->live.pid ? &recording->live.socket : NULL,
                                        .variables = recording->dumps.variables};
    if (recording->request->is_switched) recording->launch.own_signal = SIGUSR2;
    recording->is_paused = recording->request->recorder.is_paused;
    const char *runtime = recording->target.by_perf.must_be_bare ? NULL : recording->runtime;
    if (launch_start(&recording->launch, recording->target.program, recording->target.arguments, runtime,
                     runtime ? recording->directory.path : NULL, err)) {
        cancel(recording);
        return -1;
    }
    for (const char *const *name = recording->dumps.replaced; *name && !recording->request->quiet; name++)
        fprintf(stderr, "clear: %s was set and is replaced: the dump becomes part of the run\n", *name);
    return 0;
}

/* Ends the run: its rows, its files, the summary; in this order, so that a late failure loses least. */
static int end(struct recording *recording, struct error *err) {
    int code = finish(recording, err);
    if (code == 0)
        summary_print(&(struct summary){.request = recording->request,
                                        .totals = totals_of(recording),
                                        .run_id = recording->run_id,
                                        .duration_ns = recording->duration_ns,
                                        .output = recording->request->no_files ? NULL : recording->output,
                                        .is_by_perf = recording->target.by_perf.what != NULL,
                                        .dumps = &recording->dumps,
                                        .wait_status = recording->wait_status},
                      stderr);
    if (db_close(&recording->db, err)) code = -1;
    private_dir_remove(&recording->directory);
    return code ? name_status(err, recording->wait_status) : 0;
}

static int run_target(struct recording *recording, struct error *err) {
    struct error failure = {0};
    int code = 0;
    if (start(recording, err)) return -1;
    flush_until_exit(recording);
    if (store_end(recording, &failure))
        keep(recording, &failure);
    else
        code = end(recording, err);
    launch_end(&recording->launch);
    if (code == 0 && failure.status == ERROR_NONE)
        collect_after_recording(cli_database(recording->request->database), recording->request->quiet);
    return code;
}

static void release(struct recording *recording) {
    struct error ignored = {0};
    live_server_finish(&recording->live);
    watcher_abandon(&recording->sampler);
    watcher_abandon(&recording->counter);
    collector_close(recording->collector);
    db_close(&recording->db, &ignored);
    private_dir_remove(&recording->directory);
    profile_target_free(&recording->target);
    self_dumps_close(&recording->dumps);
    free(recording->token);
    free(recording->runtime);
    free(recording->output);
}

static int record(struct recording *recording, struct error *err) {
    int code = prepare(recording, err);
    if (code == 0) code = run_target(recording, err);
    release(recording);
    return code ? -1 : launch_exit_status(recording->wait_status);
}

int command_profile(int argc, char **argv, struct error *err) {
    struct profile_request request;
    struct recording recording = {
        .request = &request, .directory = {.file = -1, .owner = -1}, .report = -1, .live = {.socket = -1}};
    int status = 0, code = profile_request_read(&request, argc, argv, err);
    if (code == 0) code = request.detaches ? detach_start(&recording.report, &status, err) : 1;
    if (code > 0) status = record(&recording, err);
    profile_request_free(&request);
    return code < 0 ? -1 : status;
}
