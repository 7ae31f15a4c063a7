/* telling_kind.h: the kind of profile that has most to say of a run, for who asked for none: clear top, clear web, the summary of
 * clear profile.
 *
 *   cpu         100 ms of CPU time or more, and a tenth of the duration or more (a machine that is shared gives a busy program no more),
 *   lock, wait  else waits for a fifth of the duration or more, 20 ms or more: for locks, of two or more acquisitions; or for others, of
 *               ten or more: who waits once or twice to the end is a worker that had nothing to do,
 *   none        else, and where 50 ns for each allocation and its free would be a fifth of the CPU time or more: what stands first in
 *               schema/kinds.h, heap of most runs.
 *
 * And the sample type of a heap that is opened so: what is live at the end, or what was allocated where less than 1 % of that is live, which
 * may be a buffer of libc.
 */
#ifndef CLEAR_QUERY_RUNS_TELLING_KIND_H
#define CLEAR_QUERY_RUNS_TELLING_KIND_H

#include <stdint.h>

#include "base/buffer.h"
#include "query/runs/run_set.h"
#include "schema/db.h"

/* Of one run or several, summed; 0: none, or not known. */
struct run_effort {
    int64_t duration_ns, cpu_ns, alloc_count;
    int64_t lock_wait_ns, lock_contended;
    int64_t wait_ns, waits;          /* for what is no lock */
    int64_t alloc_bytes, live_bytes; /* of recorded runs */
};

/* Adds the figures of runs that are sealed. 0, or -1 with the error set. */
int run_effort_add(struct run_effort *effort, struct db *db, const struct run_set *runs, struct error *err);

/* NULL: none of them. `why` gets the reason, as in "it computed for 93 % of its time"; may be NULL. */
const char *telling_kind(const struct run_effort *effort, struct buffer *why);
/* "alloc_space", and `why` gets the reason; NULL: the type that a heap has by itself. */
const char *telling_heap_type(const struct run_effort *effort, struct buffer *why);

#endif
