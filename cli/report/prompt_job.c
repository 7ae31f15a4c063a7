#include "cli/report/prompt_job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A background process may set the foreground group only if it ignores SIGTTOU. */
static void set_foreground(pid_t group) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGTTOU, &ignore, &before);
    (void)tcsetpgrp(STDIN_FILENO, group);
    sigaction(SIGTTOU, &before, NULL);
}

/* Parent and child both set the group, because either may run first. */
static void start_in_foreground(pid_t child, pid_t group) {
    (void)setpgid(child, group);
    set_foreground(group);
}

static int wait_for(pid_t child, bool terminal, int *status) {
    for (;;) {
        pid_t waited = waitpid(child, status, terminal ? WUNTRACED : 0);
        if (waited < 0 && errno == EINTR) continue;
        if (waited < 0) return -1;
        if (!WIFSTOPPED(*status)) return 0;
        /* ^Z stops the session too; both continue together. */
        set_foreground(getpgrp());
        kill(0, SIGTSTP);
        set_foreground(child);
        kill(-child, SIGCONT);
    }
}

int prompt_job(bool terminal, int (*work)(void *context), void *context, int *status, struct error *err) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return error_fail(err, "cannot start a process for the report: %s", strerror(errno));
    if (child == 0) {
        if (terminal) start_in_foreground(0, getpid());
        _exit(work(context));
    }
    if (terminal) start_in_foreground(child, child);
    int code = wait_for(child, terminal, status), number = errno;
    if (terminal) {
        /* A program that the job started (graphviz) may be slow to end after ^C. */
        if (code == 0 && WIFSIGNALED(*status)) kill(-child, SIGKILL);
        set_foreground(getpgrp());
    }
    return code < 0 ? error_fail(err, "cannot wait for the report: %s", strerror(number)) : 0;
}
