#include "ingest/record/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/record/recording_note.h"
#include "ingest/record/supervisor_link.h"

#define FOREVER_NS (UINT64_C(1) << 61)

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* The names are for ps, and for who looks which of the two the kernel ended. */
static void be_recorder(pid_t supervisor) {
    prctl(PR_SET_NAME, "clear-recorder");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) raise(SIGKILL);
}

int supervisor_start(struct supervisor *supervisor, struct error *err) {
    int ends[2];
    pid_t self = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_fail(err, "socketpair: %s", strerror(errno));
    supervisor->launch.attended = &supervisor->link;
    int code = launch_block(&supervisor->launch, err);
    if (code == 0) supervisor->recorder = fork();
    if (code == 0 && supervisor->recorder < 0) code = error_fail(err, "fork: %s", strerror(errno));
    bool is_recorder = code == 0 && supervisor->recorder == 0;
    if (is_recorder) be_recorder(self);
    if (code || is_recorder) launch_end(&supervisor->launch);
    if (!code && !is_recorder) control_group_find(&supervisor->group, "", self);
    close(ends[!is_recorder]);
    supervisor->link = ends[is_recorder];
    if (code) close(supervisor->link);
    supervisor->has_recorder = true;
    return code ? -1 : is_recorder;
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* Signals go to the program while it runs, before and afterwards to the recorder. */
static void set_front(struct supervisor *supervisor, pid_t front, uint64_t own_signals) {
    supervisor->launch.pid = front;
    supervisor->launch.beside = front == supervisor->recorder ? 0 : supervisor->recorder;
    supervisor->launch.own_signals = own_signals;
}

static void take_message(struct supervisor *supervisor, const struct link_message *message) {
    switch (message->word) {
    case LINK_BORN:
        supervisor->is_born = true;
        supervisor->program = message->pid;
        set_front(supervisor, message->pid, message->own_signals);
        supervisor->launch.adopts = getpid() == 1; /* not before: who of our children is the program? */
        break;
    case LINK_STARTED:
        supervisor->is_started = true;
        supervisor->started_ns = message->started_ns;
        break;
    case LINK_DETACHED: supervisor->is_detached = true; /* fallthrough */
    case LINK_FINISHED:
        supervisor->is_finished = true;
        supervisor->wait_status = message->wait_status;
        break;
    case LINK_ENDED: break;
    }
}

static bool program_runs(const struct supervisor *supervisor) {
    return supervisor->is_born && !supervisor->is_over;
}

/* One that ended by itself before it had started the program has said why, and nothing runs. */
static bool is_refused(const struct supervisor *supervisor) {
    return !supervisor->is_born || (!supervisor->is_started && WIFEXITED(supervisor->recorder_status));
}

/* The link is at its end, so the recorder is, or will be in a moment. Where it is in front, launch_wait sees its end. */
static void lose_recorder(struct supervisor *supervisor) {
    supervisor->launch.attended = NULL;
    if (supervisor->is_detached || !program_runs(supervisor)) return;
    while (supervisor->has_recorder && waitpid(supervisor->recorder, &supervisor->recorder_status, 0) < 0 &&
           errno == EINTR)
        continue;
    supervisor->has_recorder = false;
    if (!is_refused(supervisor)) supervisor->lost(supervisor->context);
}

static void take_messages(struct supervisor *supervisor) {
    struct link_message message;
    int got = 0;
    while (supervisor->launch.attended && (got = link_take(supervisor->link, &message)) > 0)
        take_message(supervisor, &message);
    if (got < 0) lose_recorder(supervisor);
}

/* Signals that are for the recorder and not for the program. */
static void pass_own(struct supervisor *supervisor) {
    uint64_t arrived = supervisor->launch.arrived;
    supervisor->launch.arrived = 0;
    for (int signal = 1; signal < 64 && supervisor->has_recorder; signal++)
        if (arrived & UINT64_C(1) << signal) kill(supervisor->recorder, signal);
}

bool supervisor_was_short(const struct supervisor *supervisor) {
    return WIFSIGNALED(supervisor->recorder_status) && WTERMSIG(supervisor->recorder_status) == SIGKILL &&
           control_group_use(&supervisor->group).kills > 0;
}

/* In the place of a recorder that is gone. Its own note is complete but for the end. */
static void note_end(const struct supervisor *supervisor) {
    const struct link_message *ended = &supervisor->ended;
    struct recording_note note;
    struct error ignored = {0};
    if (recording_note_read(&note, supervisor->directory, &ignored)) return;
    if (!note.program_started_ns) note.program_started_ns = supervisor->started_ns;
    note.program_ended_ns = ended->ended_ns;
    note.program_waits = ended->waits;
    note.wait_status = ended->wait_status;
    note.has_status = 1;
    note.group = control_group_use(&supervisor->group);
    note.group.kills -= supervisor_was_short(supervisor);
    int file = recording_note_open(supervisor->directory);
    recording_note_write(&note, file);
    if (file >= 0) close(file);
}

static void end_program(struct supervisor *supervisor, int wait_status) {
    const struct launch *launch = &supervisor->launch;
    supervisor->ended = (struct link_message){.word = LINK_ENDED,
                                              .wait_status = wait_status,
                                              .ended_ns = launch->ended_ns,
                                              .user_ns = launch->user_ns,
                                              .kernel_ns = launch->kernel_ns,
                                              .waits = launch->waits};
    supervisor->is_over = true;
    supervisor->wait_status = wait_status;
    if (supervisor->has_recorder) link_tell(supervisor->link, &supervisor->ended);
    set_front(supervisor, supervisor->recorder, 0);
}

static void wait_for_front(struct supervisor *supervisor) {
    int status;
    bool is_program = program_runs(supervisor);
    if (!launch_wait(&supervisor->launch, FOREVER_NS, &status)) {
        pass_own(supervisor);
        take_messages(supervisor);
    } else if (is_program) {
        end_program(supervisor, status);
    } else {
        supervisor->recorder_status = status;
        supervisor->has_recorder = false;
        take_messages(supervisor); /* the last ones */
    }
}

static bool is_done(const struct supervisor *supervisor) {
    if (supervisor->is_detached) return true;
    return !supervisor->has_recorder && (!program_runs(supervisor) || is_refused(supervisor));
}

enum supervised supervisor_run(struct supervisor *supervisor) {
    set_front(supervisor, supervisor->recorder, 0);
    while (!is_done(supervisor))
        wait_for_front(supervisor);
    close(supervisor->link);
    launch_end(&supervisor->launch);
    if (supervisor->is_finished) return SUPERVISED_FINISHED;
    if (is_refused(supervisor)) return SUPERVISED_REFUSED;
    note_end(supervisor);
    return SUPERVISED_LOST;
}

void supervisor_end(struct supervisor *supervisor) {
    control_group_free(&supervisor->group);
}
