/* schema/window_sums.c: what it sums is what GROUP BY sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "schema/window_sums.h"
#include "tests/unit_warehouse.h"

static const char summed[] = "\n-- Summed in memory\nINSERT INTO sums\nSELECT thing, kind, a AS sum, b AS max, b AS "
                             "sum FROM parts WHERE run = :run";

static void make_parts(void) {
    ran("CREATE TEMP TABLE sums(thing INTEGER, kind TEXT, a INTEGER, b INTEGER, c INTEGER);"
        "CREATE TABLE parts(run INTEGER, thing INTEGER, kind TEXT, a INTEGER, b INTEGER)");
}

static void sums_as_group_by_does(void **state) {
    (void)state;
    struct error err = {0};
    make_parts();
    ran("INSERT INTO parts WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "SELECT 1 + i % 2, i * 7919 % 101 - 50, iif(i % 3, 'mutex', ''), i, 1000 - i * 31 % 2003 FROM n");
    assert_true(window_sums_are_meant(summed));
    assert_int_equal(window_sums_fill(&db, summed, 1, &err), 0);
    ran("CREATE TABLE expected AS SELECT thing, kind, sum(a) AS a, max(b) AS b, sum(b) AS c FROM parts WHERE run = 1 "
        "GROUP BY thing, kind");
    assert_true(number("SELECT count(*) FROM expected") > 200);
    assert_int_equal(number("SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM sums)"), 0);
    assert_int_equal(number("SELECT count(*) FROM sums"), number("SELECT count(*) FROM expected"));
    assert_int_equal(window_sums_fill(&db, summed, 3, &err), 0); /* no row of that run */
    assert_int_equal(number("SELECT count(*) FROM sums"), number("SELECT count(*) FROM expected"));
}

static void keys_that_are_null(void **state) {
    (void)state;
    struct error err = {0};
    make_parts();
    ran("INSERT INTO parts VALUES (1, NULL, 'x', 1, -5), (1, NULL, 'x', 2, -7)");
    assert_int_equal(window_sums_fill(&db, summed, 1, &err), 0);
    assert_int_equal(
        number("SELECT count(*) FROM sums WHERE thing = 0 AND kind = 'x' AND a = 3 AND b = -5 AND c = -12"), 1);
}

static void sums_beyond_64_bits(void **state) {
    (void)state;
    struct error err = {0};
    make_parts();
    ran("INSERT INTO parts VALUES (1, 1, 'x', 9223372036854775807, 0), (1, 1, 'x', 1, 0)");
    assert_int_equal(window_sums_fill(&db, summed, 1, &err), -1);
    assert_string_equal(sqlite3_errmsg(db.handle), "integer overflow"); /* by which facts.c knows it */
    ran("DELETE FROM parts WHERE a = 1");
    assert_int_equal(
        window_sums_fill(
            &db,
            "\n-- Summed in memory\nINSERT INTO sums\nSELECT thing, kind, a + 1 AS sum, b AS sum, b AS sum FROM parts "
            "WHERE run = :run",
            1, &err),
        -1);
    assert_string_equal(sqlite3_errmsg(db.handle), "integer overflow");
    assert_false(window_sums_are_meant("INSERT INTO sums SELECT 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_as_group_by_does, open_new, remove_it),
        cmocka_unit_test_setup_teardown(keys_that_are_null, open_new, remove_it),
        cmocka_unit_test_setup_teardown(sums_beyond_64_bits, open_new, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
