/* scale.h: values of profiles in the units that people read, as pprof words them: 1.50MB, 10ms, 12.5%.
 *
 * A unit is what a profile calls it, in any case and number (Bytes, kb, nanoseconds, ms). "minimum" and "auto" as target
 * stand for the largest unit of the same sort in which the value is 1 or more. */
#ifndef CLEAR_QUERY_PROFILE_SCALE_H
#define CLEAR_QUERY_PROFILE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* The value in `to`, or in the sort's own default (bytes: B, time: s) where `to` is of another sort. *unit is its short
 * name: "" where it is not worth a word, as of a count; it may be `to`. */
double scale_value(int64_t value, const char *from, const char *to, const char **unit);
/* Appends the value with at most two decimals and its unit; "0" is without. */
void scale_label(struct buffer *text, int64_t value, const char *from, const char *to);

struct scale_percent {
    char text[32];
};
/* Of `total`, without a sign, at least 6 characters wide: " 1.50%", "  100%", "0.05%" with two digits. */
struct scale_percent scale_percentage(double value, double total);

/* Can values of these units be added after scaling? Equal units, or of one sort. */
bool scale_is_compatible(const char *a, const char *b);

#endif
