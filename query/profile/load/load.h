/* load.h: profiles of the warehouse into memory (query/profile/model.h), or, where they need no sums, on into a stream.
 *
 * One kind of profile of any number of runs, all their processes and windows, becomes one profile: rows of one stack and
 * label set are summed, and a stack is read once. What was ingested comes with its own sample types, and what was recorded,
 * or stands beside what was, with those of its kind (schema/kinds.h). */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_H

#include "query/profile/model.h"
#include "query/profile/stream.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"
#include "schema/db.h"

struct load_request {
    const char *kind;
    const struct run_set *runs;
    const struct timespan *spans; /* of each run; NULL: all of it */
    /* For who needs the values of one sample type alone, named as for profile_find_type: the others' may read 0, and samples that have
     * none of this one may be missing. NULL: all. */
    const char *type;
    bool is_exact;      /* as stored, and not merged as pprof merges (query/profile/build.h) */
    bool keeps_zero;    /* samples without any value too, of what was ingested */
    bool may_have_none; /* a run without that kind has no samples; else it is a failure that says what the run has */
    /* Of an exact profile of one whole run that was ingested: it goes here as it came in, samples of nothing too, and what
     * profile_load fills has then no samples. NULL: nothing does. */
    const struct profile_stream *stream;
};

/* On failure there is nothing to free. */
int profile_load(struct profile *profile, struct db *db, const struct load_request *request, struct error *err);

/* A failure that lists the kinds that the run has, where this is none of them. */
int profile_check_kind(struct db *db, int64_t run_id, const char *kind, struct error *err);

/* All kinds that every run of the set has, each with a newline behind it: those of schema/kinds.h in its order, then others by
 * name. free() the text. */
int profile_common_kinds(struct db *db, const struct run_set *runs, char **lines, struct error *err);

#endif
