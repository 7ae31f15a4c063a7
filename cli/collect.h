/* collect.h: clear gc and `retention`, which does the same after each recording. */
#ifndef CLEAR_CLI_COLLECT_H
#define CLEAR_CLI_COLLECT_H

#include "ingest/upkeep/gc.h"
#include "schema/retention.h"

/* gc_run with the runs of the rules' bases, and of those that rules of clear gate name, and those that wait for a store (`push`). A base of `rules` that names no run is passed over
 * where `is_lenient`, else an error. */
int collect_runs(struct db *db, const struct retention *rules, struct gc_policy *policy, bool is_lenient,
                 struct gc_result *result, struct error *err);

/* Applies the configuration's retention to the warehouse at `path`, within its time. What fails is a line on standard error: the recording is
 * stored, and stays. `is_quiet`: says nothing of what it deleted. */
void collect_after_recording(const char *path, bool is_quiet);

#endif
