/* profile_load.h: profiles of the warehouse into memory (query/profile/model.h).
 *
 * One kind of profile of any number of runs, all their processes and windows, becomes one profile: rows of one stack and
 * label set are summed as they come, and a stack is read once. What was ingested comes with its own sample types, and what
 * was recorded with those of its kind (schema/kinds.h). */
#ifndef CLEAR_QUERY_PROFILE_LOAD_H
#define CLEAR_QUERY_PROFILE_LOAD_H

#include "query/profile/model.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"
#include "schema/db.h"

/* Loads kind `kind` of the runs; a run that lacks it is a failure that says what it has. On failure there is nothing to
 * free. */
int profile_load(struct profile *profile, struct db *db, const struct run_set *runs, const char *kind,
                 struct error *err);

/* Of a stretch of each run: `spans` are as many as there are runs; NULL is profile_load. */
int profile_load_spans(struct profile *profile, struct db *db, const struct run_set *runs, const struct timespan *spans,
                       const char *kind, struct error *err);

/* For who needs the values of one sample type alone, named as for profile_find_type: the others' may read 0, and samples that have none
 * of this one may be missing. */
int profile_load_type(struct profile *profile, struct db *db, const struct run_set *runs, const char *kind,
                      const char *type, struct error *err);

/* All kinds that every run of the set has, each with a newline behind it: those of schema/kinds.h in its order, then others by
 * name. free() the text. */
int profile_common_kinds(struct db *db, const struct run_set *runs, char **lines, struct error *err);

#endif
