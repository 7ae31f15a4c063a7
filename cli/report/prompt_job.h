/* prompt_job.h: does work in a child process that owns the terminal meanwhile, like a foreground job of a shell. */
#ifndef CLEAR_CLI_REPORT_PROMPT_JOB_H
#define CLEAR_CLI_REPORT_PROMPT_JOB_H

#include <stdbool.h>

#include "base/error.h"

/* Calls work(context) in a child, whose exit status is what it returns, and waits. *status is waitpid's. With
 * `terminal`, ^C and ^Z reach the child and all that it started, and nothing of these outlives it. */
int prompt_job(bool terminal, int (*work)(void *context), void *context, int *status, struct error *err);

#endif
