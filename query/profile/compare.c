#include "query/profile/compare.h"

#include <stdlib.h>
#include <string.h>

#include "query/profile/build.h"
#include "query/profile/scale.h"

static const char base_key[] = "pprof::base";

/* Each label set of the base gets the mark in the place of one that it may have. */
static void mark_base(struct profile *base) {
    size_t count = base->label_set_count;
    uint32_t *marked = xcalloc(count + 1, sizeof *marked);
    for (size_t at = 0; at < count; at++) {
        struct profile_labels set = base->label_sets[at];
        struct profile_label *items = xcalloc(set.count + 1, sizeof *items);
        size_t kept = 0;
        for (size_t i = 0; i < set.count; i++)
            if (!base->labels[set.first + i].text || strcmp(base->labels[set.first + i].key, base_key) != 0)
                items[kept++] = base->labels[set.first + i];
        items[kept++] =
            (struct profile_label){profile_text(base, base_key), profile_text(base, "true"), profile_text(base, ""), 0};
        marked[at] = profile_add_labels(base, items, kept);
        free(items);
    }
    for (size_t i = 0; i < base->sample_count; i++)
        base->samples[i].labels = marked[base->samples[i].labels];
    free(marked);
}

static bool same_name(const char *a, const char *b) {
    size_t size_a = strlen(a), size_b = strlen(b);
    if (size_a && a[size_a - 1] == 's') size_a--;
    if (size_b && b[size_b - 1] == 's') size_b--;
    return size_a == size_b && strncmp(a, b, size_a) == 0;
}

/* `joined`: "subtracted from", "added to". */
static int check_types(const struct profile *profile, const struct profile *other, const char *joined,
                       struct error *err) {
    if (profile->type_count != other->type_count)
        return error_usage(err, "a profile of %zu sample types cannot be %s one of %zu", other->type_count, joined,
                           profile->type_count);
    for (size_t i = 0; i < profile->type_count; i++)
        if (!same_name(profile->types[i].type, other->types[i].type) ||
            !scale_is_compatible(profile->types[i].unit, other->types[i].unit))
            return error_usage(err, "%s/%s cannot be %s %s/%s", other->types[i].type, other->types[i].unit, joined,
                               profile->types[i].type, profile->types[i].unit);
    return 0;
}

static void total_of(const struct profile *profile, double *totals) {
    for (size_t i = 0; i < profile->type_count; i++) {
        long double total = 0; /* exact up to 2^64 */
        for (size_t sample = 0; sample < profile->sample_count; sample++)
            total += (long double)profile_value(profile, sample, i);
        totals[i] = (double)total;
    }
}

static int normalize(struct profile *profile, const struct profile *base, struct error *err) {
    double *ratios = xcalloc(profile->type_count + 1, sizeof *ratios);
    double *totals = xcalloc(profile->type_count + 1, sizeof *totals);
    total_of(base, ratios);
    total_of(profile, totals);
    for (size_t i = 0; i < profile->type_count; i++)
        ratios[i] = totals[i] != 0 ? ratios[i] / totals[i] : 0;
    int code = profile_scale(profile, ratios, err);
    free(ratios);
    free(totals);
    return code;
}

/* Values of both in the finer unit of the two. */
static int scale_units(struct profile *profile, struct profile *base, struct error *err) {
    double *ratios = xcalloc(profile->type_count + 1, sizeof *ratios);
    double *base_ratios = xcalloc(profile->type_count + 1, sizeof *base_ratios);
    const char *unit;
    for (size_t i = 0; i < profile->type_count; i++) {
        bool is_finer = scale_value(1, base->types[i].unit, profile->types[i].unit, &unit) < 1;
        const char *finest = profile_text(profile, (is_finer ? base : profile)->types[i].unit);
        ratios[i] = scale_value(1, profile->types[i].unit, finest, &unit);
        base_ratios[i] = scale_value(1, base->types[i].unit, finest, &unit);
        profile->types[i].unit = finest;
    }
    int code = profile_scale(profile, ratios, err);
    if (code == 0) code = profile_scale(base, base_ratios, err);
    free(ratios);
    free(base_ratios);
    return code;
}

static int negate(struct profile *profile, struct error *err) {
    double *ratios = xcalloc(profile->type_count + 1, sizeof *ratios);
    for (size_t i = 0; i < profile->type_count; i++)
        ratios[i] = -1;
    int code = profile_scale(profile, ratios, err);
    free(ratios);
    return code;
}

int compare_add(struct profile *profile, struct profile *other, struct error *err) {
    struct profile sum;
    if (check_types(profile, other, "added to", err) < 0) return -1;
    if (scale_units(profile, other, err) < 0 || profile_merge(&sum, profile, other, err) < 0) return -1;
    profile_free(profile);
    *profile = sum;
    return 0;
}

int compare_subtract(struct profile *profile, struct profile *base, const struct compare_options *options,
                     struct error *err) {
    struct profile difference;
    if (check_types(profile, base, "subtracted from", err) < 0) return -1;
    profile_give_mapping(profile);
    profile_give_mapping(base);
    if (options->is_diff) mark_base(base);
    if (options->normalize && normalize(profile, base, err) < 0) return -1;
    if (negate(base, err) < 0 || scale_units(profile, base, err) < 0 ||
        profile_merge(&difference, profile, base, err) < 0)
        return -1;
    profile_free(profile);
    *profile = difference;
    return 0;
}

/* ---- exact ---- */

static size_t find_type(const struct profile *profile, const struct profile_type *wanted) {
    size_t type = 0;
    while (type < profile->type_count && (strcmp(profile->types[type].type, wanted->type) != 0 ||
                                          strcmp(profile->types[type].unit, wanted->unit) != 0))
        type++;
    return type;
}

static int no_such_types(const struct profile *profile, const struct profile *base, struct error *err) {
    return error_usage(err, "the base has other values (%s/%s ...: %zu) than what it is taken from (%s/%s ...: %zu)",
                       base->types[0].type, base->types[0].unit, base->type_count, profile->types[0].type,
                       profile->types[0].unit, profile->type_count);
}

/* Puts the negated values of the base in the order of the profile's types. */
static int negate_exactly(const struct profile *profile, struct profile *base, struct error *err) {
    size_t width = profile->type_count;
    if (base->type_count != width) return no_such_types(profile, base, err);
    int64_t *negated = xcalloc(base->sample_count * width + 1, sizeof *negated);
    for (size_t type = 0; type < width; type++) {
        size_t from = find_type(base, &profile->types[type]);
        if (from == width) no_such_types(profile, base, err);
        for (size_t sample = 0; from < width && sample < base->sample_count; sample++)
            if (__builtin_sub_overflow((int64_t)0, profile_value(base, sample, from), &negated[sample * width + type]))
                error_fail(err, "%s/%s: -2^63 has no negative", base->types[from].type, base->types[from].unit);
    }
    free(base->values);
    base->values = negated;
    return err->status == ERROR_NONE ? 0 : -1;
}

int compare_append_base(struct profile *profile, struct profile *base, struct error *err) {
    struct profile both;
    struct profile_builder builder;
    /* A query without a single row has decided nothing about its columns, and takes nothing away. */
    if (base->sample_count == 0) return 0;
    if (negate_exactly(profile, base, err) < 0) return -1;
    mark_base(base);
    profile_build_exact(&builder, &both, profile->types, profile->type_count);
    builder.keeps_zero = true;
    profile_build_head(&builder, profile);
    int code = profile_build_profile(&builder, profile, err);
    if (code == 0) code = profile_build_profile(&builder, base, err);
    profile_built(&builder);
    profile_free(code == 0 ? profile : &both);
    if (code == 0) *profile = both;
    return code;
}
