/* supervisor.h: two processes record a program, so that nothing that happens to the one that reads foreign memory happens to the program.
 *
 * The supervisor is the process that the user started. It is the parent of the program and of the recorder, passes signals on, stops with
 * the program and exits as it did. It opens no warehouse and reads no segment. The recorder does all the rest. Whatever ends the
 * recorder, the program runs to its own end, its status is that of the command, and its segments stay for `clear recover`. When
 * the supervisor is killed, the kernel kills the recorder too. */
#ifndef CLEAR_INGEST_RECORD_SUPERVISOR_H
#define CLEAR_INGEST_RECORD_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ingest/record/kernel/control_group.h"
#include "ingest/record/launch.h"
#include "ingest/record/supervisor_link.h"

struct supervisor {
    /* Set by the caller before supervisor_run. */
    int directory; /* of the recording: how the program ended is written there when the recorder cannot */
    void (*lost)(
        void *context); /* called when the recorder has ended, as recorder_status says, and the program runs on */
    void *context;

    int link; /* to the other process */
    pid_t recorder;
    bool has_recorder; /* it was not waited for yet */
    bool is_born, is_started, is_over, is_finished, is_detached;
    pid_t program;
    uint64_t started_ns;
    struct link_message ended;        /* how the program ended */
    struct control_group group;       /* of this process and of the program */
    int wait_status, recorder_status; /* as from waitpid(2) */
    struct launch launch;
};

enum supervised {
    SUPERVISED_FINISHED, /* wait_status is to be the command's */
    SUPERVISED_REFUSED,  /* the recorder ended before the program ran, as recorder_status says */
    SUPERVISED_LOST, /* the program has ended, as wait_status says, and before it or after it the recorder, by recorder_status */
};

/* Starts the recorder by fork(2), before a warehouse is open. Returns 1 in the recorder, where `link` is for struct launch, 0 in the
 * supervisor, -1 with the error set. */
int supervisor_start(struct supervisor *supervisor, struct error *err);
/* In the supervisor: returns when all that there is to wait for has ended. */
enum supervised supervisor_run(struct supervisor *supervisor);
/* The kernel ended the recorder because memory ran out, so that the program could have it. */
bool supervisor_was_short(const struct supervisor *supervisor);
void supervisor_end(struct supervisor *supervisor);

#endif
