/* push_after.h: `push` of clear.yaml: each recorded run is sent to the store. What cannot be sent waits in the spool (ingest/team/spool.h). */
#ifndef CLEAR_CLI_PUSH_AFTER_H
#define CLEAR_CLI_PUSH_AFTER_H

#include "query/runs/run_set.h"

/* Whether the configuration's address of a store can be used: a usage error before the program runs, and not behind it. */
int push_after_check(struct error *err);

/* A recording begins: its run is put into the spool. What fails is a line on standard error. */
void push_after_begin(struct db *db, int64_t run_id);

/* Sends what the spool of the warehouse at `path` has, within the configuration's time: in a process of its own, which is killed then. What
 * fails is a line on standard error: the recording is stored, and its run stays in the spool. `is_quiet`: says nothing of what was sent.
 * How many runs wait then. */
int64_t push_after_recording(const char *path, bool is_quiet);

/* Adds the runs that wait in the spool: retention leaves them. */
int push_after_add_waiting(struct db *db, struct run_set *set, struct error *err);

#endif
