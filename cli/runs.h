/* runs.h: the list of runs, as `clear runs` prints it. */
#ifndef CLEAR_CLI_RUNS_H
#define CLEAR_CLI_RUNS_H

#include <stdbool.h>

#include "schema/db.h"

/* To standard output, a line each, the newest first; or as a JSON array. */
int runs_print(struct db *db, bool json, struct error *err);

#endif
