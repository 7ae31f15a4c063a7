#include "query/diff/noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

enum { STEPS_MAX = 300 }; /* of the continued fraction, which needs O(sqrt(max(a, b))) */

static struct noise_side describe(const double *values, size_t n) {
    struct noise_side side = {.n = n, .sd = NAN};
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        side.mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - side.mean) * (values[i] - side.mean);
    if (n > 1) side.sd = sqrt(squares / (double)(n - 1));
    return side;
}

/* The mean of equal values has a rounding error, which would look like a tiny deviation. */
static bool are_equal(const double *values, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (values[i] != values[0]) return false;
    return true;
}

static double away_from_zero(double x) {
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= STEPS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return value;
}

/* The regularized incomplete beta function I_x(a, b). */
static double beta_incomplete(double a, double b, double x) {
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double noise_p(double t, double df) {
    if (isinf(t)) return 0;
    return beta_incomplete(df / 2, 0.5, df / (df + t * t));
}

static void test(struct noise *noise) {
    const struct noise_side *old = &noise->old, *new = &noise->new;
    double n1 = (double)old->n, n2 = (double)new->n, error;
    if (old->n > 1 && new->n > 1) {
        double e1 = old->sd * old->sd / n1, e2 = new->sd *new->sd / n2;
        error = sqrt(e1 + e2);
        noise->df = (e1 + e2) * (e1 + e2) / (e1 * e1 / (n1 - 1) + e2 * e2 / (n2 - 1));
    } else {
        double sd = old->n > 1 ? old->sd : new->sd;
        error = sd * sqrt(1 / n1 + 1 / n2);
        noise->df = n1 + n2 - 2;
    }
    double difference = new->mean - old->mean;
    if (error == 0) noise->df = n1 + n2 - 2;
    noise->t = difference == 0 ? 0 : error == 0 ? copysign(INFINITY, difference) : difference / error;
    noise->p = noise_p(noise->t, noise->df);
}

struct noise noise_compare(const double *old, size_t old_count, const double *new, size_t new_count) {
    struct noise noise = {
        .old = describe(old, old_count), .new = describe(new, new_count), .t = NAN, .df = NAN, .p = NAN};
    if (are_equal(old, old_count)) {
        noise.old.mean = old[0];
        if (old_count > 1) noise.old.sd = 0;
    }
    if (are_equal(new, new_count)) {
        noise.new.mean = new[0];
        if (new_count > 1) noise.new.sd = 0;
    }
    if (old_count + new_count > 2) test(&noise);
    return noise;
}

/* Both sides with one deviation: the few runs of a side cannot tell their own. */
static void test_pooled(struct noise *noise, const struct noise_side *old, const struct noise_side *new) {
    double n1 = (double)old->n, n2 = (double)new->n, squares = 0;
    if (old->n > 1) squares += (n1 - 1) * old->sd * old->sd;
    if (new->n > 1) squares += (n2 - 1) * new->sd *new->sd;
    noise->df = n1 + n2 - 2;
    noise->t = (new->mean - old->mean) / sqrt(squares / noise->df * (1 / n1 + 1 / n2));
    noise->p = noise_p(noise->t, noise->df);
}

/* The logarithms, to be freed; NULL: a value has none. */
static double *logarithms(const double *values, size_t n) {
    double *logs = xcalloc(n + 1, sizeof *logs);
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] > 0)) {
            free(logs);
            return NULL;
        }
        logs[i] = log(values[i]);
    }
    return logs;
}

struct noise noise_compare_few(const double *old, size_t old_count, const double *new, size_t new_count) {
    struct noise noise = noise_compare(old, old_count, new, new_count);
    bool varies = noise.old.sd > 0 || noise.new.sd > 0;
    if (!varies || noise.old.mean == noise.new.mean) return noise;
    double *old_logs = logarithms(old, old_count), *new_logs = logarithms(new, new_count);
    struct noise_side before = noise.old, after = noise.new;
    if (old_logs && new_logs) {
        before = describe(old_logs, old_count);
        after = describe(new_logs, new_count);
    }
    test_pooled(&noise, &before, &after);
    free(old_logs);
    free(new_logs);
    return noise;
}

static int rising(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double noise_limit(double *p, size_t count, double rate) {
    double limit = -1;
    qsort(p, count, sizeof *p, rising);
    for (size_t i = 0; i < count; i++)
        if (p[i] <= rate * (double)(i + 1) / (double)count) limit = p[i];
    return limit;
}

/* The t that p falls to 0.05 at. */
static double t_of_95(double df) {
    double low = 0, high = 1;
    while (noise_p(high, df) > 0.05 && high < 1e6)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (noise_p(middle, df) > 0.05)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double noise_error(const struct noise *noise) {
    if (!(noise->df > 0)) return NAN;
    double before = isnan(noise->old.sd) ? noise->new.sd : noise->old.sd;
    double after = isnan(noise->new.sd) ? noise->old.sd : noise->new.sd;
    double variance = before * before / (double)noise->old.n + after * after / (double)noise->new.n;
    return t_of_95(noise->df) * sqrt(variance);
}
