#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/record/profile_running.h"
#include "ingest/attach/attach.h"
#include "ingest/record/private_dir.h"

enum { STEP_NS = 20000000, STEPS = 1500 /* 30 s, for the recorder to store the end */ };

const struct option_group detach_options[] = {CLI_OPTIONS_END};

/* ---- by who records it ------------------------------------------------------------------------------------------- */

struct recorder {
    pid_t recorded; /* looked for */
    pid_t pid;      /* 0: nobody records it */
    int directory;  /* of the recording, -1: not open */
};

static bool has_segment_of(int directory, pid_t pid) {
    char start[32];
    bool has = false;
    snprintf(start, sizeof start, "%d-", (int)pid);
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    for (struct dirent *entry; list && !has && (entry = readdir(list));)
        has = strncmp(entry->d_name, start, strlen(start)) == 0;
    if (list) closedir(list);
    return has;
}

static void look(void *context, int directory) {
    struct recorder *recorder = context;
    char text[32] = "";
    bool is_attached = faccessat(directory, ATTACHED_FILE, F_OK, 0) == 0;
    if (recorder->pid || !is_attached || !has_segment_of(directory, recorder->recorded)) return;
    int file = openat(directory, "owner", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    if (read(file, text, sizeof text - 1) > 0) recorder->pid = (pid_t)atoi(text);
    if (recorder->pid) recorder->directory = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(file);
}

/* Close its directory. */
static struct recorder find_recorder(pid_t pid) {
    struct recorder recorder = {.recorded = pid, .directory = -1};
    private_dir_each_live(look, &recorder);
    return recorder;
}

static pid_t recorder_of(pid_t pid) {
    struct recorder recorder = find_recorder(pid);
    if (recorder.directory >= 0) close(recorder.directory);
    return recorder.pid;
}

static bool wait_for_end(pid_t recorder, pid_t pid) {
    for (int i = 0; i < STEPS; i++) {
        if (recorder_of(pid) != recorder) return true;
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    }
    return false;
}

/* It stores the end and tells its own user. */
static int ask_recorder(pid_t recorder, pid_t pid, struct error *err) {
    if (kill(recorder, SIGINT))
        return error_fail(err, "process %d records %d and cannot be asked to end", (int)recorder, (int)pid);
    if (wait_for_end(recorder, pid)) return 0;
    return error_fail(err, "process %d was asked to end the recording of %d, and has not yet", (int)recorder, (int)pid);
}

/* ---- of a recorder that is gone ---------------------------------------------------------------------------------- */

static int take_out(pid_t pid, bool *was_over, struct error *err) {
    struct attached attached = {.pid = pid};
    struct error ended = {0};
    if (attach_end(&attached, &ended)) {
        *err = ended;
        return -1;
    }
    *was_over = attached.call.result == ATTACH_NOT_RECORDED;
    nanosleep(&(struct timespec){.tv_nsec = ATTACH_SETTLE_NS}, NULL);
    struct error ignored = {0};
    attach_leave(&attached, &ignored);
    if (!*was_over)
        error_print("process %d has no hooks any more; the clear that recorded it is gone, and clear recover stores "
                    "what it left",
                    (int)pid);
    return 0;
}

/* One that ended in order has emptied its directory. What one that was killed meanwhile left is taken out. */
static int detach_by(const struct recorder *recorder, struct error *err) {
    bool was_over;
    if (ask_recorder(recorder->pid, recorder->recorded, err)) return -1;
    if (recorder->directory < 0 || !has_segment_of(recorder->directory, recorder->recorded)) return 0;
    return attach_is_there(recorder->recorded) ? take_out(recorder->recorded, &was_over, err) : 0;
}

static int detach(pid_t pid, struct error *err) {
    struct recorder recorder = find_recorder(pid);
    bool is_asked = recorder.pid && !attach_has_ended(recorder.pid), was_over = false;
    int code = is_asked ? detach_by(&recorder, err) : 0;
    if (recorder.directory >= 0) close(recorder.directory);
    if (is_asked) return code;
    if (recorder.pid) wait_for_end(recorder.pid, pid); /* what enters it for one that was killed ends its step */
    if (attach_is_there(pid) && take_out(pid, &was_over, err)) return -1;
    if (was_over) return error_usage(err, "process %d is not recorded (it was, and has no hooks any more)", (int)pid);
    if (attach_is_there(pid)) return 0;
    if (kill(pid, 0) && access("/proc/self", F_OK) == 0) return error_usage(err, "there is no process %d", (int)pid);
    return error_usage(err, "process %d is not recorded by clear profile --pid", (int)pid);
}

int command_detach(int argc, char **argv, struct error *err) {
    if (cli_options(&argc, argv, NULL, err) < 0) return -1;
    if (argc < 2) return error_usage(err, "no process: clear detach PID...");
    for (int i = 1; i < argc; i++) {
        int64_t pid;
        if (cli_count("PID", argv[i], 1, INT32_MAX, &pid, err) || detach((pid_t)pid, err)) return -1;
    }
    return 0;
}
