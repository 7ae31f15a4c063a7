/* stream.h: a profile that goes out as it is read, for what is too large to stand in memory and needs no sums.
 *
 * What it says about itself, its mappings and its label sets stand in a profile (query/profile/model.h) without functions,
 * locations, stacks and samples: those come by these calls, each function before the locations that name it, each location
 * before the first sample that goes through it. Indices are 0, 1, 2, ... in the order of the calls. */
#ifndef CLEAR_QUERY_PROFILE_STREAM_H
#define CLEAR_QUERY_PROFILE_STREAM_H

#include "query/profile/model.h"

struct profile_stream {
    void *context;
    /* Once, before all others: the profile has its sample types and what it says about itself, and lives until the last call. */
    int (*begin)(void *context, struct profile *profile, struct error *err);
    uint32_t (*function)(void *context, const struct profile_function *function);
    uint32_t (*location)(void *context, const struct profile_location *location, const struct profile_line *lines);
    /* Frames are locations, leaf first; `labels` is an index of label_sets. */
    int (*sample)(void *context, const uint32_t *frames, size_t depth, uint32_t labels, const int64_t *values,
                  struct error *err);
};

#endif
