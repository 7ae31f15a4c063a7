/* build.h: makes a profile (query/profile/model.h) of names and samples, each given as often as it comes.
 *
 * Merged, as pprof merges: mappings of one size, offset and file (or build id) are one, wherever they were mapped; so are locations
 * of one place and lines, columns aside. Exact, as a warehouse keeps them: mappings and locations are one where all of their
 * fields are equal. In both, functions, label sets and stacks that are equal are one, and samples of one stack and label
 * set are summed; those without any value are left out, unless they are asked for. */
#ifndef CLEAR_QUERY_PROFILE_BUILD_H
#define CLEAR_QUERY_PROFILE_BUILD_H

#include "base/map.h"
#include "query/profile/model.h"

struct profile_builder {
    struct profile *profile; /* the caller's; zeroed by profile_build */
    bool is_exact;
    bool keeps_zero; /* samples without any value stay. Zeroed by profile_build */
    bool has_head;   /* of profile_build_head */
    struct map mappings, functions, locations, label_sets;
    struct profile_slots {
        uint32_t *items; /* index + 1 of a stack or sample, by its hash */
        size_t count;    /* a power of two */
    } stack_slots, sample_slots;
};

/* Begins an empty profile with these sample types, merged or exact; ends with profile_built. */
void profile_build(struct profile_builder *builder, struct profile *profile, const struct profile_type *types,
                   size_t count);
void profile_build_exact(struct profile_builder *builder, struct profile *profile, const struct profile_type *types,
                         size_t count);
/* Frees the builder; the profile is the caller's, free it with profile_free. A sample that sums to nothing is dropped, and
 * what only it used. */
void profile_built(struct profile_builder *builder);

/* Each gives the index of what it added or found. `shift` is what to add to an address within that mapping. */
uint32_t profile_build_mapping(struct profile_builder *builder, const struct profile_mapping *mapping, int64_t *shift);
uint32_t profile_build_function(struct profile_builder *builder, const struct profile_function *function);
uint32_t profile_build_location(struct profile_builder *builder, const struct profile_location *location,
                                const struct profile_line *lines, size_t line_count);
uint32_t profile_build_labels(struct profile_builder *builder, const struct profile_label *items, size_t count);
uint32_t profile_build_stack(struct profile_builder *builder, const uint32_t *frames, size_t depth);
/* Adds values to the sample of that stack and label set. A sum beyond 64 bits is a failure that names the sample type. */
int profile_build_sample(struct profile_builder *builder, uint32_t stack, uint32_t labels, const int64_t *values,
                         struct error *err);
/* The same of a stack, or of a stack and label set, that was never given before. Of an exact profile nothing is then looked for: that was
 * a twelfth of the work for a tree of 600,000 stacks. */
uint32_t profile_build_new_stack(struct profile_builder *builder, const uint32_t *frames, size_t depth);
int profile_build_new_sample(struct profile_builder *builder, uint32_t stack, uint32_t labels, const int64_t *values,
                             struct error *err);
/* What a profile says about itself, of one after the other, as pprof merges it; of an exact one all mappings too. */
void profile_build_head(struct profile_builder *builder, const struct profile *from);
/* Adds the samples of a profile with the same sample types, and what they use of it. */
int profile_build_profile(struct profile_builder *builder, const struct profile *from, struct error *err);

/* The sum of two profiles, as pprof merges two files; on failure there is nothing to free. Their sample types and units must be the
 * same (query/profile/compare.h makes them so). */
int profile_merge(struct profile *merged, const struct profile *a, const struct profile *b, struct error *err);

#endif
