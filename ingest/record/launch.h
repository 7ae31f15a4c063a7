/* launch.h: starts the program to record, stays out of its way while it runs, and ends as it did.
 *
 * The child keeps our process group, terminal, descriptors, and the signal mask and dispositions that we were started
 * with. Signals: what the terminal sends (^C, ^\, ^Z, hang-up, resize) reaches the whole group, so we let it pass;
 * what was sent to us with kill(2) is sent on. When the terminal stops the child, we stop too, so that the shell sees
 * a stopped job. From launch_start to launch_end the caller runs with nearly all signals blocked. */
#ifndef CLEAR_INGEST_RECORD_LAUNCH_H
#define CLEAR_INGEST_RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    /* Set by the caller before launch_start; zeros for none. */
    int (*before_exec)(void *context, pid_t pid,
                       struct error *err); /* the child is there, and waits for the result: 0 lets
                                                                        it exec; -1 with the error set ends it */
    void *context;
    int own_signal;         /* sent to us, it is for us and not sent on; 0: none is */
    char *const *variables; /* NULL-terminated; for the program's environment beside the runtime's: NAME=VALUE to set,
                               NAME to remove */
    const int *attended;    /* a descriptor that ends launch_wait when it is readable; NULL for none */
    const int *files;       /* what the child gets as descriptors 0, 1 and 2 instead of ours */

    bool has_signal; /* own_signal came; the caller clears it */
    pid_t pid;
    int signals;                   /* a signalfd beside `attended` */
    sigset_t before;               /* our signal mask */
    struct sigaction child_before; /* and what SIGCHLD did */
};

/* The runtime to preload: $CLEAR_RT_LIBRARY, else libclear_rt.so beside the running executable, else
 * ../lib/clear/libclear_rt.so from there. A path that LD_PRELOAD cannot carry (it has a blank or a colon) is replaced
 * by a link to it in `directory`. NULL with the error set; free() it. */
char *launch_runtime(const char *directory, struct error *err);

/* Starts `path` with those arguments, `runtime` preloaded and recording into `directory`; both NULL: as it is. A program
 * that cannot be executed is a usage error, and nothing was changed. */
int launch_start(struct launch *launch, const char *path, char *const *arguments, const char *runtime,
                 const char *directory, struct error *err);
/* Waits until the program has ended (true, *wait_status as from waitpid), or `timeout_ns` has passed, own_signal came or *attended is
 * readable (false). */
bool launch_wait(struct launch *launch, uint64_t timeout_ns, int *wait_status);
/* Signals are as before launch_start. */
void launch_end(struct launch *launch);
/* The status to exit with; where a signal ended the program, the same signal ends us here, without a second core. */
int launch_exit_status(int wait_status);

#endif
