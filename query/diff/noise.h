/* noise.h: is the difference between two sets of figures more than chance? Pure functions; they cannot fail.
 *
 * With two or more values on both sides, this is Welch's t test, which does not assume equal variances:
 * t = (m2 - m1) / sqrt(s1^2/n1 + s2^2/n2), with the degrees of freedom of Welch and Satterthwaite. If one side has a single value,
 * its standard deviation is assumed to be the other side's: t = (m2 - m1) / (s sqrt(1/n1 + 1/n2)) with n - 1 degrees of freedom.
 * If both sides have a single value, the noise is not known and there is no test. */
#ifndef CLEAR_QUERY_DIFF_NOISE_H
#define CLEAR_QUERY_DIFF_NOISE_H

#include <stdbool.h>
#include <stddef.h>

struct noise_side {
    size_t n;
    double mean;
    double sd; /* sample standard deviation (divisor n - 1); NAN if n < 2 */
};

struct noise {
    struct noise_side old, new;
    double t, df; /* NAN without a test; t is infinite if nothing varies and the means differ */
    double p;     /* two-sided p value; 1 if the means are equal; NAN without a test */
};

struct noise noise_compare(const double *old, size_t old_count, const double *new, size_t new_count);

/* The same for times where a side has few runs, for example one against a history of twenty: t, df and p are those of Student's test of the
 * logarithms, for the spread of a time grows with it, with one deviation for both sides and n1 + n2 - 2 degrees of freedom. For a single run
 * that is the prediction interval of the history. Of the values themselves where one is not positive. */
struct noise noise_compare_few(const double *old, size_t old_count, const double *new, size_t new_count);

/* The two-sided p value of t with df degrees of freedom. */
double noise_p(double t, double df);

/* Half the width of the interval that has the difference of the means in 95 of 100 cases, by the deviations of the sides (a single value's is the
 * other side's) and the degrees of freedom of the test. NAN without a test. */
double noise_error(const struct noise *noise);

/* The limit of p for many tests at once (Benjamini and Hochberg, 1995): of the tests with a p up to the limit, at most the share
 * `rate` (0 to 1) is expected to be chance. -1: no test is below any limit. Sorts `p`. */
double noise_limit(double *p, size_t count, double rate);

#endif
