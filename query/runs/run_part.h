/* run_part.h: judges a part of a run. The facts of the part (schema/facts.h) are made in temporary tables of this connection, and all views read those
 * instead of the file's: from then on the run is only that part, and no other run has findings. */
#ifndef CLEAR_QUERY_RUNS_RUN_PART_H
#define CLEAR_QUERY_RUNS_RUN_PART_H

#include "query/runs/timespan.h"

/* Once a connection. Windows are counted as those of the kind that has most. Appends which part it is: "windows 3 to 7 of 12, ...". A part
 * without windows is a usage error. */
int run_part_shadow(struct db *db, int64_t run_id, const struct timespan_request *request, struct buffer *words,
                    struct error *err);

#endif
