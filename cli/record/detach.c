#include "cli/record/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/record/launch.h"

/* Signals that the recorder shall get. Those of the terminal reach it too, and our own faults end us. */
static void passed_signals(sigset_t *set) {
    static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        sigaddset(set, passed[i]);
}

static void pass_on(int signals, pid_t recorder) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_code <= 0) kill(recorder, (int)info.ssi_signo); /* SI_KERNEL: from the terminal, to all of us */
}

/* The status of the target, or that of the recorder if it ends first. */
static int wait_for_report(int report, pid_t recorder, int signals) {
    struct pollfd polled[] = {{.fd = report, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    int wait_status = 0;
    while (!polled[0].revents) {
        if (poll(polled, signals < 0 ? 1 : 2, -1) < 0 && errno != EINTR) break;
        if (polled[1].revents) pass_on(signals, recorder);
    }
    if (read(report, &wait_status, sizeof wait_status) == (ssize_t)sizeof wait_status) return wait_status;
    while (waitpid(recorder, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    return wait_status;
}

int detach_start(int *report, int *status, struct error *err) {
    sigset_t passed, before;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return error_fail(err, "pipe: %s", strerror(errno));
    passed_signals(&passed);
    sigprocmask(SIG_BLOCK, &passed, &before);
    pid_t recorder = fork();
    if (recorder <= 0) sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[recorder != 0]);
    *report = ends[1];
    if (recorder == 0) return 1;
    if (recorder < 0) return error_fail(err, "fork: %s", strerror(errno));
    int signals = signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
    *status = launch_exit_status(wait_for_report(ends[0], recorder, signals));
    return 0;
}

void detach_recorder(int report, int wait_status, const char *log) {
    int input = open("/dev/null", O_RDWR | O_CLOEXEC);
    int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    dup2(input, STDIN_FILENO);
    dup2(output < 0 ? input : output, STDOUT_FILENO);
    dup2(output < 0 ? input : output, STDERR_FILENO);
    setsid();
    ssize_t ignored = write(report, &wait_status, sizeof wait_status);
    (void)ignored;
    close(report);
}
