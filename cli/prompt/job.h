/* prompt_job.h: work in a process of its own, which has the terminal while it lasts, as a shell's job has. */
#ifndef CLEAR_CLI_PROMPT_JOB_H
#define CLEAR_CLI_PROMPT_JOB_H

#include <stdbool.h>

#include "base/error.h"

/* Calls work(context) in a child, whose exit status is what it returns, and waits. *status is waitpid's. With `terminal`, ^C
 * and ^Z reach the child and all that it started, and nothing of these outlives it. */
int prompt_job(bool terminal, int (*work)(void *context), void *context, int *status, struct error *err);

#endif
