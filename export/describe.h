/* describe.h: what a profile says about itself besides its samples: period, times, comments, mappings, drop_frames. */
#ifndef CLEAR_EXPORT_DESCRIBE_H
#define CLEAR_EXPORT_DESCRIBE_H

#include "export/names.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"

/* Of one kind of some runs: what their profiles say, merged as pprof merges (comments once, durations added, the longest
 * period, the earliest time), and what was lost. */
/* `spans`: of each run, the windows that are taken. */
/* `is_stored`: it goes out as it came in (export/stored.h), so nothing that it did not say is said for it. */
int describe_runs(struct db *db, const struct run_set *runs, const struct timespan *spans, const char *kind,
                  bool is_stored, struct names *names, struct pprof_writer *writer, struct error *err);
/* Of a query: the SQL. */
int describe_query(struct db *db, const char *sql, struct pprof_writer *writer, struct error *err);

#endif
