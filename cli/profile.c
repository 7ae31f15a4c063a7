#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/profile_options.h"
#include "export/export.h"
#include "ingest/collector.h"
#include "ingest/launch.h"
#include "ingest/private_dir.h"
#include "ingest/target.h"
#include "ingest/tools.h"
#include "serve/serve.h"

enum {
    GRACE_STEPS = 20, /* children of the target that are about to end get 20 * 2 ms */
    GRACE_STEP_NS = 2000000,
};

/* ---- one recording ---- */

struct recording {
    const struct request *request;
    struct db db;
    struct private_dir directory;
    struct collector *collector;
    struct launch launch;
    struct watcher sampler, counter; /* perf record, perf stat */
    off_t input_start;               /* of standard input, -1 where it cannot be rewound */
    char *program, *runtime, *output;
    int64_t run_id;
    struct server *server; /* of --http; NULL for none */
    int served;            /* its descriptor */
    int wait_status;
    bool warned;
};

static char *output_name(const struct request *request) {
    if (request->output) return xstrdup(request->output);
    const char *slash = strrchr(request->arguments[0], '/');
    return xasprintf("%s.profile", slash ? slash + 1 : request->arguments[0]);
}

static char *tool_output(const struct recording *recording, enum tool tool) {
    static const char *const names[] = {"perf.data", "perf-stat", "strace"};
    return xasprintf("%s/%s", recording->directory.path, names[tool]);
}

static int check_tools(const struct request *request, const char *directory, struct error *err) {
    if (request->uses_perf && tool_check(TOOL_PERF_RECORD, "--cpu=perf", directory, err)) return -1;
    if (request->counters && tool_check(TOOL_PERF_STAT, "--counters", directory, err)) return -1;
    return request->syscalls ? tool_check(TOOL_STRACE, "--syscalls", directory, err) : 0;
}

static int flush_for_server(void *context, struct error *err) {
    struct recording *recording = context;
    return collector_flush(recording->collector, false, err);
}

static int open_server(struct recording *recording, struct error *err) {
    const struct request *request = recording->request;
    const struct server_source source = {
        .db = &recording->db, .run_id = recording->run_id, .flush = flush_for_server, .context = recording};
    if (!request->http) return 0;
    if (server_open(&recording->server, request->http, request->http_anywhere, &source, err)) return -1;
    recording->served = server_descriptor(recording->server);
    fprintf(stderr, "clear: serving the run at %s\n", server_url(recording->server));
    return 0;
}

static void close_server(struct recording *recording) {
    server_close(recording->server);
    recording->server = NULL;
}

/* The program never ran: as if it had not been asked for. */
static void cancel(struct recording *recording) {
    struct error ignored = {0};
    run_cancel(&recording->db, recording->run_id, &ignored);
}

static int prepare(struct recording *recording, struct error *err) {
    const struct request *request = recording->request;
    const char *name = request->arguments[0];
    private_dir_sweep();
    recording->output = output_name(request);
    recording->program = target_find(name, err);
    if (!recording->program || target_check(recording->program, name, err)) return -1;
    if (private_dir_make(&recording->directory, err) || check_tools(request, recording->directory.path, err)) return -1;
    recording->runtime = launch_runtime(recording->directory.path, err);
    if (!recording->runtime || cli_open(&recording->db, request->database, DB_WRITE, err)) return -1;
    recording->run_id = run_begin(&recording->db, &request->run, err);
    if (recording->run_id < 0) return -1;
    recording->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (collector_open(&recording->collector, &recording->db, recording->run_id, recording->directory.file,
                       &request->recorder, err) == 0 &&
        open_server(recording, err) == 0)
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

/* The target's process is there and waits: what must know it, or watch it from its first instruction on. */
static int before_exec(void *context, pid_t pid, struct error *err) {
    struct recording *recording = context;
    const struct request *request = recording->request;
    if (collector_set_first(recording->collector, pid, err)) return -1;
    if (request->uses_perf && watch(recording, &recording->sampler, TOOL_PERF_RECORD, pid, err)) return -1;
    return request->counters ? watch(recording, &recording->counter, TOOL_PERF_STAT, pid, err) : 0;
}

/* The first failure is worth a line; the same one again every second is not. */
static void flush(struct recording *recording) {
    struct error err = {0};
    if (collector_flush(recording->collector, false, &err) == 0 || recording->warned) return;
    recording->warned = true;
    fprintf(stderr, "clear: %s; the program runs on, and each flush tries again\n", err.message);
}

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Flushes at every interval; between them the server has its turns, for as long as it wants the time. */
static void attend(struct recording *recording) {
    uint64_t interval_ns = (uint64_t)recording->request->interval_ns, due_ns = monotonic_ns() + interval_ns;
    for (;;) {
        uint64_t now_ns = monotonic_ns(), wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
        int64_t serve_ns = recording->server ? server_timeout(recording->server) : -1;
        if (serve_ns >= 0 && (uint64_t)serve_ns < wait_ns) wait_ns = (uint64_t)serve_ns;
        if (launch_wait(&recording->launch, wait_ns, &recording->wait_status)) break;
        if (recording->server) server_step(recording->server);
        if (monotonic_ns() < due_ns) continue;
        flush(recording);
        due_ns = monotonic_ns() + interval_ns;
    }
    for (int i = 0; i < GRACE_STEPS && collector_running(recording->collector); i++)
        nanosleep(&(struct timespec){.tv_nsec = GRACE_STEP_NS}, NULL);
    if (recording->server) server_finish(recording->server);
    close_server(recording);
}

static int store_watched(struct recording *recording, struct watcher *watcher, struct error *err) {
    if (!watcher->pid) return 0;
    enum tool tool = watcher->tool;
    if (watcher_end(watcher, err)) return -1;
    char *output = tool_output(recording, tool);
    int code = tool_store(&recording->db, recording->run_id, tool, output, err);
    free(output);
    return code;
}

/* Input as the first execution had it where it can be rewound, else none; output to nowhere, for it came out once already. */
static void open_files(const struct recording *recording, int files[3]) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool is_rewound = recording->input_start >= 0 && lseek(STDIN_FILENO, recording->input_start, SEEK_SET) >= 0;
    files[0] = is_rewound ? STDIN_FILENO : nowhere;
    files[1] = files[2] = nowhere;
}

static int trace(struct recording *recording, const char *output, struct error *err) {
    int files[3], ignored;
    char *path, **words = strace_arguments(recording->program, recording->request->arguments, output, &path, err);
    if (!words) return -1;
    open_files(recording, files);
    launch_end(&recording->launch);
    recording->launch = (struct launch){.files = files};
    int code = launch_start(&recording->launch, path, words, NULL, NULL, err);
    while (code == 0 && !launch_wait(&recording->launch, (uint64_t)recording->request->interval_ns, &ignored))
        continue;
    close(files[1]);
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
    free(path);
    return code;
}

/* strace costs each system call two stops, and would end up in every figure: so it has an execution for itself. */
static int count_syscalls(struct recording *recording, struct error *err) {
    if (!recording->request->syscalls) return 0;
    if (WIFSIGNALED(recording->wait_status)) {
        fprintf(stderr, "clear: --syscalls: a signal ended the program, so it is not executed again\n");
        return 0;
    }
    fprintf(stderr, "clear: --syscalls: executing the program a second time, under strace, its output discarded%s\n",
            recording->input_start < 0 ? ", its standard input empty" : "");
    char *output = tool_output(recording, TOOL_STRACE);
    int code = trace(recording, output, err);
    if (code == 0) code = tool_store(&recording->db, recording->run_id, TOOL_STRACE, output, err);
    free(output);
    return code;
}

static int finish(struct recording *recording, struct error *err) {
    if (collector_flush(recording->collector, true, err) ||
        run_end(&recording->db, recording->run_id, recording->wait_status, err))
        return -1;
    /* What perf and strace failed at must not cost the files of what we recorded ourselves. */
    struct error tools = {0};
    if (store_watched(recording, &recording->sampler, &tools) == 0 &&
        store_watched(recording, &recording->counter, &tools) == 0)
        (void)count_syscalls(recording, &tools);
    if (export_directory(&recording->db, recording->run_id, recording->output, err)) return -1;
    return tools.status == ERROR_NONE ? 0 : error_fail(err, "%s", tools.message);
}

/* ---- closing words ---- */

static void warn(uint64_t count, const char *what) {
    if (count) fprintf(stderr, "clear: warning: %s %s\n", units_count((int64_t)count).text, what);
}

/* "; 12 acquisitions of 3 locks", nothing for none. */
static void print_part(uint64_t count, const char *what, uint64_t things, const char *thing) {
    if (count) fprintf(stderr, "; %s %s", units_count((int64_t)count).text, what);
    if (count && thing) fprintf(stderr, " of %s %s", units_count((int64_t)things).text, thing);
}

static void print_totals(const struct recording *recording, const struct collector_totals *totals) {
    const struct collector_options *recorder = &recording->request->recorder;
    uint64_t live = totals->alloc_bytes - totals->free_bytes;
    fprintf(stderr, "clear: run %lld in %s: ", (long long)recording->run_id,
            cli_database(recording->request->database));
    if (recorder->features & FEATURE_HEAP)
        fprintf(stderr, "%s allocations (%s) from %s stacks, %s not freed",
                units_count((int64_t)totals->alloc_count).text, units_bytes((int64_t)totals->alloc_bytes).text,
                units_count((int64_t)totals->sites).text, units_bytes((int64_t)live).text);
    else
        fprintf(stderr, "no heap");
    if (recorder->features & FEATURE_LOCKS)
        fprintf(stderr, "; %s acquisitions of %s locks", units_count((int64_t)totals->acquires).text,
                units_count((int64_t)totals->locks).text);
    print_part(totals->cell_events, "uses", totals->cells, "cells");
    print_part(totals->channel_events, "messages", totals->channels, "channels");
    print_part(totals->fibers, "fibers", 0, NULL);
    if (totals->cpu_samples) fprintf(stderr, "; %s of CPU time sampled", units_ns((int64_t)totals->cpu_ns).text);
    if (totals->cpu_dropped)
        fprintf(stderr, " (%s more samples fell into the recorder)", units_count((int64_t)totals->cpu_dropped).text);
    if (totals->processes > 1) fprintf(stderr, "; %s processes", units_count((int64_t)totals->processes).text);
    if (recorder->sample_n > 1) fprintf(stderr, "; sampled 1 in %s", units_count(recorder->sample_n).text);
    if (recorder->sample_bytes > 1)
        fprintf(stderr, "; allocations sampled every %s", units_bytes((int64_t)recorder->sample_bytes).text);
}

static void report(const struct recording *recording) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    warn(totals.dropped - totals.cpu_dropped, "events could not be recorded");
    warn(totals.unrecorded, "processes could not be recorded");
    warn(totals.corrupt, "segments are damaged; what could be read of them is stored");
    warn(totals.running, "processes still ran when the target ended; what they did later is not recorded");
    if (recording->request->quiet) return;
    const char *database = cli_database(recording->request->database);
    if (!totals.processes) {
        fprintf(stderr, "clear: run %lld in %s: nothing to record: no process allocated or took a lock\n",
                (long long)recording->run_id, database);
        return;
    }
    print_totals(recording, &totals);
    fprintf(stderr, "\nclear: next: clear doctor --db %s %lld; go tool pprof -http=: %s/%s.pb.gz\n", database,
            (long long)recording->run_id, recording->output,
            recording->request->recorder.features & FEATURE_HEAP ? "heap" : "cpu");
}

/* The recording failed, the program did not: its own status must not be lost. */
static int name_status(struct error *err, int wait_status) {
    if (WIFSIGNALED(wait_status))
        return error_prefix(
            err, "the program was ended by signal %d, and what it did is not all stored: ", WTERMSIG(wait_status));
    return error_prefix(
        err, "the program exited with status %d, and what it did is not all stored: ", WEXITSTATUS(wait_status));
}

/* ---- the command ---- */

/* The program that just ended, the run's rows, files and words; in this order, so that what fails late loses least. */
static int run_target(struct recording *recording, struct error *err) {
    recording->launch = (struct launch){
        .before_exec = before_exec, .context = recording, .attended = recording->server ? &recording->served : NULL};
    if (launch_start(&recording->launch, recording->program, recording->request->arguments, recording->runtime,
                     recording->directory.path, err)) {
        cancel(recording);
        return -1;
    }
    attend(recording);
    int code = finish(recording, err);
    if (code == 0) report(recording);
    if (db_close(&recording->db, err)) code = -1;
    private_dir_remove(&recording->directory);
    launch_end(&recording->launch);
    return code ? name_status(err, recording->wait_status) : 0;
}

static void release(struct recording *recording) {
    struct error ignored = {0};
    close_server(recording);
    watcher_abandon(&recording->sampler);
    watcher_abandon(&recording->counter);
    collector_close(recording->collector);
    db_close(&recording->db, &ignored);
    private_dir_remove(&recording->directory);
    free(recording->program);
    free(recording->runtime);
    free(recording->output);
}

int command_profile(int argc, char **argv, struct error *err) {
    struct request request;
    struct recording recording = {.request = &request, .directory = {.file = -1, .owner = -1}};
    int code = request_read(&request, argc, argv, err);
    if (code == 0) code = prepare(&recording, err);
    if (code == 0) code = run_target(&recording, err);
    release(&recording);
    request_free(&request);
    return code ? -1 : launch_exit_status(recording.wait_status);
}
