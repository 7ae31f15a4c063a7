#include "query/history/side_test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/diff/noise.h"

#define SEARCH_ERROR 0.02  /* of a whole search */
#define ENDS_P       0.001 /* of each look at the ends */

/* ---- values ---- */

void side_values_add(struct side_values *values, double value) {
    values->values = xrealloc(values->values, (values->count + 1) * sizeof *values->values);
    values->values[values->count++] = value;
}

void side_values_free(struct side_values *values) {
    free(values->values);
    *values = (struct side_values){0};
}

static struct side_values newest(const struct side_values *all) {
    size_t left_out = all->count > SIDE_REFERENCES ? all->count - SIDE_REFERENCES : 0;
    return (struct side_values){all->values + left_out, all->count - left_out};
}

/* ---- the ends ---- */

/* 2, 3, 4, 6, 8, 12, 16, 24, ...: each look is a chance to be wrong, so there are few. */
static bool is_look(size_t count) {
    while (count > 4 && count % 2 == 0)
        count /= 2;
    return count >= 2 && count <= 4;
}

bool side_ends_differ(const struct side_values *good, const struct side_values *bad) {
    size_t count = good->count < bad->count ? good->count : bad->count;
    while (count >= SIDE_ENDS_LEAST && !is_look(count))
        count--;
    if (count < SIDE_ENDS_LEAST) return false;
    const struct side_values old = newest(good), new = newest(bad);
    struct noise noise = noise_compare(old.values, old.count, new.values, new.count);
    return noise.old.mean != noise.new.mean &&noise.p <= ENDS_P;
}

bool side_is_exact(const struct side_values *good, const struct side_values *bad) {
    const struct side_values first = newest(good), last = newest(bad);
    if (first.count < SIDE_ENDS_LEAST || last.count < SIDE_ENDS_LEAST) return false;
    return !side_varies(&first) && !side_varies(&last);
}

bool side_varies(const struct side_values *values) {
    for (size_t i = 1; i < values->count; i++)
        if (values->values[i] != values->values[0]) return true;
    return false;
}

/* ---- a commit ---- */

static enum side nearer(const struct noise_side *good, const struct noise_side *bad, double mean) {
    return fabs(mean - good->mean) <= fabs(mean - bad->mean) ? SIDE_GOOD : SIDE_BAD;
}

static enum side exact_side(const struct noise_side *good, const struct noise_side *bad,
                            const struct noise_side *commit) {
    if (commit->n == 1 && commit->mean != good->mean && commit->mean != bad->mean) return SIDE_UNSURE;
    return nearer(good, bad, commit->mean);
}

/* The logarithm of the density of the commit's mean, if it is like the end, but for what both ends have in common. */
static double log_likelihood(const struct noise_side *end, const struct noise_side *commit, double sd, double df) {
    double scale = sd * sqrt(1 / (double)end->n + 1 / (double)commit->n);
    double t = (commit->mean - end->mean) / scale;
    return -log(scale) - (df + 1) / 2 * log1p(t * t / df);
}

enum side side_of(const struct side_values *all_good, const struct side_values *all_bad,
                  const struct side_values *values, double error) {
    if (values->count == 0) return SIDE_UNSURE;
    const struct side_values first = newest(all_good), last = newest(all_bad);
    struct noise ends = noise_compare(first.values, first.count, last.values, last.count);
    struct noise_side good = ends.old, bad = ends.new;
    struct noise_side commit = noise_compare(values->values, values->count, values->values, values->count).old;
    double good_df = (double)good.n - 1, bad_df = (double)bad.n - 1, df = good_df + bad_df;
    double squares = (good_df > 0 ? good_df * good.sd * good.sd : 0) + (bad_df > 0 ? bad_df * bad.sd * bad.sd : 0);
    double sd = df > 0 ? sqrt(squares / df) : 0;
    if (commit.n > 1 && commit.sd > sd) {
        sd = commit.sd;
        df = (double)commit.n - 1;
    }
    if (sd == 0) return exact_side(&good, &bad, &commit);
    double more = log_likelihood(&bad, &commit, sd, df) - log_likelihood(&good, &commit, sd, df);
    if (fabs(more) < log(1 / error)) return SIDE_UNSURE;
    return more > 0 ? SIDE_BAD : SIDE_GOOD;
}

double side_error(size_t commits) {
    double steps = 1;
    for (; commits > 1; commits = (commits + 1) / 2)
        steps++;
    return SEARCH_ERROR / steps;
}

size_t side_next_known(const enum side *sides, size_t count) {
    size_t found = SIZE_MAX, distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t from_middle = 2 * i > count - 1 ? 2 * i - (count - 1) : count - 1 - 2 * i;
        if (sides[i] == SIDE_UNSURE || from_middle >= distance) continue;
        found = i;
        distance = from_middle;
    }
    return found;
}
