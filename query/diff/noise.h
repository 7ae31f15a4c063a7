/* noise.h: is the difference of two sets of figures more than chance?
 *
 * The test is Student's t for two means. Where both sides have two values or more, it is Welch's, which does not suppose
 * that they vary alike: t = (m2 - m1) / sqrt(s1^2/n1 + s2^2/n2), with the degrees of freedom of Welch and Satterthwaite.
 * Where one side has a single value, its spread is supposed to be the other's: t = (m2 - m1) / (s sqrt(1/n1 + 1/n2)) with
 * n - 1 degrees of freedom. Where both have one, nothing is known of the noise and there is no test. */
#ifndef CLEAR_QUERY_DIFF_NOISE_H
#define CLEAR_QUERY_DIFF_NOISE_H

#include <stdbool.h>
#include <stddef.h>

struct noise_side {
    size_t n;
    double mean;
    double sd; /* of a sample (divided by n - 1); NAN where n < 2 */
};

struct noise {
    struct noise_side old, new;
    double t, df; /* NAN where there was no test; t is infinite where nothing varies and the means differ */
    double p; /* odds that chance alone makes means differ so much, either way; 1 where they are equal; NAN: no test */
};

struct noise noise_compare(const double *old, size_t old_count, const double *new, size_t new_count);

/* The two-sided p of a t with so many degrees of freedom. */
double noise_p(double t, double df);

/* Which of many tests to believe: the largest p such that, of all tests with at most that one, the share `rate` (0..1) at
 * most is expected to be chance (Benjamini and Hochberg, 1995); -1 for none. Sorts `p`. */
double noise_limit(double *p, size_t count, double rate);

#endif
