/* difference.h: the two sides of a difference, for formats that show both as positive numbers. Before is what was taken away:
 * samples that are marked pprof::base, and values below 0. After is the rest. */
#ifndef CLEAR_EXPORT_DIFFERENCE_H
#define CLEAR_EXPORT_DIFFERENCE_H

#include "query/profile/model.h"

enum { BEFORE, AFTER, SIDES };

/* Is any sample marked? */
bool difference_has_base(const struct profile *profile);

/* The only side on which a sample has a value, and that value. Negative only where a sample of the base was negative itself, which takes away from
 * what was before. The sums of the profile are checked (report_check_sums), so no value is INT64_MIN. */
int difference_side(const struct profile *profile, size_t sample, size_t type, int64_t *value);
/* The value of a sample on a side; 0 on the other one. */
int64_t difference_value(const struct profile *profile, size_t sample, size_t type, int side);

#endif
