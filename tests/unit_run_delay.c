/* run_delay.c: how long a thread had no processor, by looks from outside, one of which may come while it waits for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/record/kernel/run_delay.h"

enum { MS = 1000000, APART = 20 * MS };

static uint64_t look(struct thread_delay *thread, uint64_t ran, uint64_t delay, uint64_t turns, bool is_ready) {
    return thread_delay_add(thread, &(struct thread_look){ran, delay, turns, APART, is_ready});
}

static void stays_that_are_over_are_counted_once(void **state) {
    (void)state;
    struct thread_delay thread = {0};
    assert_int_equal(look(&thread, 5, 3 * MS, 2, false), 3 * MS);
    assert_int_equal(look(&thread, 9, 10 * MS, 3, false), 7 * MS);
    assert_int_equal(look(&thread, 9, 10 * MS, 3, false), 0); /* it sleeps */
    assert_int_equal(thread.ns, 10 * MS);
    assert_int_equal(look(&thread, 1, 4 * MS, 1, false), 4 * MS); /* another thread with its number */
}

/* It may have slept until just before the look that finds it ready first. */
static void a_stay_that_goes_on_counts_from_the_first_look_that_finds_it(void **state) {
    (void)state;
    struct thread_delay thread = {0};
    look(&thread, 5, 0, 1, false);
    assert_int_equal(look(&thread, 5, 0, 1, true), 0);
    assert_int_equal(look(&thread, 5, 0, 1, true), APART);
    assert_int_equal(look(&thread, 5, 0, 1, true), APART);
    /* The kernel counts all of it when it is over: 58 ms, of which 40 are counted. */
    assert_int_equal(look(&thread, 6, 58 * MS, 2, false), 18 * MS);
    assert_int_equal(thread.ns, 58 * MS);
    /* One that ends without another look has what was counted. */
    look(&thread, 6, 58 * MS, 2, true);
    assert_int_equal(look(&thread, 6, 58 * MS, 2, true), APART);
}

static void a_thread_that_sleeps_or_runs_between_has_not_waited_all_the_time(void **state) {
    (void)state;
    struct thread_delay thread = {0};
    look(&thread, 5, 0, 1, false);
    look(&thread, 5, 0, 1, true);
    assert_int_equal(look(&thread, 5, 0, 1, false), 0); /* not asked, or asleep */
    assert_int_equal(look(&thread, 5, 0, 1, true), 0);
    assert_int_equal(look(&thread, 7, 1 * MS, 2, false), 1 * MS);
    assert_int_equal(look(&thread, 7, 1 * MS, 2, true), 0);
    assert_int_equal(thread.ns, 1 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_that_are_over_are_counted_once),
        cmocka_unit_test(a_stay_that_goes_on_counts_from_the_first_look_that_finds_it),
        cmocka_unit_test(a_thread_that_sleeps_or_runs_between_has_not_waited_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
