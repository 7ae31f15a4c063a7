/* figure_change.c and figure_text.c: what counts as a change between two sets of runs, and how figures are written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/history/figure_change.h"
#include "query/history/figure_text.h"

static const struct figure_limits limits = {.floor_percent = 1, .false_percent = 0.2};

/* How one figure is judged, next to `others` figures that are noise. */
static const char *judged(const double *old, size_t old_count, const double *new, size_t new_count, size_t others) {
    static const double here[] = {100, 101, 99, 102}, there[] = {101, 100, 99.5, 101};
    struct figure_change changes[64] = {{.noise = noise_compare(old, old_count, new, new_count)}};
    for (size_t i = 1; i <= others; i++)
        changes[i].noise = noise_compare(here, 4, there, 4);
    figure_changes_judge(changes, others + 1, &limits);
    for (size_t i = 1; i <= others; i++)
        assert_int_equal(changes[i].verdict, FIGURE_NOISE);
    return figure_verdict_word(changes[0].verdict);
}

static void exact_figures(void **state) {
    static const double many[] = {1000, 1000, 1000}, more[] = {1001, 1001}, fewer[] = {999};
    (void)state;
    assert_string_equal(judged(many, 3, more, 2, 0), "up"); /* 0.1 %: no floor where nothing varies */
    assert_string_equal(judged(more, 2, many, 3, 0), "down");
    assert_string_equal(judged(many, 3, fewer, 1, 5), "down");
    assert_string_equal(judged(many, 3, many, 2, 0), "same");
    assert_string_equal(judged(many, 1, fewer, 1, 0), "unknown");
    assert_string_equal(judged(many, 1, many, 1, 0), "same");
}

/* 10.0 +- 0.1 against 10.2 +- 0.1 with six runs each: t = 0.2 / sqrt(0.01 / 6 * 2) = 3.46, p = 0.006. Alone above the limit of 0.002; 10.4
 * gives t = 6.9, p = 0.00004, which is below it among 20 figures too (0.002 / 21), and 10.05 +- 0.01 is 0.5 %, below the floor. */
static void varying_figures(void **state) {
    static const double low[] = {9.9, 10, 10.1, 9.9, 10, 10.1}, near[] = {10.1, 10.2, 10.3, 10.1, 10.2, 10.3};
    static const double far[] = {10.3, 10.4, 10.5, 10.3, 10.4, 10.5}, tight[] = {10, 10.001, 9.999, 10, 10.001, 9.999};
    static const double slight[] = {10.05, 10.051, 10.049, 10.05, 10.051, 10.049};
    (void)state;
    assert_string_equal(judged(low, 6, near, 6, 0), "noise");
    assert_string_equal(judged(low, 6, far, 6, 0), "up");
    assert_string_equal(judged(far, 6, low, 6, 20), "down");
    assert_string_equal(judged(tight, 6, slight, 6, 0), "noise");
    assert_string_equal(judged(far, 1, low, 6, 0), "noise"); /* one run: t = 4.5 with 5 degrees of freedom, p = 0.006 */
}

static void texts(void **state) {
    (void)state;
    assert_string_equal(figure_text("alloc_count", 1234).text, "1,234");
    assert_string_equal(figure_text("alloc_count", 2.5).text, "2.5");
    assert_string_equal(figure_text("alloc_count", 1234.5678).text, "1,235");
    assert_string_equal(figure_text("peak_bytes", 2048).text, "2.0 KiB");
    assert_string_equal(figure_text("duration_ns", 3.4e6).text, "3.4 ms");
    assert_string_equal(figure_text("wait_ns", 87).text, "87 ns");
    assert_string_equal(figure_change_text(100, 103).text, "+3.0 %");
    assert_string_equal(figure_change_text(100, 55).text, "-45 %");
    assert_string_equal(figure_change_text(100000, 100001).text, "+0.001 %");
    assert_string_equal(figure_change_text(10, 320).text, "x 32");
    assert_string_equal(figure_change_text(0, 5).text, "new");
    assert_string_equal(figure_change_text(5, 0).text, "-100 %");
    assert_string_equal(figure_change_text(5, 5).text, "0 %");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_figures), cmocka_unit_test(varying_figures),
                                       cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
