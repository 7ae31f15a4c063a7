#include "export/difference.h"

bool difference_has_base(const struct profile *profile) {
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile_labels_are_base(profile, profile->samples[i].labels)) return true;
    return false;
}

int64_t difference_value(const struct profile *profile, size_t sample, size_t type, int side) {
    int64_t value = profile_value(profile, sample, type);
    bool is_before = value < 0 || profile_labels_are_base(profile, profile->samples[sample].labels);
    if (is_before != (side == BEFORE)) return 0;
    return is_before ? -value : value;
}
