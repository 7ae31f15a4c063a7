/* unit_sampling_error: how far sampled figures may be off, by rows made by hand. Expected figures are of the formulas in
 * query/runs/sampling_error.h, worked out apart from the code.
 * build: plain
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "query/runs/sampling_error.h"
#include "tests/unit_warehouse.h"

static void near(double got, double expected) {
    if (got < expected * 0.9999 || got > expected * 1.0001) fail_msg("%.6g, expected %.6g", got, expected);
}

static void put_run(bool is_recorded) {
    ran("INSERT INTO runs(id, uuid, started_ns, source) VALUES (1, '1', 1, 'file'); INSERT INTO traces(id, hash, "
        "signature, stack) VALUES (1, 1, 1, '[]')");
    if (is_recorded) ran("UPDATE runs SET source = 'profile'");
}

static void put_counter(const char *name, const char *value) {
    char sql[256];
    snprintf(sql, sizeof sql, "INSERT INTO counters(profile_id, name, value) VALUES (1, '%s', %s)", name, value);
    ran(sql);
}

/* 400 samples of 10 ms. */
static void put_cpu(bool is_recorded) {
    put_run(is_recorded);
    ran("INSERT INTO profiles(id, run_id, kind) VALUES (1, 1, 'cpu'); "
        "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (1, 1, 400, 4000000000)");
}

static struct sampling_scale scale_of(const char *kind, const char *type) {
    struct sampling_scale scale;
    struct error err = {0};
    assert_int_equal(sampling_scale_of(&db, 1, kind, type, &scale, &err), 0);
    return scale;
}

static void expect_cpu_text(const char *expected) {
    struct buffer text = {0};
    struct error err = {0};
    assert_int_equal(sampling_error_add_cpu(&db, 1, &text, &err), 0);
    assert_string_equal(buffer_text(&text), expected);
    buffer_free(&text);
}

static void foreign_samples_are_independent(void **state) {
    (void)state;
    put_cpu(false);
    struct sampling_scale scale = scale_of("cpu", "cpu");
    near(sampling_scale_error(&scale, 1e9), 1.694609e8);
    expect_cpu_text(
        "400 CPU samples; in 95 of 100 runs the error is at most 30 % for a function with 10 % of the time");
}

/* A timer that expires at every fourth of its periods. */
static void expiries_count(void **state) {
    (void)state;
    put_cpu(true);
    put_counter("recorder.cpu_effective_samples", "100");
    struct sampling_scale scale = scale_of("cpu", "cpu");
    near(sampling_scale_error(&scale, 1e9), 3.371452e8);
    near(sampling_scale_error(&scale, 0), 1.036612e8);
    assert_true(sampling_scale_error(&scale, 4e9) == 0);
    scale = scale_of("cpu", "samples");
    near(sampling_scale_error(&scale, 100), 33.71452);
    assert_string_equal(sampling_scale_margin(&scale, 100, 400).text, "±8.4%");
    assert_string_equal(sampling_scale_margin(&scale, 0, 400).text, "");
    expect_cpu_text("400 CPU samples, as exact as 100; in 95 of 100 runs the error is at most 61 % for a function with "
                    "10 % of the time");
}

static void unknown_exactness_is_not_told(void **state) {
    (void)state;
    put_cpu(true);
    assert_true(scale_of("cpu", "cpu").variance == 0);
    expect_cpu_text("400 CPU samples");
    /* 0: the recorder took none itself, so they are of another tool. */
    put_counter("recorder.cpu_effective_samples", "0");
    assert_true(scale_of("cpu", "cpu").variance == 1e7);
}

static struct sampling_error error_of(void) {
    struct sampling_error error;
    struct error err = {0};
    assert_int_equal(sampling_error_of(&db, 1, &error, &err), 1);
    return error;
}

static void every_nth_tells_numbers_alone(void **state) {
    (void)state;
    put_run(true);
    ran("INSERT INTO profiles(id, run_id, kind, sample_n) VALUES (1, 1, 'heap', 10); "
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (1, 1, 1000, "
        "64000, 600, 38400)");
    struct sampling_error error = error_of();
    near(error.allocs, 18.753874);
    near(error.live, 30.02801);
    assert_true(error.alloc_bytes == 0 && error.live_bytes == 0);
    struct sampling_scale scale = scale_of("heap", "inuse_objects");
    near(sampling_scale_error(&scale, 90), 60.903467);
    assert_true(scale_of("heap", "inuse_space").variance == 0);
}

/* Every 1,600 bytes, blocks of 160. */
static void put_by_size(void) {
    put_run(false);
    ran("INSERT INTO profiles(id, run_id, kind, period_type, period) VALUES (1, 1, 'heap', 'space', 1600); "
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) "
        "VALUES (1, 1, 10000, 1600000, 5000, 800000)");
}

static void sizes_of_a_foreign_stack_are_one(void **state) {
    (void)state;
    put_by_size();
    struct sampling_error error = error_of();
    near(error.allocs, 6.62603);
    near(error.alloc_bytes, 6.049764);
    near(error.live, 10.127455);
    near(error.live_bytes, 8.564279);
    struct sampling_scale scale = scale_of("heap", "alloc_space");
    near(sampling_scale_error(&scale, 16000), 10827.283);
    assert_true(scale_of("heap", "alloc_objects").variance == 0);
}

static void the_recorder_knows_how_sizes_differ(void **state) {
    (void)state;
    put_by_size();
    double bytes = error_of().alloc_bytes;
    ran("UPDATE runs SET source = 'profile'");
    struct sampling_error error = error_of();
    assert_true(error.allocs == 0 && error.live == 0);
    near(error.alloc_bytes, bytes);
    put_counter("recorder.alloc_count_variance", "250000");
    put_counter("recorder.live_count_variance", "90000");
    error = error_of();
    near(error.allocs, 10.169310);
    near(error.live, 12.954);
    near(error.alloc_bytes, bytes);
    /* As wide as the figure. */
    ran("UPDATE counters SET value = 1e9 WHERE name = 'recorder.live_count_variance'");
    assert_true(error_of().live == 0);
}

/* ---- one finding ----------------------------------------------------------------------------------------------------- */

static void expect_finding(const char *expected) {
    char *got = rows_with("SELECT coalesce(error_percent, 'none'), coalesce(bytes_error_percent, 'none'), "
                          "coalesce(evidence ->> 'bytes_error_percent', 'none') FROM doctor_heap WHERE run_id = 1",
                          ' ', ';');
    assert_string_equal(got, expected);
    free(got);
}

/* 40 blocks of 16 KiB are live: ten periods of 64 KiB, and 196 % * sqrt(10 + 1.92) / 10 is 68 %. */
static void live_bytes_of_a_finding(void **state) {
    (void)state;
    put_run(true);
    ran("INSERT INTO profiles(id, run_id, kind, period_type, period) VALUES (1, 1, 'heap', 'space', 65536); "
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) "
        "VALUES (1, 1, 100, 1638400, 60, 983040)");
    expect_finding("68 68 68;");
    /* Larger than the period: each is seen, but how much a block differs from the mean is not known. */
    ran("UPDATE profiles SET period = 8192");
    expect_finding("32 22 22;");
    /* With two rates, as of a budget, by the longer: too wide rather than too narrow. */
    ran("INSERT INTO profiles(id, run_id, kind, period_type, period) VALUES (2, 1, 'heap', 'space', 65536)");
    expect_finding("32 68 68;");
    ran("DELETE FROM profiles WHERE id = 2; UPDATE profiles SET period = 1"); /* all were recorded */
    expect_finding("none none none;");
    ran("UPDATE profiles SET period_type = '', period = 0, sample_n = 10"); /* a few large blocks may not have been seen */
    expect_finding("119 none none;");
}

enum { DRAWS = 200, PERIOD = 32768 };

/* Live blocks of 16 bytes to 8 KiB, each seen as `--sample=32KiB` would, in run 1 + draw. */
static int64_t draw_live_blocks(int draw, int blocks) {
    double count = 0, bytes = 0;
    int64_t truth = 0;
    char sql[400];
    for (int i = 0; i < blocks; i++) {
        int64_t size = (int64_t)(16 * pow(2, 9 * drand48()));
        double chance = -expm1(-(double)size / PERIOD);
        truth += size;
        if (drand48() >= chance) continue;
        count += 1 / chance;
        bytes += (double)size / chance;
    }
    int64_t seen = llround(count), seen_bytes = llround(bytes);
    snprintf(sql, sizeof sql,
             "INSERT INTO runs(id, uuid, started_ns, source) VALUES (%d, '%d', 1, 'profile'); INSERT INTO profiles(id, "
             "run_id, kind, period_type, period) VALUES (%d, %d, 'heap', 'space', %d); INSERT INTO sites(profile_id, "
             "trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (%d, 1, %lld, %lld, 0, 0)",
             draw + 1, draw, draw + 1, draw + 1, PERIOD, draw + 1, (long long)seen, (long long)seen_bytes);
    ran(sql);
    return truth;
}

/* Of 200 seeded runs, 93 of 100 intervals and more have the truth in them; `told`: in so many something was seen. */
static void intervals_of_live_bytes_hold(int blocks, int told) {
    int got = 0, count = 0;
    char sql[200];
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    srand48(28);
    int64_t truths[DRAWS];
    for (int i = 0; i < DRAWS; i++)
        truths[i] = draw_live_blocks(i, blocks);
    seal_all();
    for (int i = 0; i < DRAWS; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT abs(inuse_bytes - %lld) * 100.0 <= bytes_error_percent * inuse_bytes FROM doctor_heap "
                 "WHERE run_id = %d",
                 (long long)truths[i], i + 1);
        int64_t is_right = number(sql);
        count += is_right >= 0;
        got += is_right == 1;
    }
    if (count < told || got * 100 < count * 93) fail_msg("%d of %d intervals hold, of %d runs", got, count, DRAWS);
}

static void intervals_of_many_samples(void **state) {
    (void)state;
    intervals_of_live_bytes_hold(2000, 200); /* 193 */
}

static void intervals_of_few_samples(void **state) {
    (void)state;
    intervals_of_live_bytes_hold(100, 180); /* 190 of 191 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(foreign_samples_are_independent, open_new, remove_it),
        cmocka_unit_test_setup_teardown(expiries_count, open_new, remove_it),
        cmocka_unit_test_setup_teardown(unknown_exactness_is_not_told, open_new, remove_it),
        cmocka_unit_test_setup_teardown(every_nth_tells_numbers_alone, open_new, remove_it),
        cmocka_unit_test_setup_teardown(sizes_of_a_foreign_stack_are_one, open_new, remove_it),
        cmocka_unit_test_setup_teardown(the_recorder_knows_how_sizes_differ, open_new, remove_it),
        cmocka_unit_test_setup_teardown(live_bytes_of_a_finding, open_new, remove_it),
        cmocka_unit_test_setup_teardown(intervals_of_many_samples, open_new, remove_it),
        cmocka_unit_test_setup_teardown(intervals_of_few_samples, open_new, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
