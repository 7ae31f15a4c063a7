#include "cli/record/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/child.h"
#include "base/escape.h"
#include "cli/record/status_line.h"
#include "ingest/record/supervisor.h"

struct supervised_recording {
    const struct profile_request *request;
    struct private_dir *directory;
    struct supervisor supervisor;
};

static void add_end(struct buffer *text, const struct supervisor *supervisor) {
    int status = supervisor->recorder_status;
    if (supervisor_was_short(supervisor))
        buffer_add_text(text, "memory ran out, and the kernel ended the recorder");
    else if (WIFSIGNALED(status))
        buffer_printf(text, "the recorder was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        buffer_printf(text, "the recorder ended with status %d", WEXITSTATUS(status));
}

/* The program runs on. Nobody else writes to the recording, so `clear recover` may have it now. */
static void say_lost(void *context) {
    const struct supervised_recording *recording = context;
    struct buffer text = {0};
    add_end(&text, &recording->supervisor);
    status_line_repair(!recording->request->quiet);
    error_print("%s; the program runs on, and what it does is kept", buffer_text(&text));
    buffer_free(&text);
    private_dir_unlock(recording->directory);
}

static void say_kept(const struct supervised_recording *recording) {
    struct buffer text = {0}, place = {0};
    add_end(&text, &recording->supervisor);
    escape_shell(&place, recording->directory->path);
    error_print("the recording is not all stored, because %s; it is kept, and this stores it: clear recover %s",
                buffer_text(&text), buffer_text(&place));
    buffer_free(&text);
    buffer_free(&place);
}

/* Signals that end a command as somebody wants. */
static bool is_wanted(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT || signal == SIGPIPE;
}

static void say_refused(const struct supervisor *supervisor) {
    struct buffer text = {0};
    int status = supervisor->recorder_status;
    if (!WIFSIGNALED(status) || is_wanted(WTERMSIG(status))) return;
    add_end(&text, supervisor);
    error_print("%s before it had started the program", buffer_text(&text));
    buffer_free(&text);
}

/* The program has ended, and its memory is free. */
static bool store_now(const struct supervised_recording *recording) {
    const char *const words[] = {"/proc/self/exe", "recover", recording->directory->path, NULL};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
    const struct child_start start = {
        .argv = words, .files = {nothing, recording->request->quiet ? nothing : STDERR_FILENO, STDERR_FILENO}};
    pid_t pid;
    private_dir_unlock(recording->directory);
    bool is_started = nothing >= 0 && child_start(&start, &pid) == 0;
    if (nothing >= 0) close(nothing);
    while (is_started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return is_started && status == 0;
}

static int run(struct supervised_recording *recording) {
    struct supervisor *supervisor = &recording->supervisor;
    switch (supervisor_run(supervisor)) {
    case SUPERVISED_REFUSED: say_refused(supervisor); return supervisor->recorder_status;
    case SUPERVISED_LOST:
        if (!supervisor_was_short(supervisor) || !store_now(recording)) say_kept(recording);
        break;
    case SUPERVISED_FINISHED: break;
    }
    return supervisor->wait_status;
}

int supervise(const struct profile_request *request, struct private_dir *directory, int *link, int *status,
              struct error *err) {
    struct supervised_recording recording = {
        request, directory, {.directory = directory->file, .lost = say_lost, .context = &recording}};
    pid_t self = getpid();
    int code = supervisor_start(&recording.supervisor, err);
    if (code > 0) {
        private_dir_bear(self);
        if (!request->detaches) private_dir_unlock(directory);
        *link = recording.supervisor.link;
    } else if (code < 0) {
        private_dir_remove(directory);
    } else {
        int wait_status = run(&recording);
        supervisor_end(&recording.supervisor);
        private_dir_release(directory);
        *status = launch_exit_status(wait_status);
    }
    return code;
}
