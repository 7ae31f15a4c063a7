/* profile_names.h: the warehouse's traces, locations, functions, mappings and label sets in a profile that is being built.
 * Each is read once, when a sample first needs it: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_NAMES_H
#define CLEAR_QUERY_PROFILE_LOAD_NAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "query/profile/build.h"
#include "schema/db.h"
#include "schema/walk.h"

/* An id of the database -> a number, by table for the small ids, which are nearly all, and by map for others. */
struct profile_ids {
    uint32_t *near; /* value + 1; 0 unknown */
    size_t near_count;
    struct map far;
};

struct profile_names {
    struct db *db;
    struct profile_builder *builder;
    struct profile_ids traces, locations, functions, label_sets;
    struct map mappings;  /* id -> struct profile_mapped * */
    struct map addresses; /* trace and label set -> label set with the address */
    struct arena arena;
    struct walk trace_walk, location_walk, line_walk, function_walk;
    uint32_t *frames; /* scratch */
    size_t frame_room;
};

void profile_names_open(struct profile_names *names, struct db *db, struct profile_builder *builder);
void profile_names_free(struct profile_names *names);

/* Indices in the profile of what has these ids in the database; ids that are not there are failures. */
int profile_names_trace(struct profile_names *names, int64_t trace_id, uint32_t *stack, struct error *err);
int profile_names_mapping(struct profile_names *names, int64_t mapping_id, uint32_t *mapping, int64_t *shift,
                          struct error *err);
int profile_names_labels(struct profile_names *names, int64_t label_set_id, uint32_t *labels, struct error *err);
/* The same with the label `addr`: the address of the place in the trace that a person would point at. */
int profile_names_addressed(struct profile_names *names, int64_t trace_id, int64_t label_set_id, uint32_t *labels,
                            struct error *err);
/* A stack of one frame of a function that has no more than a name. */
uint32_t profile_names_frame(struct profile_names *names, const char *function, int64_t line);

#endif
