/* stop.h: for commands that run programs one after the other: Ctrl-C stops the command in order, between two steps, and never in the
 * middle of one.
 *
 * From stop_watch to stop_end SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD are blocked, and stop_wait takes the first four from the
 * queue. The terminal sends them to the child too; one that was sent to us alone with kill(2) is passed on. Ctrl-Z stops all, as
 * usual. */
#ifndef CLEAR_CLI_HISTORY_STOP_H
#define CLEAR_CLI_HISTORY_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/child.h"
#include "base/error.h"

struct stop {
    int signal; /* that asked us to stop; 0: none did */
    int queue;  /* a signalfd */
    sigset_t before;
    struct sigaction child_before; /* the disposition of SIGCHLD */
};

int stop_watch(struct stop *stop, struct error *err);
/* Whether we were asked to stop until now. */
bool stop_is_asked(struct stop *stop);

/* What a child shall be started with. */
struct stop_child {
    struct child_start start;
    int said;            /* the end of a pipe to read what it says; -1: none. Closed here */
    struct buffer *tail; /* gets the last STOP_TAIL bytes of it */
};
enum { STOP_TAIL = 4096 };

/* Starts the child and waits for its end, also if we are asked to stop meanwhile. Its signals are as ours were before stop_watch.
 * *wait_status is as from waitpid(2). */
int stop_run(struct stop *stop, const struct stop_child *child, int *wait_status, struct error *err);

void stop_end(struct stop *stop);
/* Ends the process by the signal that asked us to stop, so that a shell's loop stops too. Call it after stop_end. */
int stop_exit(const struct stop *stop);

#endif
