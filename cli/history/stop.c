#include "cli/history/stop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/record/launch.h"

static void watched_signals(sigset_t *set) {
    static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(set, watched[i]);
}

int stop_watch(struct stop *stop, struct error *err) {
    /* Some parents leave SIGCHLD ignored. Then the kernel would keep no exit status for us. */
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t watched;
    *stop = (struct stop){0};
    watched_signals(&watched);
    stop->queue = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (stop->queue < 0) return error_fail(err, "signalfd: %s", strerror(errno));
    sigprocmask(SIG_BLOCK, &watched, &stop->before);
    sigaction(SIGCHLD, &standard, &stop->child_before);
    return 0;
}

/* Takes all signals that came; `child` 0: there is none to pass them on to. */
static void take_signals(struct stop *stop, pid_t child) {
    struct signalfd_siginfo info;
    while (read(stop->queue, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) continue;
        stop->signal = (int)info.ssi_signo;
        /* SI_KERNEL is the terminal, which sent it to the child too. */
        if (child && info.ssi_code <= 0) kill(child, (int)info.ssi_signo);
    }
}

bool stop_is_asked(struct stop *stop) {
    take_signals(stop, 0);
    return stop->signal != 0;
}

/* Reads what is there. False at the end of the pipe. */
static bool read_said(int said, struct buffer *tail) {
    char piece[STOP_TAIL];
    ssize_t size = read(said, piece, sizeof piece);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    if (size == 0) return false;
    buffer_add(tail, piece, (size_t)size);
    if (tail->size > 4 * STOP_TAIL) {
        memmove(tail->data, tail->data + tail->size - STOP_TAIL, STOP_TAIL);
        tail->size = STOP_TAIL;
        tail->data[STOP_TAIL] = '\0';
    }
    return true;
}

static bool has_ended(pid_t pid, int *wait_status) {
    return waitpid(pid, wait_status, WNOHANG) == pid;
}

/* Waits for the end of the child; what it says must be read meanwhile, or it would wait for us. */
static void wait_for(struct stop *stop, const struct stop_child *child, pid_t pid, int *wait_status) {
    int said = child->said;
    while (!has_ended(pid, wait_status)) {
        struct pollfd polled[] = {{.fd = stop->queue, .events = POLLIN}, {.fd = said, .events = POLLIN}};
        (void)poll(polled, 2, -1); /* a negative descriptor is passed over */
        take_signals(stop, pid);
        if (polled[1].revents && !read_said(said, child->tail)) said = -1;
    }
    /* Only what is there already: a daemon that it started may keep the pipe open for ever. */
    struct pollfd rest = {.fd = said, .events = POLLIN};
    while (said >= 0 && poll(&rest, 1, 0) > 0 && read_said(said, child->tail))
        continue;
}

int stop_run(struct stop *stop, const struct stop_child *child, int *wait_status, struct error *err) {
    pid_t pid;
    struct child_start start = child->start;
    start.blocked = &stop->before;
    int why = child_start(&start, &pid);
    if (why == 0) wait_for(stop, child, pid, wait_status);
    if (child->said >= 0) close(child->said);
    return why ? error_fail(err, "%s: %s", start.argv[0], strerror(why)) : 0;
}

void stop_end(struct stop *stop) {
    take_signals(stop, 0);
    close(stop->queue);
    sigaction(SIGCHLD, &stop->child_before, NULL);
    sigprocmask(SIG_SETMASK, &stop->before, NULL);
}

int stop_exit(const struct stop *stop) {
    return launch_exit_status(stop->signal); /* a bare signal number is the status of a process that it ended */
}
