/* detach.h: `clear profile --detach`: the recorder is a process of its own, and the command ends with the target. */
#ifndef CLEAR_CLI_DETACH_H
#define CLEAR_CLI_DETACH_H

#include "base/error.h"

/* Starts the recorder by fork(2), before a warehouse is open. In the recorder returns 1, and *report is for
 * detach_recorder. In the command waits for detach_recorder or the end of the recorder, passes on signals that were sent
 * to it, and returns 0 with *status, the exit status of the command. -1 with the error set. */
int detach_start(int *report, int *status, struct error *err);
/* In the recorder: the target has ended. Ends the command, leaves its session and terminal, and sends what is printed
 * from now on to the file `log`. */
void detach_recorder(int report, int wait_status, const char *log);

#endif
