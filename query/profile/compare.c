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
        uint64_t total = 0;
        for (size_t sample = 0; sample < profile->sample_count; sample++)
            total += (uint64_t)profile_value(profile, sample, i);
        totals[i] = (double)(int64_t)total;
    }
}

static void normalize(struct profile *profile, const struct profile *base) {
    double *ratios = xcalloc(profile->type_count + 1, sizeof *ratios);
    double *totals = xcalloc(profile->type_count + 1, sizeof *totals);
    total_of(base, ratios);
    total_of(profile, totals);
    for (size_t i = 0; i < profile->type_count; i++)
        ratios[i] = totals[i] != 0 ? ratios[i] / totals[i] : 0;
    profile_scale(profile, ratios);
    free(ratios);
    free(totals);
}

/* Values of both in the finer unit of the two. */
static void scale_units(struct profile *profile, struct profile *base) {
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
    profile_scale(profile, ratios);
    profile_scale(base, base_ratios);
    free(ratios);
    free(base_ratios);
}

static void negate(struct profile *profile) {
    double *ratios = xcalloc(profile->type_count + 1, sizeof *ratios);
    for (size_t i = 0; i < profile->type_count; i++)
        ratios[i] = -1;
    profile_scale(profile, ratios);
    free(ratios);
}

int compare_add(struct profile *profile, struct profile *other, struct error *err) {
    struct profile sum;
    if (check_types(profile, other, "added to", err) < 0) return -1;
    scale_units(profile, other);
    profile_merge(&sum, profile, other);
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
    if (options->normalize) normalize(profile, base);
    negate(base);
    scale_units(profile, base);
    profile_merge(&difference, profile, base);
    profile_free(profile);
    *profile = difference;
    return 0;
}
