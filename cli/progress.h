/* progress.h: how far the reading of a file is, on standard error, for what takes over a second; silent where that is no
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

void progress_connect(struct progress *progress, struct ingest_options *options); /* options' callback, on a terminal */
void progress_start(struct progress *progress);                                   /* of a file */
void progress_clear(struct progress *progress);                                   /* before anything else is printed */

#endif
