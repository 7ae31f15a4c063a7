/* schema/stack_steps.c: what it finds in stacks is what json_each finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "schema/stack_steps.h"
#include "tests/unit_warehouse.h"

/* Stacks of 0 to 39 steps over 3,000 locations, which are more than are remembered of late. */
static void make_stacks(void) {
    struct error err = {0};
    ran("CREATE TEMP TABLE stacks(stack TEXT);"
        "INSERT INTO stacks WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 500), "
        "step(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM step WHERE k < 38) "
        "SELECT (SELECT json_group_array(1 + (i * 7919 + k * 104729) % 3000 * (1 + i % 2 * 1000000007)) FROM step "
        "WHERE k < i % 40) FROM n;"
        "CREATE TEMP TABLE call_locations(location_id INTEGER PRIMARY KEY, own INTEGER, raises INTEGER);"
        "INSERT OR IGNORE INTO call_locations SELECT value, iif(value % 5 = 0, 0, NULL), value % 11 = 0 "
        "FROM stacks, json_each(stack)");
    assert_int_equal(stack_steps_make(&db, &err), 0);
    assert_int_equal(stack_steps_make(&db, &err), 0); /* again */
}

static int64_t count_bound(const char *sql) {
    struct error err = {0};
    sqlite3_stmt *row = db_prepare(&db, sql, &err);
    assert_non_null(row);
    assert_int_equal(stack_steps_bind(&db, row, &err), 0);
    assert_int_equal(db_step(&db, row, &err), 1);
    int64_t count = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return count;
}

static void locations_of_all_stacks(void **state) {
    (void)state;
    make_stacks();
    ran("CREATE TEMP TABLE met AS SELECT value AS id FROM json_each((SELECT locations_met(stack) FROM stacks));"
        "CREATE TEMP TABLE expected AS SELECT DISTINCT value AS id FROM stacks, json_each(stack)");
    assert_true(number("SELECT count(*) FROM expected") > 2000);
    assert_int_equal(number("SELECT count(*) FROM met"), number("SELECT count(*) FROM expected"));
    assert_int_equal(number("SELECT count(*) FROM met JOIN expected USING (id)"), number("SELECT count(*) FROM met"));
    assert_int_equal(number("SELECT locations_met(stack) IS NULL FROM stacks WHERE false"), 1);
    assert_int_equal(number("SELECT locations_met(stack) = '[]' FROM stacks WHERE stack = '[]'"), 1);
}

static void first_steps(void **state) {
    (void)state;
    make_stacks();
    assert_true(count_bound("SELECT count(first_step(stack, :own)) FROM stacks") > 300);
    assert_int_equal(
        count_bound("SELECT count(*) FROM stacks WHERE first_step(stack, :own) IS NOT (SELECT min(key) FROM "
                    "json_each(stack) JOIN call_locations ON location_id = value WHERE own IS NOT NULL)"),
        0);
    assert_int_equal(
        count_bound("SELECT count(*) FROM stacks WHERE first_step(stack, :raises) IS NOT (SELECT min(key) FROM "
                    "json_each(stack) JOIN call_locations ON location_id = value WHERE raises = 1)"),
        0);
    ran("UPDATE call_locations SET own = NULL");
    assert_int_equal(count_bound("SELECT count(first_step(stack, :own)) FROM stacks"), 0);
    assert_int_equal(number("SELECT count(first_step(stack, 7)) FROM stacks"), 0); /* no set */
}

static void steps_at_positions(void **state) {
    (void)state;
    make_stacks();
    ran("CREATE TEMP TABLE positions AS SELECT value AS position FROM json_each('[-1,0,1,2,17,38,39,null]')");
    assert_true(number("SELECT count(step_at(stack, position)) FROM stacks, positions") > 1000);
    assert_int_equal(number("SELECT count(*) FROM stacks, positions WHERE step_at(stack, position) IS NOT "
                            "(SELECT value FROM json_each(stack) WHERE key = position)"),
                     0);
    assert_int_equal(number("SELECT step_at(NULL, 0) IS NULL AND step_at('[12', 0) = 12 AND step_at('x', 0) IS NULL"),
                     1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(locations_of_all_stacks, open_new, remove_it),
        cmocka_unit_test_setup_teardown(first_steps, open_new, remove_it),
        cmocka_unit_test_setup_teardown(steps_at_positions, open_new, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
