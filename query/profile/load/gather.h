/* gather.h: profiles of runs that stand in several warehouses (query/runs/run_set.h): that of --db, and a private one with the files. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_GATHER_H
#define CLEAR_QUERY_PROFILE_LOAD_GATHER_H

#include "base/buffer.h"
#include "query/profile/model.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"

/* The runs of one warehouse after the other, in the order of their first run: `db` NULL begins; false at the end. Fills
 * `set`, which run_set_free empties. */
bool gather_next(const struct run_list *runs, struct db **db, struct run_set *set);

/* One snapshot for all statements until gather_end, so that a recording that goes on does not show through. */
int gather_begin(const struct run_list *runs, struct error *err);
void gather_end(const struct run_list *runs);

/* The kind that a report without --kind is about: the first of profile_common_kinds that all runs have; none is a usage error.
 * free() it. `others`, unless NULL, gets the other kinds that all runs have, as in "cpu, lock". */
int gather_kind(const struct run_list *runs, char **kind, struct buffer *others, struct error *err);
/* The same, but of several kinds the one that has most to say of the runs (query/runs/telling_kind.h), if there is one; then `why` gets the
 * reason. *type: the sample type of a heap that says most, NULL: its own; then `why` gets the reason of that. */
int gather_telling_kind(const struct run_list *runs, char **kind, const char **type, struct buffer *others,
                        struct buffer *why, struct error *err);
/* The sum of the runs' profiles; of one run alone, as pprof reads a file alone, all that it has and as it has it. `type` as of
 * profile_load; NULL: the values of all sample types. `span`: that part of each run; NULL: all of it. */
int gather_profile(struct profile *profile, const struct run_list *runs, const char *kind, const char *type,
                   const struct timespan_request *span, struct error *err);

#endif
