#include "base/path.h"
#include "cli/record/profiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/push_after.h"
#include "cli/record/kept_program.h"
#include "export/export.h"
#include "ingest/record/lost.h"
#include "ingest/record/recordable.h"
#include "ingest/symbols/source_rows.h"

#define LOCKED_AGAIN_NS INT64_C(10000000000) /* the message about it is repeated */

static char *output_name(const struct profiling *recording) {
    const char *given = recording->request->output;
    return given ? xstrdup(given) : xasprintf("%s.profile", recording->target.name);
}

/* The output of the transpiler is searched for with it. */
static int keep_source(struct profiling *recording, struct error *err) {
    const char *source = recording->target.build.source;
    if (!recording->source) return 0;
    struct ingest_program program = profile_target_program(&recording->target);
    collector_built(recording->collector, &program);
    return sources_put(&recording->db, recording->run_id, source, SOURCE_ROLE, recording->source, err);
}

/* Removes the run of a program that was not started. */
void profiling_cancel(struct profiling *recording) {
    struct error ignored = {0};
    run_cancel(&recording->db, recording->run_id, &ignored);
}

/* How many of what killed recorders left belongs to this warehouse. */
static size_t count_lost(const char *database) {
    size_t count = 0;
    char **paths = lost_find(database, NULL);
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
void profiling_say_locked(const struct profiling *recording, int64_t *said_ns, const char *meanwhile) {
    int64_t now_ns = clock_monotonic_ns();
    if (*said_ns && now_ns - *said_ns < LOCKED_AGAIN_NS) return;
    *said_ns = now_ns;
    const char *database = cli_database(recording->request->database);
    char *locked_by = db_locked_by(database);
    error_print("%s is locked by %s; %s", database, locked_by, meanwhile);
    free(locked_by);
}

/* db->was_locked says why it failed. */
static int open_and_begin(struct profiling *recording, struct error *err) {
    struct db *db = &recording->db;
    struct error ignored = {0};
    if (cli_open_within(db, recording->request->database, DB_WRITE, LOCKED_PATIENCE_MS, err)) return -1;
    recording->run_id = run_begin(db, &recording->request->run, err);
    db_set_patience(db, FLUSH_PATIENCE_MS);
    if (recording->run_id > 0) return 0;
    bool was_locked = db->was_locked;
    db_take_back(db);
    db_close(db, &ignored);
    db->was_locked = was_locked;
    return -1;
}

/* redis-server is a link to redis-check-rdb: the program is called as its user calls it. python3, a link to python3.11, says less than its file. */
static int name_program(struct profiling *recording) {
    const char *program = recording->target.program, *name = program ? path_base(program) : NULL;
    if (!program) return 0; /* it runs already */
    char *file = realpath(program, NULL);
    char *place = name == program ? xstrdup(".") : xasprintf("%.*s", (int)(name - program), program);
    char *directory = realpath(place, NULL);
    if (file && directory && strncmp(path_base(file), name, strlen(name)) != 0) {
        char *link = xasprintf("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
        collector_called(recording->collector, file, link);
        free(link);
    }
    free(directory);
    free(place);
    free(file);
    return 0;
}

/* A reader that somebody forgot may have the file for hours: the program is not kept from starting. */
static int begin_run(struct profiling *recording, struct error *err) {
    struct error failure = {0};
    int64_t said_ns = 0;
    if (open_and_begin(recording, &failure) == 0) return 0;
    if (!recording->db.was_locked) {
        *err = failure;
        return -1;
    }
    profiling_say_locked(recording, &said_ns, "the program starts, and the run is stored as soon as the file is free");
    if (db_open_private(&recording->db, cli_database(recording->request->database), err)) return -1;
    recording->is_waiting = true;
    recording->run_id = run_begin(&recording->db, &recording->request->run, err);
    return recording->run_id < 0 ? -1 : 0;
}

/* From the private warehouse into the one that was asked for. */
static int leave_private(struct profiling *recording, int patience_ms, struct error *err) {
    struct db file;
    struct error ignored = {0};
    int code = cli_open_within(&file, recording->request->database, DB_WRITE, patience_ms, err);
    int64_t run_id = code ? -1 : lost_begin(&file, &recording->directory, err);
    if (run_id < 0) {
        recording->db.was_locked = file.was_locked;
        if (code == 0) db_close(&file, &ignored);
        return -1;
    }
    db_close(&recording->db, &ignored);
    db_move(&recording->db, &file);
    db_set_patience(&recording->db, FLUSH_PATIENCE_MS);
    recording->run_id = run_id;
    recording->is_waiting = false;
    collector_move(recording->collector, run_id);
    return 0;
}

/* What profiling_prepare could not do yet. The program runs: whatever fails here, the recording goes on. */
static void begin_late(struct profiling *recording) {
    struct error err = {0};
    if (profiling_server_open(recording, &err)) error_print("warning: the run is not served: %s", err.message);
    if (!recording->request->quiet) error_print("%s is free; the run is stored in it", recording->db.path);
}

int profiling_flush(struct profiling *recording, bool final, int patience_ms, struct error *err) {
    if (recording->is_waiting) {
        if (leave_private(recording, patience_ms, err)) {
            collector_pass(recording->collector);
            return -1;
        }
        begin_late(recording);
    }
    return collector_flush(recording->collector, final, err);
}

static int begin_collector(struct profiling *recording, struct error *err) {
    const struct profile_request *request = recording->request;
    if (collector_open(&recording->collector, &recording->db, recording->run_id, recording->directory.file,
                       &request->recorder, err) == 0 &&
        name_program(recording) == 0 &&
        lost_describe(&recording->db, recording->run_id, &recording->directory, recording->target.program,
                      &recording->target.build, recording->source, err) == 0 &&
        keep_source(recording, err) == 0 && (recording->is_waiting || profiling_server_open(recording, err) == 0)) {
        if (recording->is_waiting) lost_copy_build(&recording->directory, &recording->target.build);
        push_after_begin(&recording->db, recording->run_id);
        return 0;
    }
    profiling_cancel(recording);
    return -1;
}

int profiling_prepare_running(struct profiling *recording, struct error *err) {
    sweep(recording->request);
    if (push_after_check(err) || profiling_server_start(recording, err)) return -1;
    recording->output = output_name(recording);
    if (!recording->request->no_files && export_directory_check(recording->output, err)) return -1;
    recording->runtime = launch_runtime(recording->directory.path, err);
    if (!recording->runtime || begin_run(recording, err)) return -1;
    return begin_collector(recording, err);
}

static bool has_perf(void) {
    struct error missing = {0};
    char *path = recordable_find("perf", &missing);
    free(path);
    return path != NULL;
}

/* A Go program, and with --cpu=perf any where perf is not installed, is sampled from outside where the kernel lets us. Else a Go program with C code
 * is sampled by the runtime in it. */
static int choose_sampler(struct profiling *recording, struct error *err) {
    struct by_perf *by_perf = &recording->target.by_perf;
    struct profile_request *request = recording->request;
    struct error denied = {0};
    bool lacks_perf = request->uses_perf && !has_perf();
    if (!by_perf->is_outside && !lacks_perf) return 0;
    by_perf->is_outside = outside_check(getpid(), NULL, &denied) == 0;
    if (by_perf->is_outside) {
        request->recorder.features &= ~(uint32_t)FEATURE_CPU;
        request->uses_perf = false;
    }
    if (by_perf->is_outside || lacks_perf || !by_perf->what) return 0; /* tool_check says that perf is missing */
    return error_usage(err, "%s is %s, and %s", request->arguments[0], by_perf->what, denied.message);
}

/* Before the program runs. */
static void say_what_is_missing(const struct profiling *recording) {
    const struct profile_request *request = recording->request;
    const struct by_perf *by_perf = &recording->target.by_perf;
    const char *target = request->arguments[0];
    if (by_perf->is_outside && by_perf->what)
        error_print(
            "%s is %s: its CPU time is sampled from outside, and what it waits for where the kernel permits it; "
            "nothing can be preloaded into it%s",
            target, by_perf->what,
            by_perf->is_go && !request->pprof ? " (--pprof URL adds its heap, where it serves net/http/pprof)" : "");
    else if (by_perf->what)
        error_print("%s is %s: perf samples its CPU time, and nothing else of it is recorded (no allocations, locks or "
                    "waits)",
                    target, by_perf->what);
    if (by_perf->is_go && !by_perf->what)
        error_print("%s is a Go program with C code: what C allocates and waits for is recorded, and CPU time; Go's "
                    "heap, locks and goroutines are %s",
                    target,
                    request->pprof
                        ? "what it serves at the address of --pprof"
                        : "not (--pprof URL fetches them, where it serves net/http/pprof; clear ingest reads "
                          "what runtime/pprof writes)");
}

int profiling_prepare(struct profiling *recording, struct error *err) {
    const struct profile_request *request = recording->request;
    sweep(request);
    if (push_after_check(err) || profiling_server_start(recording, err)) return -1;
    if (profile_target_find(&recording->target, request->arguments, request->uses_perf, request->cpu_hz > 0, err) ||
        choose_sampler(recording, err))
        return -1;
    if (!request->quiet) say_what_is_missing(recording);
    if (recording->target.built_by && !request->quiet)
        error_print("%s is built with %s (another rule: toolchain in clear.yaml)", request->arguments[0],
                    recording->target.built_by);
    recording->output = output_name(recording);
    if (!request->no_files && export_directory_check(recording->output, err)) return -1;
    if (!request->no_files) kept_program_leave(&recording->target, request->quiet);
    recording->runtime = launch_runtime(recording->directory.path, err);
    if (!recording->runtime || profiling_check_tools(request, recording->directory.path, err) ||
        begin_run(recording, err))
        return -1;
    /* Before anybody edits it. */
    recording->source = recording->target.build.source ? source_read(recording->target.build.source) : NULL;
    self_dumps_open(&recording->dumps, recording->directory.path, &request->recorder);
    recording->input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return begin_collector(recording, err);
}

/* Called when the target's process exists but waits: starts what must see its first instruction. */
int profiling_before_exec(void *context, pid_t pid, struct error *err) {
    struct profiling *recording = context;
    const struct profile_request *request = recording->request;
    if (collector_set_first(recording->collector, pid, err)) return -1;
    if (request->uses_perf && profiling_watch(recording, &recording->sampler, TOOL_PERF_RECORD, pid, err)) return -1;
    if (recording->target.by_perf.is_outside && profiling_watch_target(recording, pid, err)) return -1;
    if (request->pprof && pprof_watch_start(&recording->pprof, request->pprof, recording->directory.path, err))
        return -1;
    return request->counters ? profiling_watch(recording, &recording->counter, TOOL_PERF_STAT, pid, err) : 0;
}
