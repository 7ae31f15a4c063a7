/* side_test.c: whole searches over made-up histories, whose noise, step and first bad commit are known. Random numbers are this file's own
 * and seeded, so a result is the same on every machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/history/side_test.h"

enum { COMMITS = 64, RUNS_MAX = 40, TRIALS = 1000 };

/* ---- random numbers ---- */

static uint64_t random_state;

/* xorshift64*, and from it a normal deviate (Box and Muller). */
static double uniform(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return ((double)(random_state * 0x2545f4914f6cdd1dULL >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- a history ---- */

struct history {
    int first_bad;      /* of the commits 1 to COMMITS; 0 is the good end, COMMITS the bad one */
    double step, noise; /* of the mean 1000: 0.1 is 10 % */
    double heavy;       /* the share of runs that are five deviations too high */
    double drift;       /* what a run is slower than the one before, as a share */
    int runs;           /* taken so far */
};

static double run_of(struct history *history, int commit) {
    double mean = 1000 * (commit >= history->first_bad ? 1 + history->step : 1);
    double deviation = history->noise * 1000;
    double value = mean + deviation * normal() + (history->heavy > uniform() ? 5 * deviation : 0);
    return value * (1 + history->drift * history->runs++);
}

/* As clear bisect does it: the ends by turns until they differ; then each commit, with an end after each of its runs. -1: the ends do
 * not differ, -2: a commit stayed unsure. */
static int search(struct history *history) {
    struct side_values ends[2] = {{0}};
    int low = 0, high = COMMITS, found = -1;
    while (ends[1].count < RUNS_MAX && !side_ends_differ(&ends[0], &ends[1])) {
        side_values_add(&ends[0], run_of(history, low));
        side_values_add(&ends[1], run_of(history, high));
    }
    bool differ = side_ends_differ(&ends[0], &ends[1]);
    while (differ && high - low > 1) {
        int middle = (low + high) / 2;
        struct side_values commit = {0};
        enum side side = SIDE_UNSURE;
        for (int i = 0; i < RUNS_MAX && side == SIDE_UNSURE; i++) {
            side_values_add(&commit, run_of(history, middle));
            side = side_of(&ends[0], &ends[1], &commit, side_error(COMMITS));
            if (side == SIDE_UNSURE && !side_is_exact(&ends[0], &ends[1]))
                side_values_add(&ends[i % 2], run_of(history, i % 2 ? COMMITS : 0));
        }
        side_values_free(&commit);
        if (side == SIDE_UNSURE) break;
        *(side == SIDE_GOOD ? &low : &high) = middle;
    }
    if (differ) found = high - low > 1 ? -2 : high;
    side_values_free(&ends[0]);
    side_values_free(&ends[1]);
    return found;
}

struct score {
    int right, wrong, no_ends, unsure;
    double runs;
};

static struct score searches(struct history model) {
    struct score score = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        struct history history = model;
        random_state = 0x9e3779b97f4a7c15ULL * (uint64_t)(trial + 1);
        history.first_bad = 1 + trial % COMMITS;
        int found = search(&history);
        score.right += found == history.first_bad;
        score.no_ends += found == -1;
        score.unsure += found == -2;
        score.runs += (double)history.runs / TRIALS;
    }
    score.wrong = TRIALS - score.right - score.no_ends - score.unsure;
    print_message("step %g %%, noise %g %%: %d of %d right, %d wrong, %d unsure, %d without ends; %.0f runs\n",
                  100 * model.step, 100 * model.noise, score.right, TRIALS, score.wrong, score.unsure, score.no_ends,
                  score.runs);
    return score;
}

/* ---- tests ---- */

static void exact(void **state) {
    (void)state;
    struct score score = searches((struct history){.step = 0.001});
    assert_int_equal(score.right, TRIALS);
    assert_true(score.runs < 4 + 6 + 0.5); /* two of each end, and one a step */
}

static void noisy(void **state) {
    (void)state;
    assert_true(searches((struct history){.step = 0.1, .noise = 0.05}).right >= 970);
    assert_true(searches((struct history){.step = -0.1, .noise = 0.05}).right >= 970);
    struct score clear = searches((struct history){.step = 0.5, .noise = 0.02});
    assert_true(clear.right >= 980 && clear.runs < 40);
}

/* What machines do: a run now and then that is far too long, and one that gets slower by a step within five hundred runs. */
static void unruly(void **state) {
    (void)state;
    assert_true(searches((struct history){.step = 0.1, .noise = 0.03, .heavy = 0.02}).right >= 950);
    assert_true(searches((struct history){.step = 0.1, .noise = 0.03, .drift = 0.0002}).right >= 950);
}

static void nothing(void **state) {
    (void)state;
    struct score score = searches((struct history){.step = 0, .noise = 0.05});
    assert_true(score.no_ends >= 980); /* nine looks of 0.001 each */
    assert_int_equal(searches((struct history){.step = 0}).no_ends, TRIALS);
}

static struct side_values of(double *values, size_t count) {
    return (struct side_values){values, count};
}

static void single_answers(void **state) {
    double good[] = {10, 10}, bad[] = {20, 20}, varied[] = {19, 21}, other[] = {11, 11};
    struct side_values low = of(good, 2), high = of(bad, 2), spread = of(varied, 2);
    (void)state;
    assert_true(side_ends_differ(&low, &high) && side_is_exact(&low, &high));
    struct side_values one = of(good, 1);
    assert_false(side_ends_differ(&one, &high));
    assert_false(side_ends_differ(&low, &low));
    assert_false(side_is_exact(&low, &spread));
    struct side_values none = of(NULL, 0), like_bad = of(bad, 1), between = of(other, 1), twice = of(other, 2);
    assert_int_equal(side_of(&low, &high, &none, 0.01), SIDE_UNSURE);
    assert_int_equal(side_of(&low, &high, &like_bad, 0.01), SIDE_BAD);
    assert_int_equal(side_of(&low, &high, &one, 0.01), SIDE_GOOD);
    assert_int_equal(side_of(&low, &high, &between, 0.01), SIDE_UNSURE);
    assert_int_equal(side_of(&low, &high, &twice, 0.01), SIDE_GOOD);
    assert_true(side_error(64) < 0.02 / 6 && side_error(64) > 0.02 / 8);
}

static void known(void **state) {
    enum side sides[7] = {0};
    (void)state;
    assert_true(side_next_known(sides, 7) == SIZE_MAX && side_next_known(sides, 0) == SIZE_MAX);
    sides[0] = SIDE_GOOD;
    assert_int_equal(side_next_known(sides, 7), 0);
    sides[5] = SIDE_BAD;
    assert_int_equal(side_next_known(sides, 7), 5);
    sides[3] = SIDE_GOOD;
    assert_int_equal(side_next_known(sides, 7), 3);
    assert_int_equal(side_next_known(sides, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact),          cmocka_unit_test(noisy),
                                       cmocka_unit_test(unruly),         cmocka_unit_test(nothing),
                                       cmocka_unit_test(single_answers), cmocka_unit_test(known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
