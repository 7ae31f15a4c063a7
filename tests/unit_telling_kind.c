/* telling_kind.c: figures of runs made by hand, on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/runs/telling_kind.h"

#define MS INT64_C(1000000)

static const char *kind(struct run_effort effort) {
    const char *found = telling_kind(&effort, NULL);
    return found ? found : "first";
}

static void test_busy(void **state) {
    (void)state;
    assert_string_equal(kind((struct run_effort){.duration_ns = 1000 * MS, .cpu_ns = 100 * MS}), "cpu");
    assert_string_equal(kind((struct run_effort){.duration_ns = 1000 * MS, .cpu_ns = 99 * MS}), "first");
    assert_string_equal(kind((struct run_effort){.duration_ns = 500 * MS, .cpu_ns = 99 * MS}),
                        "first"); /* too few samples */
    assert_string_equal(kind((struct run_effort){.duration_ns = 10000 * MS, .cpu_ns = 990 * MS}), "first");
    /* Workers that wait beside one that computes. */
    assert_string_equal(
        kind((struct run_effort){.duration_ns = 2244 * MS, .cpu_ns = 615 * MS, .wait_ns = 4838 * MS, .waits = 449}),
        "cpu");
    assert_string_equal(kind((struct run_effort){.cpu_ns = 900 * MS}), "first"); /* a file without its duration */
}

static void test_allocating(void **state) {
    (void)state;
    struct run_effort effort = {.duration_ns = 1000 * MS, .cpu_ns = 500 * MS, .alloc_count = 2000000};
    assert_string_equal(kind(effort), "first");
    effort.alloc_count = 1900000;
    assert_string_equal(kind(effort), "cpu");
}

static void test_waiting(void **state) {
    (void)state;
    struct run_effort locks = {
        .duration_ns = 1000 * MS, .cpu_ns = 24 * MS, .lock_wait_ns = 200 * MS, .lock_contended = 2};
    struct run_effort waits = {.duration_ns = 1000 * MS, .wait_ns = 200 * MS, .waits = 10}, both = locks;
    assert_string_equal(kind(locks), "lock");
    assert_string_equal(kind(waits), "wait");
    both.wait_ns = 201 * MS, both.waits = 10;
    assert_string_equal(kind(both), "wait");
    locks.lock_wait_ns = 199 * MS;
    assert_string_equal(kind(locks), "first");
    /* redis-server with nothing to do: three threads that wait to the end, and a few starts. */
    assert_string_equal(
        kind((struct run_effort){.duration_ns = 3900 * MS, .cpu_ns = 24 * MS, .wait_ns = 15500 * MS, .waits = 5}),
        "first");
    assert_string_equal(kind((struct run_effort){.duration_ns = 60 * MS, .wait_ns = 19 * MS, .waits = 50}), "first");
}

static void test_reason(void **state) {
    (void)state;
    struct buffer why = {0};
    telling_kind(&(struct run_effort){.duration_ns = 2000 * MS, .cpu_ns = 1500 * MS}, &why);
    assert_string_equal(buffer_text(&why), "it computed for 1.5 s, in a run of 2.0 s");
    buffer_free(&why);
}

static void test_heap_type(void **state) {
    (void)state;
    struct buffer why = {0};
    struct run_effort effort = {.alloc_bytes = 100 << 20, .live_bytes = 1 << 20};
    assert_null(telling_heap_type(&effort, &why));
    assert_null(telling_heap_type(&(struct run_effort){0}, &why)); /* a file, or a run without allocations */
    assert_string_equal(buffer_text(&why), "");
    effort.live_bytes--;
    assert_string_equal(telling_heap_type(&effort, &why), "alloc_space");
    assert_string_equal(buffer_text(&why), "1.0 MiB of 100.0 MiB are live at the end");
    buffer_free(&why);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_busy), cmocka_unit_test(test_allocating),
                                       cmocka_unit_test(test_waiting), cmocka_unit_test(test_reason),
                                       cmocka_unit_test(test_heap_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
