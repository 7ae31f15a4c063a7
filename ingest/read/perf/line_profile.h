/* line_profile.h: the profile of kind c2c ("cache to cache", as in perf c2c): the accesses to lines that threads take from each other.
 *
 * Values: accesses (samples), hitm (samples of loads that had to fetch the line from another core) and latency (cycles of the loads).
 * Labels: access (load or store), address and line ("0x404088" and "0x404080"), variable (the global variable there, if one is), pid,
 * tid, thread and mode. */
#ifndef CLEAR_INGEST_READ_PERF_LINE_PROFILE_H
#define CLEAR_INGEST_READ_PERF_LINE_PROFILE_H

#include "ingest/read/perf/frame_names.h"

/* Adds it to the open run; no profile where no sample had a HITM. `duration_ns`: of the run. */
int perf_line_profile(struct ingest *ingest, struct perf_names *names, int64_t duration_ns, struct error *err);

#endif
