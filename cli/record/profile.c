#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/push_after.h"
#include "cli/record/detach.h"
#include "cli/record/profiling.h"
#include "cli/record/summary.h"

/* Prints the error and keeps the status of the program, which did not fail. */
static int name_status(struct error *err, int wait_status) {
    if (WIFSIGNALED(wait_status))
        return error_prefix(
            err, "the program was ended by signal %d, and what it did is not all stored: ", WTERMSIG(wait_status));
    return error_prefix(
        err, "the program exited with status %d, and what it did is not all stored: ", WEXITSTATUS(wait_status));
}

static int start(struct profiling *recording, struct error *err) {
    recording->launch = (struct launch){.before_exec = profiling_before_exec,
                                        .context = recording,
                                        .attended = recording->live.pid ? &recording->live.socket : NULL,
                                        .variables = recording->dumps.variables};
    if (recording->request->is_switched) recording->launch.own_signals |= UINT64_C(1) << SIGUSR2;
    if (recording->request->recorder.stores_when_asked) recording->launch.own_signals |= UINT64_C(1) << SIGUSR1;
    recording->is_paused = recording->request->recorder.is_paused;
    const char *runtime = recording->target.by_perf.must_be_bare ? NULL : recording->runtime;
    if (launch_start(&recording->launch, recording->target.program, recording->target.arguments, runtime,
                     runtime ? recording->directory.path : NULL, err)) {
        profiling_cancel(recording);
        return -1;
    }
    for (const char *const *name = recording->dumps.replaced; *name && !recording->request->quiet; name++)
        fprintf(stderr, "clear: %s was set and is replaced: the dump becomes part of the run\n", *name);
    return 0;
}

/* Ends the run: its rows, its files, the summary; in this order, so that a late failure loses least. */
static int end(struct profiling *recording, struct error *err) {
    int code = profiling_finish(recording, err);
    if (code == 0)
        summary_print(&(struct summary){.request = recording->request,
                                        .totals = profiling_totals(recording),
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

static int run_target(struct profiling *recording, struct error *err) {
    struct error failure = {0};
    int code = 0;
    if (start(recording, err)) return -1;
    profiling_follow(recording);
    if (profiling_store_end(recording, &failure))
        profiling_keep(recording, &failure);
    else
        code = end(recording, err);
    launch_end(&recording->launch);
    if (code == 0 && failure.status == ERROR_NONE) {
        push_after_recording(cli_database(recording->request->database), recording->request->quiet);
        collect_after_recording(cli_database(recording->request->database), recording->request->quiet);
    }
    return code;
}

static void release(struct profiling *recording) {
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
    free(recording->source);
    free(recording->runtime);
    free(recording->output);
}

static int record(struct profiling *recording, struct error *err) {
    int code = profiling_prepare(recording, err);
    if (code == 0) code = run_target(recording, err);
    release(recording);
    return code ? -1 : launch_exit_status(recording->wait_status);
}

int command_profile(int argc, char **argv, struct error *err) {
    struct profile_request request;
    struct profiling recording = {
        .request = &request, .directory = {.file = -1, .owner = -1}, .report = -1, .live = {.socket = -1}};
    int status = 0, code = profile_request_read(&request, argc, argv, err);
    if (code == 0) code = request.detaches ? detach_start(&recording.report, &status, err) : 1;
    if (code > 0) status = record(&recording, err);
    profile_request_free(&request);
    return code < 0 ? -1 : status;
}
