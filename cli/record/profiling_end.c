#include "cli/record/profiling.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"
#include "export/export.h"
#include "ingest/record/kernel/recorder_share.h"
#include "ingest/record/lost.h"
#include "ingest/writer/run_seal.h"

static int take_dumps(struct profiling *recording, struct error *err) {
    struct self_dumps *dumps = &recording->dumps;
    if (recording->running) return 0; /* its environment was made before */
    struct ingest_program program = profile_target_program(&recording->target);
    if (self_dumps_take(dumps, &recording->db, recording->run_id, recording->collector, &program, err)) return -1;
    for (size_t i = 0; i < dumps->loss_count; i++)
        fprintf(stderr, "clear: warning: the program's own dump (%s) is not stored: %s\n",
                self_dumps_variable(dumps->losses[i].kind), dumps->losses[i].error.message);
    return 0;
}

/* Whether perf, strace or the program itself (--pprof) may still have something to store. */
static bool has_more_to_store(const struct profiling *recording) {
    return recording->sampler.pid || recording->counter.pid || recording->pprof.directory || recording->running ||
           recording->target.by_perf.what || recording->request->syscalls || profiling_samples_outside(recording);
}

/* A small run has its files sooner than another connection has read the schema. */
static bool writes_beside(const struct profiling *recording, const struct collector_totals *totals) {
    enum { SITES_LEAST = 10000 };
    return totals->sites >= SITES_LEAST && !recording->db.has_rollback && !recording->request->no_files &&
           !has_more_to_store(recording) && recorder_share_has_room();
}

static void *write_files(void *context) {
    struct profiling *recording = context;
    struct db db;
    struct error ignored = {0};
    if (db_open_beside(&db, &recording->db, &ignored)) return NULL;
    recording->files.is_written = export_directory(&db, recording->run_id, recording->output, &ignored) == 0;
    db_close(&db, &ignored);
    return NULL;
}

/* What is stored of the run at this moment. Signals are for the thread that was there first. */
static void start_files(struct profiling *recording) {
    struct files_beside *files = &recording->files;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    files->is_there = pthread_create(&files->thread, NULL, write_files, recording) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Waits for the thread, if there is one. Whether the directory was written: where the thread could not do it, the caller does, and meets the reason. */
static bool wait_for_files(struct files_beside *files) {
    if (files->is_there) pthread_join(files->thread, NULL);
    files->is_there = false;
    return files->is_written;
}

static int end_run(struct profiling *recording, struct error *err) {
    struct collector_totals totals;
    collector_totals(recording->collector, &totals);
    const struct run_ending ending = {.wait_status = recording->wait_status,
                                      .symbolize_ns = totals.symbolize_ns,
                                      .write_ns = totals.flush_ns - totals.symbolize_ns};
    if (!writes_beside(recording, &totals)) return run_end(&recording->db, recording->run_id, &ending, err);
    if (run_end_unsealed(&recording->db, recording->run_id, &ending, err)) return -1;
    recording->files.is_unsealed = true;
    start_files(recording);
    return 0;
}

/* The run is stored already, and the program did not fail: its status stays. */
static void write_directory(struct profiling *recording) {
    struct error failure = {0};
    struct buffer again = {0};
    if (wait_for_files(&recording->files)) return;
    if (export_directory(&recording->db, recording->run_id, recording->output, &failure) == 0) return;
    escape_shell(&again, cli_database(recording->request->database));
    fprintf(stderr, "clear: warning: %s; the run is stored, and clear export --db %s %lld -o DIR/ writes its files\n",
            failure.message, buffer_text(&again), (long long)recording->run_id);
    buffer_free(&again);
}

static int flush_last(struct profiling *recording, struct error *err) {
    return profiling_flush(recording, true, LOCKED_PATIENCE_MS, err);
}

/* What must not be lost. While the file is locked it is tried again and again. The run is over last, because clear recover adds nothing to one
 * that is over. */
int profiling_store_end(struct profiling *recording, struct error *err) {
    static int (*const steps[])(struct profiling * recording, struct error * err) = {flush_last, take_dumps, end_run};
    int64_t said_ns = 0;
    (void)launch_is_asked_to_end(); /* what came before was for the program */
    for (size_t i = 0; i < sizeof steps / sizeof *steps;) {
        struct error failure = {0};
        db_set_patience(&recording->db, LOCKED_PATIENCE_MS);
        if (steps[i](recording, &failure) == 0)
            i++;
        else if (!recording->db.was_locked || launch_is_asked_to_end())
            return error_fail(err, "%s", failure.message);
        else
            profiling_say_locked(recording, &said_ns,
                                 "the run is stored as soon as it is free (Ctrl-C: keep it to store it later)");
    }
    return 0;
}

/* Where the directory of the warehouse is gone too, the user has to name another file. */
static bool has_place(const struct db *db) {
    char *directory = xstrdup(sqlite3_db_filename(db->handle, "main")), *slash = strrchr(directory, '/');
    if (slash) slash[slash == directory] = '\0'; /* the path is absolute */
    bool is_there = access(directory, W_OK) == 0;
    free(directory);
    return is_there;
}

const char *profiling_met_limit(void) {
    sigset_t pending;
    bool has_met = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    return has_met ? ": a file has the most bytes that it may have (ulimit -f)" : "";
}

/* The run could not be stored: its segments are kept for clear recover. */
void profiling_keep(struct profiling *recording, const struct error *why) {
    struct buffer place = {0};
    char *path = lost_keep(&recording->directory, recording->db.path, &recording->target.build);
    if (!has_place(&recording->db)) buffer_add_text(&place, "--db FILE ");
    escape_shell(&place, path);
    error_print("%s%s", why->message, profiling_met_limit());
    error_print("the end of the run is not stored; it is kept, and this stores it: clear recover %s",
                buffer_text(&place));
    buffer_free(&place);
    free(path);
}

/* The run is over and sealed already. */
static int warn_late(struct profiling *recording, const char *comment, struct error *err) {
    return collector_warn(recording->collector, comment, err) || run_seal(&recording->db, recording->run_id, err) ? -1
                                                                                                                  : 0;
}

/* For a reader of the figures who does not know the program: doctor shows it first. */
static int warn_of_perf(struct profiling *recording, struct error *err) {
    const struct by_perf *by_perf = &recording->target.by_perf;
    if (!by_perf->what) return 0;
    char *text = xasprintf("# WARNING: only CPU time is recorded%s: the program is %s, and nothing can be preloaded "
                           "into it",
                           !by_perf->is_outside        ? ", by perf"
                           : recording->request->pprof ? ", and what the program says of itself (--pprof)"
                                                       : ", from outside",
                           by_perf->what);
    int code = warn_late(recording, text, err);
    free(text);
    return code;
}

/* perf begins to count anew for each thread: one that ends before its first sample has none, and no clock of a thread is asked for the rest. What
 * the kernel did for the program does not count here: perf may not see it. */
static int warn_of_unsampled(struct profiling *recording, struct error *err) {
    enum { MISSING_PERCENT = 10, MISSING_NS = 50000000 };
    struct collector_totals totals = {0};
    uint64_t used = recording->launch.user_ns;
    if (!profiling_samples_outside(recording)) return 0;
    if (profiling_add_perf_totals(recording, &totals, err)) return -1;
    if (used < totals.cpu_ns + MISSING_NS || (used - totals.cpu_ns) * 100 < used * MISSING_PERCENT) return 0;
    char *text = xasprintf(
        "%s sampled %s of CPU time, and the program used %s: threads and processes that end before their "
        "first sample have none%s",
        recording->request->uses_perf ? "perf" : "clear", units_ns((int64_t)totals.cpu_ns).text,
        units_ns((int64_t)used).text, recording->target.by_perf.what ? "" : "; without --cpu=perf they are counted");
    char *comment = xasprintf("# WARNING: %s", text);
    if (!recording->request->quiet) error_print("%s", text);
    int code = warn_late(recording, comment, err);
    free(comment);
    free(text);
    return code;
}

/* The facts of a run whose end was stored without them. The next command makes them if this fails. */
static int seal_run(struct profiling *recording, struct error *err) {
    if (!recording->files.is_unsealed) return 0;
    db_set_patience(&recording->db, FLUSH_PATIENCE_MS);
    return run_seal_ended(&recording->db, recording->run_id, err);
}

int profiling_finish(struct profiling *recording, struct error *err) {
    /* A failure of perf or strace must not prevent the export of what was recorded. */
    struct error tools = {0};
    profiling_store_pprof(recording);
    if (seal_run(recording, &tools) == 0 && profiling_store_watched(recording, &recording->sampler, &tools) == 0 &&
        profiling_store_watched(recording, &recording->counter, &tools) == 0 && warn_of_perf(recording, &tools) == 0 &&
        warn_of_unsampled(recording, &tools) == 0)
        (void)profiling_count_syscalls(recording, &tools);
    if (!recording->request->no_files) write_directory(recording);
    return tools.status == ERROR_NONE ? 0 : error_fail(err, "%s", tools.message);
}
