#include "query/history/change_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/diff/noise.h"

enum {
    PRIOR = 16, /* values that the variance of both sides counts for in that of one */
    WINDOW_LEAST = 16,
    WINDOW_SHARE = 10,
    WINDOW = 5,      /* of values in which an outlier is looked for */
    OUTLYING = 5,    /* deviations from it that make an outlier */
    ROUNDS_MAX = 20, /* of merging */
};

struct levels {
    const struct change_search *search;
    const double *raw;     /* as they were given */
    double *tamed;         /* without outliers */
    double *sum, *squares; /* of the first i values, as differences from `centre`, which keeps digits */
    double centre;
    size_t count;
    size_t *cuts; /* first values of new levels, rising */
    bool *is_exact;
    size_t cut_count;
};

/* ---- outliers ---- */

static int rising(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts `values`. */
static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, rising);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The median nearest to a value of all windows of five that it is in: of five, three that are alike are a level, two are not. */
static double nearest_level(const struct levels *levels, size_t at) {
    double nearest = NAN, value = levels->raw[at];
    for (size_t start = at < WINDOW - 1 ? 0 : at - (WINDOW - 1); start <= at && start + WINDOW <= levels->count;
         start++) {
        double near[WINDOW];
        memcpy(near, levels->raw + start, sizeof near);
        double level = median(near, WINDOW);
        if (isnan(nearest) || fabs(level - value) < fabs(nearest - value)) nearest = level;
    }
    return nearest;
}

/* The standard deviation, from the differences of neighbours, which steps do not change. 1.4826 times the median of absolute values is
 * the deviation of normal ones, and that of a difference is larger by the square root of 2. */
static double deviation_of(const struct levels *levels) {
    double *steps = xcalloc(levels->count, sizeof *steps);
    for (size_t i = 1; i < levels->count; i++)
        steps[i - 1] = fabs(levels->raw[i] - levels->raw[i - 1]);
    double deviation = 1.4826 / sqrt(2) * median(steps, levels->count - 1);
    free(steps);
    return deviation;
}

static void tame(struct levels *levels) {
    if (levels->count) memcpy(levels->tamed, levels->raw, levels->count * sizeof *levels->tamed);
    if (levels->count < WINDOW) return;
    double deviation = deviation_of(levels);
    for (size_t i = 0; deviation > 0 && i < levels->count; i++) {
        double level = nearest_level(levels, i);
        if (fabs(levels->raw[i] - level) > OUTLYING * deviation) levels->tamed[i] = level;
    }
}

/* ---- levels ---- */

static void add_up(struct levels *levels) {
    levels->centre = levels->count ? levels->tamed[levels->count / 2] : 0;
    for (size_t i = 0; i < levels->count; i++) {
        double x = levels->tamed[i] - levels->centre;
        levels->sum[i + 1] = levels->sum[i] + x;
        levels->squares[i + 1] = levels->squares[i] + x * x;
    }
}

static double mean_of(const struct levels *levels, size_t from, size_t to) {
    return levels->centre + (levels->sum[to] - levels->sum[from]) / (double)(to - from);
}

/* The sum of the squares of the differences from the mean. What is nothing but rounding is 0. */
static double spread_of(const struct levels *levels, size_t from, size_t to) {
    double sum = levels->sum[to] - levels->sum[from], squares = levels->squares[to] - levels->squares[from];
    double spread = squares - sum * sum / (double)(to - from);
    return spread > 1e-12 * levels->squares[levels->count] ? spread : 0;
}

/* ---- tests ---- */

/* The smallest p of any test that knows the order of the values alone: of all ways to choose the n1, two are as clear. */
static double least_p(double n1, double n2) {
    return fmin(1, 2 * exp(lgamma(n1 + 1) + lgamma(n2 + 1) - lgamma(n1 + n2 + 1)));
}

struct split {
    size_t at; /* 0: none */
    double t, p;
};

static struct split test(const struct levels *levels, size_t from, size_t at, size_t to) {
    double n1 = (double)(at - from), n2 = (double)(to - at);
    double s1 = spread_of(levels, from, at), s2 = spread_of(levels, at, to);
    double difference = mean_of(levels, at, to) - mean_of(levels, from, at), both = (s1 + s2) / (n1 + n2 - 2);
    struct split split = {.at = at, .p = 1};
    if (both == 0) {
        split.t = INFINITY;
        split.p = difference == 0 ? 1 : least_p(n1, n2);
        return split;
    }
    double e1 = (PRIOR * both + s1) / (PRIOR + n1 - 1) / n1, e2 = (PRIOR * both + s2) / (PRIOR + n2 - 1) / n2;
    double df = (e1 + e2) * (e1 + e2) / (e1 * e1 / (n1 - 1 + PRIOR) + e2 * e2 / (n2 - 1 + PRIOR));
    split.t = fabs(difference) / sqrt(e1 + e2);
    /* With any degrees of freedom p is above the limit where t is below 3.8. */
    if (split.t > 3.8) split.p = noise_p(split.t, fmin(df, n1 + n2 - 2));
    return split;
}

static double percent_of(double before, double after) {
    return before == 0 ? copysign(INFINITY, after - before) : 100 * (after - before) / fabs(before);
}

static bool is_above_floor(const struct change_search *search, double before, double after) {
    return after != before && fabs(after - before) >= search->floor &&
           round(fabs(percent_of(before, after))) >= search->floor_percent;
}

static double correction(const struct levels *levels) {
    double splits = levels->count > 2 * CHANGE_LEAST ? (double)(levels->count - 2 * CHANGE_LEAST + 1) : 1;
    return fmax(1, splits * (double)levels->search->series_count / CHANGE_TESTS);
}

/* The clearest split of a part: p times `factor` is within the limit, and the difference above the floor. */
static struct split clearest(const struct levels *levels, size_t from, size_t to, double factor) {
    struct split best = {0};
    for (size_t at = from + CHANGE_LEAST; at + CHANGE_LEAST <= to; at++) {
        struct split split = test(levels, from, at, to);
        if (split.t > best.t && split.p * factor <= CHANGE_P_LIMIT &&
            is_above_floor(levels->search, mean_of(levels, from, at), mean_of(levels, at, to)))
            best = split;
    }
    return best;
}

static struct split clearest_in_windows(const struct levels *levels, size_t from, size_t to, double factor) {
    struct split best = {0};
    for (size_t size = (to - from) / 2; size >= WINDOW_LEAST; size /= 2)
        for (size_t start = from; start + size <= to; start += size / 2) {
            struct split split = clearest(levels, start, start + size, factor * WINDOW_SHARE);
            if (split.t > best.t) best = split;
        }
    return best;
}

/* ---- splitting and merging ---- */

static void add_cut(struct levels *levels, size_t at, bool is_exact) {
    size_t i = levels->cut_count++;
    for (; i > 0 && levels->cuts[i - 1] > at; i--) {
        levels->cuts[i] = levels->cuts[i - 1];
        levels->is_exact[i] = levels->is_exact[i - 1];
    }
    levels->cuts[i] = at;
    levels->is_exact[i] = is_exact;
}

static void split_part(struct levels *levels, size_t from, size_t to) {
    double factor = correction(levels);
    struct split best = clearest(levels, from, to, factor);
    if (!best.at) best = clearest_in_windows(levels, from, to, factor);
    if (!best.at) return;
    add_cut(levels, best.at, false);
    split_part(levels, from, best.at);
    split_part(levels, best.at, to);
}

static size_t start_of(const struct levels *levels, size_t cut) {
    return cut ? levels->cuts[cut - 1] : 0;
}

static size_t end_of(const struct levels *levels, size_t cut) {
    return cut + 1 < levels->cut_count ? levels->cuts[cut + 1] : levels->count;
}

static void drop_cut(struct levels *levels, size_t cut) {
    levels->cut_count--;
    memmove(levels->cuts + cut, levels->cuts + cut + 1, (levels->cut_count - cut) * sizeof *levels->cuts);
    memmove(levels->is_exact + cut, levels->is_exact + cut + 1, (levels->cut_count - cut) * sizeof *levels->is_exact);
}

/* One round: true if something changed. */
static bool merge_once(struct levels *levels) {
    double factor = correction(levels);
    for (size_t cut = 0; cut < levels->cut_count; cut++) {
        if (levels->is_exact[cut]) continue;
        struct split best = clearest(levels, start_of(levels, cut), end_of(levels, cut), factor);
        if (best.at == levels->cuts[cut]) continue;
        if (best.at)
            levels->cuts[cut] = best.at;
        else
            drop_cut(levels, cut);
        return true;
    }
    return false;
}

/* ---- exact figures ---- */

static bool was_steady(const double *values, size_t at) {
    for (size_t i = 1; i < CHANGE_LEAST && i < at; i++)
        if (values[at - 1 - i] != values[at - 1]) return false;
    return true;
}

/* A value that comes back at once was an outlier. With less than three values before it, one that comes back later, or values that go on
 * changing, say that the figure varies. */
static bool is_passing(const double *values, size_t count, size_t at) {
    bool is_early = at < CHANGE_LEAST;
    for (size_t i = at + 1; i < count && (is_early || i <= at + CHANGE_LEAST); i++) {
        if (values[i] == values[at - 1]) return true;
        if (is_early && i <= at + CHANGE_LEAST && values[i] != values[at]) return true;
    }
    return false;
}

static void split_exact(struct levels *levels) {
    const double *values = levels->raw;
    for (size_t at = 1; at < levels->count; at++)
        if (values[at] != values[at - 1] && was_steady(values, at) && !is_passing(values, levels->count, at) &&
            is_above_floor(levels->search, values[at - 1], values[at]))
            add_cut(levels, at, true);
}

/* ---- the result ---- */

/* Where else the split may be: n log(RSS / least RSS) <= 6 had the true place in 95 of 100 simulated series (3.84, the quantile for a
 * parameter that is no place, in 92). */
static void find_range(const struct levels *levels, size_t from, size_t to, struct change_point *point) {
    double least = spread_of(levels, from, point->at) + spread_of(levels, point->at, to);
    point->first = point->last = point->at;
    if (point->is_exact || least == 0) return;
    for (size_t at = from + CHANGE_LEAST; at + CHANGE_LEAST <= to; at++) {
        double spread = spread_of(levels, from, at) + spread_of(levels, at, to);
        if ((double)(to - from) * log(spread / least) > 6) continue;
        if (at < point->first) point->first = at;
        if (at > point->last) point->last = at;
    }
}

static double raw_mean(const struct levels *levels, size_t from, size_t to) {
    double mean = levels->raw[from];
    for (size_t i = from; i < to; i++)
        mean += (levels->raw[i] - levels->raw[from]) / (double)(to - from);
    return mean;
}

static struct change_point describe(const struct levels *levels, size_t cut) {
    size_t from = start_of(levels, cut), at = levels->cuts[cut], to = end_of(levels, cut);
    struct change_point point = {.at = at, .is_exact = levels->is_exact[cut]};
    point.before = raw_mean(levels, from, at);
    point.after = raw_mean(levels, at, to);
    point.percent = percent_of(point.before, point.after);
    if (!point.is_exact) point.p = fmin(1, test(levels, from, at, to).p * correction(levels));
    find_range(levels, from, to, &point);
    return point;
}

size_t change_points_find(const double *values, size_t count, const struct change_search *search,
                          struct change_point **found) {
    struct levels levels = {.search = search, .raw = values, .count = count};
    levels.tamed = xcalloc(count + 1, sizeof *levels.tamed);
    levels.sum = xcalloc(count + 1, sizeof *levels.sum);
    levels.squares = xcalloc(count + 1, sizeof *levels.squares);
    levels.cuts = xcalloc(count + 1, sizeof *levels.cuts);
    levels.is_exact = xcalloc(count + 1, sizeof *levels.is_exact);
    tame(&levels);
    add_up(&levels);
    if (search->is_exact) split_exact(&levels);
    size_t exact_count = levels.cut_count, from = 0;
    size_t *exact = xcalloc(exact_count + 1, sizeof *exact);
    memcpy(exact, levels.cuts, exact_count * sizeof *exact);
    for (size_t i = 0; i <= exact_count; i++) {
        size_t to = i < exact_count ? exact[i] : count;
        split_part(&levels, from, to);
        from = to;
    }
    for (int round = 0; round < ROUNDS_MAX && merge_once(&levels);)
        round++;
    *found = levels.cut_count ? xcalloc(levels.cut_count, sizeof **found) : NULL;
    for (size_t i = 0; i < levels.cut_count; i++)
        (*found)[i] = describe(&levels, i);
    free(exact);
    free(levels.tamed);
    free(levels.sum);
    free(levels.squares);
    free(levels.cuts);
    free(levels.is_exact);
    return levels.cut_count;
}
