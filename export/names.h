/* names.h: the warehouse's stacks, locations, functions, mappings and label sets as a pprof writer knows them.
 * Each is read from the database and written to the profile once, when a sample first needs it. */
#ifndef CLEAR_EXPORT_NAMES_H
#define CLEAR_EXPORT_NAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "export/pprof.h"
#include "schema/db.h"
#include "schema/walk.h"

struct stack {
    const uint64_t *locations; /* leaf first; ids of the profile or of the database, as the function says */
    size_t count;
};

struct names {
    struct db *db;
    struct pprof_writer *writer;
    struct map mappings, functions, locations; /* id in the database -> id in the profile */
    uint32_t *near;                            /* the same for locations with small ids, 0 where not yet written */
    size_t near_count;
    struct walk trace_walk, location_walk, line_walk, function_walk;
    struct map addresses;  /* location id -> its address as a text */
    struct map frames;     /* function NUL file NUL line -> location id of a made-up frame */
    struct map label_sets; /* id -> struct labels * */
    struct arena labels;
    uint64_t *scratch; /* the stack last asked for */
    size_t scratch_capacity;
};

struct labels {
    const struct pprof_label *items;
    size_t count;
};

void names_open(struct names *names, struct db *db, struct pprof_writer *writer);
void names_free(struct names *names);

/* The stack of a trace in ids of the profile, good until the next call. Trace 0 is the empty stack; a trace that is
 * not there is a failure. */
int names_trace(struct names *names, int64_t trace_id, struct stack *stack, struct error *err);
/* The address of the place in a trace that a person would point at, as 0xHEX, good until names_free; NULL for none. */
int names_address(struct names *names, int64_t trace_id, const char **text, struct error *err);
/* A location without an address, for a frame that has no more than names. `file` may be NULL, `line` 0. */
uint64_t names_frame(struct names *names, const char *function, const char *file, int64_t line);
/* Labels of a set, good until names_free. Set 0 is empty. */
int names_labels(struct names *names, int64_t label_set_id, struct labels *labels, struct error *err);
/* Writes the mapping where it was not yet needed, and gives its id. Mapping 0 is none and stays 0. */
int names_mapping(struct names *names, int64_t mapping_id, uint64_t *id, struct error *err);
/* Says which mapping is the main binary where nobody did: one that some recorded process had as its main binary. */
int names_find_main_mapping(struct names *names, struct error *err);

/* The ids in traces.stack: a JSON array of integers. `ids` grows as needed (realloc). */
int names_parse_stack(const char *json, uint64_t **ids, size_t *capacity, size_t *count, struct error *err);

#endif
