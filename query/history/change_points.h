/* change_points.h: where did the level of a series of values change? Pure functions; they cannot fail.
 *
 * Split and merge. The series is split where Welch's t test says most clearly that the levels on both sides differ, and each part
 * again; then every split is tested once more between its neighbours, moved to where it is clearest now, and dropped if it is none any
 * more. A level has at least three values.
 * - The variance of a side is that of its values and, with a weight of 16 more values, that of both sides. Three values alone that
 *   happen to be alike would pass for a level: of steady series of 50 values, 2.4 % had an alarm without this, 0.4 % have with it.
 * - p is corrected for the number of tests, all splits of all series that are searched together; CHANGE_TESTS of them are in the
 *   limit. A part in which no split is clear enough is searched in windows of a half, a quarter, ... of it, for levels that rise and
 *   fall back; there p must be a tenth of that.
 * - One or two values that are more than five deviations from the median of every five values around them are outliers: that median
 *   stands for them in the tests, not in the means.
 * An exact figure has no noise: where it was the same in the last three values, or in all so far, the next value that differs is a
 * change, unless the old value comes back at once. Where it varies all the same it is tested. */
#ifndef CLEAR_QUERY_HISTORY_CHANGE_POINTS_H
#define CLEAR_QUERY_HISTORY_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#define CHANGE_P_LIMIT 0.0001 /* of the corrected p */
enum {
    CHANGE_LEAST = 3,  /* values of a level that is tested */
    CHANGE_TESTS = 50, /* more tests than these make the limit of p smaller */
};

struct change_search {
    bool is_exact;
    size_t series_count;  /* searched together, at least 1 */
    double floor_percent; /* of the level before: a smaller difference, rounded to whole percent, is no change */
    double floor;         /* nor is a smaller one in the unit of the values */
};

struct change_point {
    size_t at;          /* the first value of the new level, at least 1 */
    size_t first, last; /* it began between these (95 % sure): first <= at <= last; all are equal for an exact change */
    double before, after; /* means of the levels, from the change before to the change after */
    double percent;       /* of the level before; infinite if that is 0 */
    double p;             /* corrected, at most CHANGE_P_LIMIT; 0 for an exact change */
    bool is_exact;
};

/* The changes of `count` values in the order of time, oldest first. Returns their number; free(*found), which may be NULL. */
size_t change_points_find(const double *values, size_t count, const struct change_search *search,
                          struct change_point **found);

#endif
