/* load_header.h: what the profiles of a kind of several runs say about themselves, as one: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_HEADER_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_HEADER_H

#include "query/profile/load/load_names.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"
#include "schema/kinds.h"

/* Fills times, period, comments, frames to drop and mappings of the builder's profile: all mappings of an exact one. `kind` may be
 * made of others; `spans` NULL: all of each run. `is_stored`: it goes out as it came in, so that nothing is said in its name. */
int profile_head_read(struct profile_names *names, const struct run_set *runs, const struct timespan *spans,
                      const char *kind, bool is_stored, struct error *err);

#endif
