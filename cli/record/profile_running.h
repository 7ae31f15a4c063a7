/* profile_running.h: `clear profile --pid`: the recording of processes that run already. */
#ifndef CLEAR_CLI_RECORD_PROFILE_RUNNING_H
#define CLEAR_CLI_RECORD_PROFILE_RUNNING_H

#include "cli/record/profile_options.h"

/* In the directory of such a recording: its recorder ends at SIGINT, and nothing else does. */
#define ATTACHED_FILE "attached"

/* The whole command. The exit status is 0 where it recorded, whatever becomes of the processes. */
int profile_running(struct profile_request *request, struct error *err);

#endif
