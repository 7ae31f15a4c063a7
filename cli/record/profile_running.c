#include "cli/record/profile_running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/push_after.h"
#include "cli/record/recording_end.h"
#include "cli/record/running_processes.h"

enum { WAIT_STATUS_UNKNOWN = 0x7f /* as of a process that is stopped: neither an exit status nor a signal */ };

static void free_words(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

static int note_attached(const struct profiling *recording, struct error *err) {
    int file = openat(recording->directory.file, ATTACHED_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return error_fail(err, "%s/" ATTACHED_FILE ": %s", recording->directory.path, strerror(errno));
    close(file);
    return 0;
}

static int record(struct running_processes *running, struct error *err) {
    struct profiling *recording = running->recording;
    struct error failure = {0};
    if (note_attached(recording, err) || profiling_prepare_running(recording, err)) return -1;
    if (launch_block(&recording->launch, err)) return -1;
    collector_set_first(recording->collector, recording->request->pids[0], err);
    if (running_begin(running, err)) {
        profiling_cancel(recording);
        launch_end(&recording->launch);
        return -1;
    }
    char *since = running_since_text(running), *outside = running_outside_text(running);
    collector_set_attached(recording->collector, running_before(running));
    control_group_find(&recording->group, "", recording->request->pids[0]);
    int rank = memory_rank_set(MEMORY_RANK_FIRST);
    if (recording->request->duration_ns) recording->until_ns = clock_monotonic_ns() + recording->request->duration_ns;
    profiling_follow_running(recording);
    running_end(running);
    memory_rank_set(rank);
    collector_set_span(recording->collector, recording->launch.started_ns, recording->launch.ended_ns);
    recording->wait_status = WAIT_STATUS_UNKNOWN;
    if (recording_store_end(recording, since, (const char *[]){outside, NULL}, &failure))
        error_print("%s", failure.message);
    running_leave(running);
    private_dir_remove(&recording->directory);
    launch_end(&recording->launch);
    free(since);
    free(outside);
    if (failure.status != ERROR_NONE) return 0;
    push_after_recording(cli_database(recording->request->database), recording->request->quiet);
    collect_after_recording(cli_database(recording->request->database), recording->request->quiet);
    return 0;
}

int profile_running(struct profile_request *request, struct error *err) {
    struct profiling recording = {
        .request = request, .directory = {.file = -1, .owner = -1}, .link = -1, .live = {.socket = -1}};
    struct running_processes running = {.recording = &recording};
    if (running_find(request, err)) return -1;
    char **command = running_command(request->pids[0]);
    recording.running = &running;
    running.count = request->pid_count;
    running.processes = xcalloc(running.count, sizeof *running.processes);
    recording.target.program = running_program(request->pids[0]);
    recording.target.name = path_base(recording.target.program);
    request->arguments = command;
    request->run.command = command;
    int code = private_dir_make(&recording.directory, err);
    if (code == 0) code = record(&running, err);
    recording_release(&recording);
    running_free(&running);
    free_words(command);
    return code;
}
