/* profile.h: a profile in memory, as reports, filters and the doctor's flags work on it.
 *
 * What profile.proto says, as dense arrays: a sample is a stack (location indices, leaf first), a label set and its values;
 * stacks and label sets are stored once each, so that memory grows with the distinct stacks and not with the runs that were
 * added up. All indices are from 0. Texts are interned: two that are equal are the same pointer, none is NULL unless said
 * so. The order of samples, locations, functions and mappings is that of their first use, as pprof numbers them when it
 * merges; what is shown as an id is the index plus 1.
 *
 * A profile is built (query/profile/build.h) or loaded (query/profile/load/load.h), then changed in place by query/profile/filter.h and
 * query/report/report.h; nothing here reads a database. */
#ifndef CLEAR_QUERY_PROFILE_MODEL_H
#define CLEAR_QUERY_PROFILE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PROFILE_NONE = UINT32_MAX }; /* an index of nothing */

struct profile_type {
    const char *type, *unit;
};

struct profile_mapping {
    uint64_t start, limit, offset;
    const char *file, *build_id;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
    bool is_named; /* `file` was named by the user, and not by the profile */
};

struct profile_function {
    const char *name, *system_name, *file;
    int64_t start_line;
};

struct profile_line {
    uint32_t function;
    int64_t line, column; /* 0 unknown */
};

struct profile_location {
    uint32_t mapping; /* PROFILE_NONE: of no mapping */
    bool is_folded;
    uint64_t address;
    uint32_t first_line, line_count; /* in `lines`; the innermost inlined function first; none where nothing is known */
};

struct profile_label {
    const char *key;
    const char *text; /* NULL: a number */
    const char *unit; /* of a number; "" none */
    int64_t number;
};

struct profile_labels { /* a label set: sorted by key, text before numbers; values of a key in their order */
    uint32_t first, count;
};

struct profile_stack { /* a part of `frames` */
    uint32_t first, depth;
};

struct profile_sample {
    uint32_t stack;  /* in `stacks` */
    uint32_t labels; /* in `label_sets`; 0 is the empty one */
};

struct profile {
    struct profile_type *types;
    size_t type_count;
    const char *default_type; /* "" none */
    struct profile_type period_type;
    int64_t period, time_ns, duration_ns;
    const char **comments;
    size_t comment_count;
    const char *drop_frames, *keep_frames, *doc_url;

    struct profile_mapping *mappings;
    struct profile_function *functions;
    struct profile_line *lines;
    struct profile_location *locations;
    struct profile_label *labels;
    struct profile_labels *label_sets;
    uint32_t *frames; /* location indices */
    struct profile_stack *stacks;
    struct profile_sample *samples;
    int64_t *values; /* [sample * type_count + type] */
    size_t mapping_count, function_count, line_count, location_count, label_count, label_set_count, frame_count,
        stack_count, sample_count;

    struct {
        size_t comments, mappings, functions, lines, locations, labels, label_sets, frames, stacks, samples, values;
    } room;                      /* of the arrays, in items */
    struct profile_texts *texts; /* interned */
    bool borrows;                /* they are another profile's */
};

/* A text as this profile has it, interned. Of a copy and its original they are the same. */
const char *profile_text(struct profile *profile, const char *text);

static inline int64_t profile_value(const struct profile *profile, size_t sample, size_t type) {
    return profile->values[sample * profile->type_count + type];
}

/* What changes must not be seen by: `copy` shares the texts of `profile`, which must outlive it. */
void profile_copy(struct profile *copy, struct profile *profile);
void profile_free(struct profile *profile);

/* Append and give the index. Items are copied, their texts must be interned. Nothing is looked for that is there already:
 * that is what query/profile/build.h does. Each aborts where there are more than 2^32 - 2. */
uint32_t profile_add_mapping(struct profile *profile, const struct profile_mapping *mapping);
uint32_t profile_add_function(struct profile *profile, const struct profile_function *function);
uint32_t profile_add_location(struct profile *profile, const struct profile_location *location,
                              const struct profile_line *lines, size_t line_count);
/* Gives a location that is there these lines in place of its own. */
void profile_set_lines(struct profile *profile, uint32_t location, const struct profile_line *lines, size_t line_count);
uint32_t profile_add_labels(struct profile *profile, const struct profile_label *items, size_t count);
uint32_t profile_add_stack(struct profile *profile, const uint32_t *frames, size_t depth);
uint32_t profile_add_sample(struct profile *profile, struct profile_sample sample, const int64_t *values);
void profile_add_comment(struct profile *profile, const char *text);    /* once */
void profile_append_comment(struct profile *profile, const char *text); /* whether or not it is there */

/* As pprof does with each source: a profile without any mapping gets an unknown one, which its locations are in. */
void profile_give_mapping(struct profile *profile);

/* Does a label set hold pprof::base=true? That marks what a difference was taken from. */
bool profile_labels_are_base(const struct profile *profile, uint32_t labels);

/* The sample type of a name, or of a number from 0; as pprof does, "inuse_X" is also X. NULL or "" is the profile's
 * default, else the last one. A name that is not there is a usage error that lists those that are. */
int profile_find_type(const struct profile *profile, const char *wanted, size_t *type, struct error *err);

/* Leaves of each sample's values those of `kept`, which rises. */
void profile_keep_types(struct profile *profile, const size_t *kept, size_t count);

/* Gives the samples other values: `types` and `values` ([sample * count + type]) become the profile's own. */
void profile_retype(struct profile *profile, struct profile_type *types, size_t count, int64_t *values);

/* Multiplies the values of each type, rounded half away from zero, and drops samples all of whose changed values are 0. Exact for a
 * ratio of -1. A failure where 64 bits do not hold a product. */
int profile_scale(struct profile *profile, const double *ratios, struct error *err);

#endif
