/* describe.h: what a set of runs has, for somebody who chooses what to look at. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_DESCRIBE_H
#define CLEAR_QUERY_PROFILE_LOAD_DESCRIBE_H

#include "base/buffer.h"
#include "query/runs/run_set.h"

/* Appends JSON fields without braces:
 *   "processes": N,
 *   "kinds": [{"kind", "default_type", "types": [{"type", "unit"}], "error"}]   those that all runs have, as a report chooses among
 *       them; "error" where the runs' types do not fit together
 *   "losses": [sentences]   what limits the figures of these runs; empty: nothing does */
int describe_runs(struct db *db, const struct run_set *runs, struct buffer *json, struct error *err);

#endif
