/* progress.h: shows how much of a file was read, on standard error, if that takes more than a second and it is a
 * terminal. */
#ifndef CLEAR_CLI_PROGRESS_H
#define CLEAR_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/read/ingest.h"

struct progress {
    int64_t started_ns; /* CLOCK_MONOTONIC */
    bool is_shown;
};

void progress_connect(struct progress *progress,
                      struct ingest_options *options); /* sets the callback of the options, on a terminal */
void progress_of_facts(void);                          /* from here on, where many runs of a file are sealed anew */
void progress_start(struct progress *progress);        /* before each file */
void progress_clear(struct progress *progress);        /* before anything else is printed */

#endif
