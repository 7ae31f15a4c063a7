/* edit.h: what the commands that change runs share: clear tag, label, pin, rm. */
#ifndef CLEAR_CLI_UPKEEP_EDIT_H
#define CLEAR_CLI_UPKEEP_EDIT_H

#include <stdbool.h>

#include "query/runs/run_set.h"
#include "schema/db.h"

/* Opens the warehouse for writing, which must be there, and finds the runs; NULL: none. db_close and run_set_free them, whatever it returns. */
int edit_open(struct db *db, const char *option, const char *runs, struct run_set *set, struct error *err);

/* Calls `change` for each run, all in one transaction. */
int edit_each(struct db *db, const struct run_set *set,
              int (*change)(struct db *db, int64_t run_id, const void *context, struct error *err), const void *context,
              struct error *err);

/* "run 3" or "12 runs", and what was done to them, on a line of standard output. */
void edit_say(const struct run_set *set, const char *what);

#endif
