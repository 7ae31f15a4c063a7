/* noise.c: means and spreads worked out by hand, odds against tables of Student's t, and the test of many tests. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/diff/noise.h"

static void near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.12g, not %.12g", got, want);
}

/* Two-sided critical values as every textbook prints them, and closed forms: with 1 degree of freedom t is Cauchy's
 * distribution, with 2 the tail is algebraic. */
static void odds(void **state) {
    static const struct {
        double t, df, p;
    } table[] = {
        {12.7062, 1, 0.05},   {4.30265, 2, 0.05},  {2.77645, 4, 0.05},   {2.22814, 10, 0.05},  {3.16927, 10, 0.01},
        {4.58689, 10, 0.001}, {2.04227, 30, 0.05}, {1.98397, 100, 0.05}, {2.62589, 100, 0.01}, {0, 7, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        near(noise_p(table[i].t, table[i].df), table[i].p, table[i].p * 1e-4);
        near(noise_p(-table[i].t, table[i].df), table[i].p, table[i].p * 1e-4);
    }
    for (double t = 0.01; t < 1000; t *= 3) {
        near(noise_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-12);
        near(noise_p(t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
    }
    near(noise_p(INFINITY, 5), 0, 0);
    near(noise_p(3, 1e6), erfc(3 / sqrt(2)), 1e-7); /* with many, it is the normal distribution */
}

/* 10, 12, 14 against 20, 24, 28: means 12 and 24, s 2 and 4; t = 12 / sqrt(4/3 + 16/3) = 12 / sqrt(20/3); by Satterthwaite
 * df = (20/3)^2 / ((4/3)^2 / 2 + (16/3)^2 / 2) = (400/9) / (136/9) = 50/17. */
static void welch(void **state) {
    static const double old[] = {10, 12, 14}, new[] = {20, 24, 28};
    struct noise noise = noise_compare(old, 3, new, 3);
    (void)state;
    near(noise.old.mean, 12, 1e-12);
    near(noise.old.sd, 2, 1e-12);
    near(noise.new.mean, 24, 1e-12);
    near(noise.new.sd, 4, 1e-12);
    near(noise.t, 12 / sqrt(20.0 / 3), 1e-12);
    near(noise.df, 50.0 / 17, 1e-12);
    near(noise_compare(new, 3, old, 3).t, -noise.t, 1e-12);
    near(noise_compare(new, 3, old, 3).p, noise.p, 1e-12);
    near(noise_p(noise_error(&noise) / sqrt(20.0 / 3), 50.0 / 17), 0.05,
         1e-9); /* the difference that would just be one */
}

/* One run against three: s of the three stands for both, 3 + 1 - 2 degrees of freedom. */
static void one_against_many(void **state) {
    static const double old[] = {10, 12, 14}, new[] = {20};
    struct noise noise = noise_compare(old, 3, new, 1);
    (void)state;
    assert_true(isnan(noise.new.sd));
    near(noise.t, 8 / (2 * sqrt(1 + 1.0 / 3)), 1e-12);
    near(noise.df, 2, 0);
    near(noise_error(&noise), 4.30265 * 2 * sqrt(1 + 1.0 / 3), 1e-4);
    near(noise_compare(new, 1, old, 3).t, -noise.t, 1e-12);
}

/* Logarithms of base e of e^0, e^2, e^4 are 0, 2, 4: mean 2, s 2. One run of e^8: t = 6 / (2 sqrt(1 + 1/3)) with 2 degrees of freedom; two of
 * e^7 and e^9 have squares of 2 more: s^2 = (8 + 2) / 3, t = 6 / sqrt(10/3 (1/3 + 1/2)) with 3. */
static void few_runs(void **state) {
    const double old[] = {1, exp(2), exp(4)}, one[] = {exp(8)}, two[] = {exp(7), exp(9)}, none[] = {0, 2, 4},
                 eight[] = {8};
    struct noise noise = noise_compare_few(old, 3, one, 1);
    (void)state;
    near(noise.t, 6 / (2 * sqrt(1 + 1.0 / 3)), 1e-12);
    near(noise.df, 2, 0);
    near(noise.p, noise_p(noise.t, 2), 1e-12);
    near(noise.old.mean, (1 + exp(2) + exp(4)) / 3, 1e-12); /* of the values themselves */
    noise = noise_compare_few(old, 3, two, 2);
    near(noise.t, 6 / sqrt(10.0 / 3 * (1.0 / 3 + 1.0 / 2)), 1e-12);
    near(noise.df, 3, 0);
    near(noise_compare_few(two, 2, old, 3).t, -noise.t, 1e-12);
    near(noise_compare_few(none, 3, eight, 1).t, 6 / (2 * sqrt(1 + 1.0 / 3)), 1e-12); /* 0 has no logarithm */
    assert_true(noise_compare_few(old, 3, old, 3).p == 1);
    assert_true(isnan(noise_compare_few(old, 1, one, 1).p));
    assert_true(noise_compare_few(eight, 1, (double[]){9, 9, 9}, 3).p == 0);
}

static void without_spread(void **state) {
    /* 0.1 summed ten times and divided is not 0.1: equal values must have no spread all the same. */
    static const double low[] = {0.1, 0.1, 0.1}, high[] = {0.3, 0.3, 0.3};
    struct noise noise = noise_compare(low, 3, high, 3);
    (void)state;
    assert_true(noise.old.sd == 0 && noise.new.sd == 0);
    assert_true(isinf(noise.t) && noise.t > 0 && noise.p == 0);
    noise = noise_compare(low, 3, low, 3);
    assert_true(noise.t == 0 && noise.p == 1 && noise_error(&noise) == 0);
    noise = noise_compare(low, 1, high, 1);
    assert_true(isnan(noise_error(&noise)));
    assert_true(isnan(noise.t) && isnan(noise.p) && isnan(noise.old.sd));
    noise = noise_compare(low, 1, low, 3);
    assert_true(noise.t == 0 && noise.p == 1);
}

/* The example of Benjamini and Hochberg's paper (1995, section 4): of these fifteen p values, the first four stand at
 * 5 %. */
static void many_tests(void **state) {
    double p[] = {0.0459, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298,
                  0.0344, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    double one[] = {0.05}, none[] = {0.051};
    (void)state;
    near(noise_limit(p, sizeof p / sizeof *p, 0.05), 0.0095, 0);
    near(noise_limit(one, 1, 0.05), 0.05, 0);
    near(noise_limit(none, 1, 0.05), -1, 0);
    near(noise_limit(none, 0, 0.05), -1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odds),     cmocka_unit_test(welch),          cmocka_unit_test(one_against_many),
        cmocka_unit_test(few_runs), cmocka_unit_test(without_spread), cmocka_unit_test(many_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
