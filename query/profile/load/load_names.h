/* load_names.h: the warehouse's traces, locations, functions, mappings and label sets in a profile that is being built, or on
 * their way into a stream. Each is read once, when a sample first needs it: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_NAMES_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_NAMES_H

#include "base/arena.h"
#include "base/id_table.h"
#include "base/map.h"
#include "query/profile/build.h"
#include "query/profile/stream.h"
#include "schema/db.h"
#include "schema/walk.h"

struct profile_names {
    struct db *db;
    struct profile_builder *builder;
    const struct profile_stream *stream; /* where functions and locations go; NULL: into the builder's profile */
    struct id_table traces, locations, functions, label_sets;
    struct map mappings;       /* id -> struct profile_mapped * */
    struct id_table addressed; /* trace without labels -> label set with the address */
    struct map addresses;      /* trace and label set -> the same */
    struct id_table places;    /* location -> label set with its address alone */
    struct arena arena;
    struct walk trace_walk, location_walk, line_walk, function_walk;
    uint32_t *frames; /* of profile_names_frames */
    size_t frame_room;
};

void profile_names_open(struct profile_names *names, struct db *db, struct profile_builder *builder);
/* Lets the statements go; what is known stays. */
void profile_names_pause(struct profile_names *names);
void profile_names_free(struct profile_names *names);

/* Indices in the profile of what has these ids in the database; ids that are not there are failures. Trace 0 is the empty stack. */
int profile_names_trace(struct profile_names *names, int64_t trace_id, uint32_t *stack, struct error *err);
int profile_names_mapping(struct profile_names *names, int64_t mapping_id, uint32_t *mapping, int64_t *shift,
                          struct error *err);
int profile_names_labels(struct profile_names *names, int64_t label_set_id, uint32_t *labels, struct error *err);
/* The same with the label `addr`: the address of the place in the trace that a person would point at. */
int profile_names_addressed(struct profile_names *names, int64_t trace_id, int64_t label_set_id, uint32_t *labels,
                            struct error *err);
/* The locations of a trace into names->frames, good until the next call. Nothing of the trace is kept. */
int profile_names_frames(struct profile_names *names, int64_t trace_id, size_t *depth, struct error *err);
/* The location of a frame that has no more than names; `file` may be "", `line` 0. */
uint32_t profile_names_location(struct profile_names *names, const char *function, const char *file, int64_t line);
/* Puts the mapping first that is the main binary of the oldest profile that has one of them so, where any has. */
int profile_names_find_main_mapping(struct profile_names *names, struct error *err);

#endif
