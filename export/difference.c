#include "export/difference.h"

/* Label sets are few: where none is marked, no sample need be looked at. */
static bool has_marked_labels(const struct profile *profile) {
    for (uint32_t i = 0; i < profile->label_set_count; i++)
        if (profile_labels_are_base(profile, i)) return true;
    return false;
}

bool difference_has_base(const struct profile *profile) {
    if (!has_marked_labels(profile)) return false;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile_labels_are_base(profile, profile->samples[i].labels)) return true;
    return false;
}

int difference_side(const struct profile *profile, size_t sample, size_t type, int64_t *value) {
    *value = profile_value(profile, sample, type);
    if (*value >= 0 && !profile_labels_are_base(profile, profile->samples[sample].labels)) return AFTER;
    *value = -*value;
    return BEFORE;
}

int64_t difference_value(const struct profile *profile, size_t sample, size_t type, int side) {
    int64_t value;
    return difference_side(profile, sample, type, &value) == side ? value : 0;
}
