/* runs.h: prints the list of runs: for `clear runs` and the prompt of `clear report`. */
#ifndef CLEAR_CLI_RUNS_H
#define CLEAR_CLI_RUNS_H

#include <stdbool.h>

#include "schema/db.h"

/* On standard output, one line each, newest first; or as a JSON array. 0, or -1 with the error set. */
int runs_print(struct db *db, bool json, struct error *err);

#endif
