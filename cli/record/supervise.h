/* supervise.h: the supervisor of `clear profile` (ingest/record/supervisor.h), and what it says of a recorder that was lost. */
#ifndef CLEAR_CLI_SUPERVISE_H
#define CLEAR_CLI_SUPERVISE_H

#include "base/error.h"
#include "cli/record/profile_options.h"
#include "ingest/record/private_dir.h"

/* Starts the recorder, before a warehouse is open. In it returns 1, and *link leads to the supervisor. In the supervisor returns 0 once
 * all has ended, with *status, the exit status of the command. -1 with the error set. The lock on the directory is the supervisor's,
 * so that it goes at once when that is killed; a recorder that goes on alone (--detach) has it too. */
int supervise(const struct profile_request *request, struct private_dir *directory, int *link, int *status,
              struct error *err);

#endif
