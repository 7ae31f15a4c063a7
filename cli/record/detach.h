/* detach.h: `clear profile --detach`: the recorder goes on when the command ends with the target. */
#ifndef CLEAR_CLI_DETACH_H
#define CLEAR_CLI_DETACH_H

/* In the recorder: the target has ended. Ends the command, of which `link` is the link to its supervisor, leaves its session and
 * terminal, and sends what is printed from now on to the file `log`. */
void detach_recorder(int link, int wait_status, const char *log);

#endif
