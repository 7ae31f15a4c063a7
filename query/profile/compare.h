/* compare.h: profiles against each other: sums and differences, as pprof's sources, -base and -diff_base. */
#ifndef CLEAR_QUERY_PROFILE_COMPARE_H
#define CLEAR_QUERY_PROFILE_COMPARE_H

#include "query/profile/model.h"

struct compare_options {
    bool is_diff;   /* samples of the base are marked pprof::base=true: percentages are of the base */
    bool normalize; /* values are first scaled so that each type has the base's total */
};

/* `profile` becomes what it was less `base`, which is changed too but not freed. Where they differ in the unit of a type, both
 * go to the finer one; types that cannot be subtracted are a usage error. */
int compare_subtract(struct profile *profile, struct profile *base, const struct compare_options *options,
                     struct error *err);

/* The same, exact (query/profile/build.h): the samples of the base are added as they are, negated and marked; the values go under the
 * same types of the profile, in whatever order the base has them, and types that differ are a usage error. Of what the base says
 * about itself nothing is taken. */
int compare_append_base(struct profile *profile, struct profile *base, struct error *err);

/* `profile` becomes the sum of both; `other` is changed but not freed. Units as above; types that cannot be added are a
 * usage error. */
int compare_add(struct profile *profile, struct profile *other, struct error *err);

#endif
