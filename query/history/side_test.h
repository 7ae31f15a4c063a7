/* side_test.h: is a commit on the good or on the bad side of a regression? Pure functions; they cannot fail.
 *
 * Good and bad are known by values of a figure at the two ends. First the ends must differ (side_ends_differ). Then each commit in
 * between is asked with as many values as it needs: after each one, side_of compares how likely they are if the commit is like the good
 * end, and if it is like the bad end. The ratio is that of two densities of Student's t, which take into account that means and
 * deviation are known from few values only. It is sure when the one is 1/error times as likely as the other. As in Wald's sequential
 * test, the share of wrong answers is then at most `error`, though it is asked after each value; and the number of values adapts
 * itself: with ends two deviations apart it is about four, where a test of fixed size needs twelve.
 *
 * The deviation is that of both ends together, or the commit's own where that is larger. If nothing varies at the ends the figure is
 * exact: a value that is an end's is an answer, and one between them is when it was seen twice. */
#ifndef CLEAR_QUERY_HISTORY_SIDE_TEST_H
#define CLEAR_QUERY_HISTORY_SIDE_TEST_H

#include <stdbool.h>
#include <stddef.h>

enum side { SIDE_UNSURE, SIDE_GOOD, SIDE_BAD };

struct side_values {
    double *values; /* in the order in which they were taken */
    size_t count;
};

enum {
    SIDE_ENDS_LEAST = 2,  /* values of each end, so that it is known whether they vary */
    SIDE_REFERENCES = 20, /* of an end, only so many of the newest are used: machines drift */
};

/* Do the ends differ by more than chance? Welch's t test, asked after more and more values: by p <= 0.001 at each of the counts 2, 3,
 * 4, 6, 8, 12, ... of the smaller end, and not in between. */
bool side_ends_differ(const struct side_values *good, const struct side_values *bad);
/* Nothing varies at either end, as far as is known. */
bool side_is_exact(const struct side_values *good, const struct side_values *bad);
bool side_varies(const struct side_values *values);

/* The side of a commit, `error` (0 to 1) being the share of answers that may be wrong. The ends differ. No value: unsure. */
enum side side_of(const struct side_values *good, const struct side_values *bad, const struct side_values *commit,
                  double error);

/* The `error` of each answer, so that a search over that many commits finds the right one 98 times of 100. */
double side_error(size_t commits);

/* Which of `count` commits in the order of history to decide next by what is known already: the one nearest to the middle whose side is
 * sure. SIZE_MAX: none is. */
size_t side_next_known(const enum side *sides, size_t count);

void side_values_add(struct side_values *values, double value);
void side_values_free(struct side_values *values);

#endif
