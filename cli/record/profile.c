#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/push_after.h"
#include "cli/record/profile_running.h"
#include "cli/record/profiling.h"
#include "cli/record/recording_end.h"
#include "cli/record/supervise.h"
#include "ingest/record/supervisor_link.h"

/* Of what comes behind profiling_store_end. The status of the command stays that of the program, which did not fail. */
static void print_failure(const struct error *failure) {
    error_print("the run is stored, but not all that follows could be done: %s%s", failure->message,
                profiling_met_limit());
}

static int start(struct profiling *recording, struct error *err) {
    recording->launch = (struct launch){.before_exec = profiling_before_exec,
                                        .context = recording,
                                        .link = &recording->link,
                                        .mask = &recording->mask,
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

/* From now on our own end changes nothing. */
static void tell_finished(const struct profiling *recording) {
    const struct link_message finished = {.word = LINK_FINISHED, .wait_status = recording->wait_status};
    if (recording->link >= 0) link_tell(recording->link, &finished);
}

/* Once the program has run, a failure is said and is no error of the command. */
static int run_target(struct profiling *recording, struct error *err) {
    struct error failure = {0};
    if (start(recording, err)) return -1;
    /* Not before: it would be the program's, too. And no longer than there is a program to be spared. */
    int rank = memory_rank_set(MEMORY_RANK_FIRST);
    control_group_find(&recording->group, "", getpid());
    profiling_follow(recording);
    memory_rank_set(rank);
    if (profiling_store_end(recording, &failure))
        profiling_keep(recording, &failure);
    else if (recording_end(recording, &failure))
        print_failure(&failure);
    tell_finished(recording);
    private_dir_remove(&recording->directory);
    launch_end(&recording->launch);
    if (failure.status != ERROR_NONE) return 0;
    push_after_recording(cli_database(recording->request->database), recording->request->quiet);
    collect_after_recording(cli_database(recording->request->database), recording->request->quiet);
    return 0;
}

static int record(struct profiling *recording, struct error *err) {
    int code = profiling_prepare(recording, err);
    if (code == 0) code = run_target(recording, err);
    recording_release(recording);
    return code;
}

/* A file that must not grow (ulimit -f) is to be a failure, and not the end of us. */
static int limit_files(sigset_t *mask, struct error *err) {
    enum {
        LEAST = 1 << 20
    }; /* of a segment (ingest/shim/core/segment_file.c); an empty warehouse takes half of that */
    struct rlimit limit;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &one, mask);
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= LEAST) return 0;
    return error_fail(err,
                      "files may have no more than %llu bytes here (ulimit -f), and a recording needs a MiB or more; "
                      "the program was not started",
                      (unsigned long long)limit.rlim_cur);
}

/* Under a limit of data (ulimit -d) that the program keeps, the 13 MiB that the runtime sets aside in it would keep it from starting. */
static int check_data(struct error *err) {
    enum { DATA_LEAST = 24 << 20 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur >= DATA_LEAST) return 0;
    return error_fail(
        err,
        "a process may have no more than %llu bytes of data here (ulimit -d), and a recording needs 24 MiB "
        "or more; the program was not started",
        (unsigned long long)limit.rlim_cur);
}

int command_profile(int argc, char **argv, struct error *err) {
    struct profile_request request;
    struct profiling recording = {
        .request = &request, .directory = {.file = -1, .owner = -1}, .link = -1, .live = {.socket = -1}};
    int status = 0, code = profile_request_read(&request, argc, argv, err);
    if (code == 0 && (request.pid_count || request.name_count)) {
        code = profile_running(&request, err);
        profile_request_free(&request);
        return code;
    }
    if (code == 0) code = limit_files(&recording.mask, err);
    if (code == 0) code = check_data(err);
    if (code == 0) code = private_dir_make(&recording.directory, err);
    if (code == 0) code = supervise(&request, &recording.directory, &recording.link, &status, err);
    if (code > 0) code = record(&recording, err);
    profile_request_free(&request);
    return code < 0 ? -1 : status;
}
