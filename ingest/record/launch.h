/* launch.h: starts the program to record, waits for it, and exits as it did.
 *
 * The child keeps our process group, terminal, descriptors, and the signal mask and dispositions that we were started
 * with. Signals of the terminal (^C, ^\, ^Z, hang-up, resize) reach the whole group, so we ignore them; a signal that
 * was sent to us with kill(2) is forwarded. When the terminal stops the child, we stop too, so that the shell sees a
 * stopped job. From launch_start to launch_end the caller runs with nearly all signals blocked. */
#ifndef CLEAR_INGEST_RECORD_LAUNCH_H
#define CLEAR_INGEST_RECORD_LAUNCH_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    /* Set by the caller before launch_start; zeros for none. */
    /* Called when the child exists and waits: 0 lets it exec, -1 with the error set ends it. */
    int (*before_exec)(void *context, pid_t pid, struct error *err);
    void *context;
    uint64_t own_signals;   /* 1 << N of the signals that are for us and are not forwarded */
    char *const *variables; /* NULL-terminated, for the program's environment: NAME=VALUE sets, NAME removes */
    /* A descriptor that ends launch_wait when it is readable, before a signal is passed on; NULL for none. */
    const int *attended;
    const int *files; /* the child's descriptors 0, 1 and 2; NULL: ours */
    /* The link to our supervisor (ingest/record/supervisor.h), which becomes the parent of the program, gets and passes on signals, and
     * says how it ended; NULL: all that is ours to do. With it, own_signals count only where it sent them. */
    const int *link;
    /* As process 1 of a container we get its orphans. launch_wait waits for them, too, while `adopts`: not for `pid`, and not for `beside`, the other
     * child of ours (0: there is none). */
    bool adopts;
    pid_t beside;
    const sigset_t *mask; /* signals that the program starts with blocked; NULL: those that we had at launch_start */

    uint64_t arrived; /* those of own_signals that arrived; the caller clears them */
    pid_t pid;
    uint64_t started_ns;         /* CLOCK_MONOTONIC at the program's exec */
    _Atomic uint64_t ended_ns;   /* and at its end, however late launch_wait is called; 0: it runs */
    uint64_t user_ns, kernel_ns; /* CPU time of it and the children that it waited for, when it has ended */
    uint64_t waits;  /* how often it, and the children that it waited for, gave the processor away by themselves */
    pthread_t watch; /* sees the end */
    bool is_watched;
    siginfo_t held; /* a signal that the next launch_wait passes on, if is_held */
    bool is_held;
    int signals;                   /* a signalfd, for waiting on `attended` or `link` too; else -1 */
    sigset_t before;               /* our signal mask at launch_start */
    struct sigaction child_before; /* and the disposition of SIGCHLD */
};

/* The path of the runtime to preload: $CLEAR_RT_LIBRARY, else libclear_rt.so beside the running executable, else
 * ../lib/clear/libclear_rt.so from there. A path that LD_PRELOAD cannot hold (with a blank or a colon) is replaced by a
 * link to it in `directory`; where that is NULL, it is an error. NULL with the error set, as where /proc is not mounted; free() it. */
char *launch_runtime(const char *directory, struct error *err);

/* Does with the signals what launch_start does. For a process that only waits, for what `pid` says. 0, or -1 with the error set and
 * nothing changed. */
int launch_block(struct launch *launch, struct error *err);
/* Starts `path` with those arguments, with `runtime` preloaded and recording into `directory`; both NULL: without. A
 * program that cannot be executed is a usage error, and nothing has changed then. */
int launch_start(struct launch *launch, const char *path, char *const *arguments, const char *runtime,
                 const char *directory, struct error *err);
/* Waits for the end of the program (true, *wait_status as from waitpid), or until `timeout_ns` has passed, one of own_signals
 * has arrived or *attended is readable (false). */
bool launch_wait(struct launch *launch, uint64_t timeout_ns, int *wait_status);
/* After the end of the program: waits as launch_wait does, for signals to us. True: somebody asked us to end, as below. */
bool launch_wait_more(struct launch *launch, uint64_t timeout_ns);
/* After the end of the program: whether somebody asked us to end meanwhile (SIGINT, SIGQUIT, SIGTERM or SIGHUP). Takes all
 * signals that came until now. */
bool launch_is_asked_to_end(void);
/* Restores the signals as they were before launch_start. */
void launch_end(struct launch *launch);
/* The status to exit with. If a signal ended the program, the same signal ends us here, without a second core dump. */
int launch_exit_status(int wait_status);

#endif
