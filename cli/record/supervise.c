#include "cli/record/supervise.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "cli/record/status_line.h"
#include "ingest/record/supervisor.h"

static void add_end(struct buffer *text, int recorder_status) {
    if (WIFSIGNALED(recorder_status))
        buffer_printf(text, "the recorder was ended by signal %d (%s)", WTERMSIG(recorder_status),
                      strsignal(WTERMSIG(recorder_status)));
    else
        buffer_printf(text, "the recorder ended with status %d", WEXITSTATUS(recorder_status));
}

struct supervised_recording {
    const struct profile_request *request;
    struct private_dir *directory;
};

/* The program runs on. Nobody else writes to the recording, so `clear recover` may have it now. */
static void say_lost(void *context, int recorder_status) {
    const struct supervised_recording *recording = context;
    struct buffer text = {0};
    add_end(&text, recorder_status);
    status_line_repair(!recording->request->quiet);
    error_print("%s; the program runs on, and what it does is kept", buffer_text(&text));
    buffer_free(&text);
    private_dir_unlock(recording->directory);
}

static void say_kept(const struct private_dir *directory, int recorder_status) {
    struct buffer text = {0}, place = {0};
    add_end(&text, recorder_status);
    escape_shell(&place, directory->path);
    error_print("the recording is not all stored, because %s; it is kept, and this stores it: clear recover %s",
                buffer_text(&text), buffer_text(&place));
    buffer_free(&text);
    buffer_free(&place);
}

/* Signals that end a command as somebody wants. */
static bool is_wanted(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT || signal == SIGPIPE;
}

static void say_refused(int recorder_status) {
    struct buffer text = {0};
    if (!WIFSIGNALED(recorder_status) || is_wanted(WTERMSIG(recorder_status))) return;
    add_end(&text, recorder_status);
    error_print("%s before it had started the program", buffer_text(&text));
    buffer_free(&text);
}

static int run(struct supervisor *supervisor, const struct private_dir *directory) {
    switch (supervisor_run(supervisor)) {
    case SUPERVISED_REFUSED: say_refused(supervisor->recorder_status); return supervisor->recorder_status;
    case SUPERVISED_LOST: say_kept(directory, supervisor->recorder_status); break;
    case SUPERVISED_FINISHED: break;
    }
    return supervisor->wait_status;
}

int supervise(const struct profile_request *request, struct private_dir *directory, int *link, int *status,
              struct error *err) {
    struct supervised_recording recording = {request, directory};
    struct supervisor supervisor = {.directory = directory->file, .lost = say_lost, .context = &recording};
    pid_t self = getpid();
    int code = supervisor_start(&supervisor, err);
    if (code > 0) {
        private_dir_bear(self);
        if (!request->detaches) private_dir_unlock(directory);
        *link = supervisor.link;
    } else if (code < 0) {
        private_dir_remove(directory);
    } else {
        int wait_status = run(&supervisor, directory);
        private_dir_release(directory);
        *status = launch_exit_status(wait_status);
    }
    return code;
}
