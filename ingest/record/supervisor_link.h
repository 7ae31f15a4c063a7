/* supervisor_link.h: what the two processes of a recording tell each other (ingest/record/supervisor.h): messages of one size over a
 * pair of sockets. The end of one process is the end of the link of the other. */
#ifndef CLEAR_INGEST_RECORD_SUPERVISOR_LINK_H
#define CLEAR_INGEST_RECORD_SUPERVISOR_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum link_word {
    /* from the recorder */
    LINK_BORN = 1, /* pid: the program's process is there, as a child of the supervisor, and waits; own_signals */
    LINK_STARTED,  /* it has executed the program; started_ns */
    LINK_FINISHED, /* the recording is stored, or kept and the user was told: wait_status is to be the command's */
    LINK_DETACHED, /* the same, and the recorder goes on alone */
    /* from the supervisor */
    LINK_ENDED, /* the program has ended: all but the pid, own_signals and started_ns */
};

/* As in struct launch. */
struct link_message {
    enum link_word word;
    pid_t pid;
    int wait_status;
    uint64_t own_signals, started_ns, ended_ns, user_ns, kernel_ns, waits;
};

/* Sends it; a failure is ignored, because the other side is gone then, which the end of the link says. */
void link_tell(int link, const struct link_message *message);
/* Takes the next message, if there is one. 1: there is; 0: none now; -1: the other side is gone. */
int link_take(int link, struct link_message *message);

#endif
