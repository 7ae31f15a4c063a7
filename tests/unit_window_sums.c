/* schema/window_sums.c: what it sums is what GROUP BY sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

static void sealed(void) {
    struct error err = {0};
    if (facts_seal(&db, 1, &err)) fail_msg("%s", err.message);
}

/* Two locks in a window that ends after `seconds`. */
static void add_window(int64_t id, const char *kind, int64_t seconds, int64_t acquires) {
    char sql[600];
    snprintf(sql, sizeof sql,
             "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES (%lld, 1, 1, '%s', "
             "1700000000000000000 + %lld * 1000000000, 1000000000);"
             "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, max_wait_ns) "
             "VALUES (%lld, 1, 64, 0, 'mutex', %lld, %lld), (%lld, 2, 128, 0, 'rwlock', 1, 0)",
             (long long)id, kind, (long long)seconds, (long long)id, (long long)acquires, (long long)acquires * 7,
             (long long)id);
    ran(sql);
}

static void make_recording(void) {
    ran("INSERT INTO runs(id, uuid, source, started_ns) VALUES (1, 'r', 'profile', 1700000000000000000);"
        "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 2, 1, 'server', "
        "1700000000000000000);"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'a', 'a'), (2, 'lock', 'b', 'b')");
}

/* A row that was sealed does not change in a recording. Here it does, which tells whether it is read again. */
static void sums_are_kept_between_seals(void **state) {
    (void)state;
    make_recording();
    window_sums_keep(&db, 1);
    sealed();
    add_window(1, "lock", 1, 10);
    add_window(2, "wait", 1, 3);
    sealed();
    ran("UPDATE locks SET acquires = 90 WHERE profile_id IN (1, 2) AND object_id = 1");
    add_window(3, "lock", 2, 5);
    add_window(4, "wait", 2, 2);
    sealed();
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 15);
    assert_int_equal(number("SELECT max_wait_ns FROM lock_use_facts WHERE object_id = 1"), 70);
    assert_int_equal(number("SELECT profile_id FROM lock_use_facts WHERE object_id = 1 AND kind = 'mutex'"), 3);
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 2 AND kind = 'rwlock'"), 2);
    assert_int_equal(number("SELECT acquires FROM wait_use_facts WHERE object_id = 1"), 5);
    window_sums_forget(&db);
    sealed();
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 95);
    assert_int_equal(number("SELECT acquires FROM wait_use_facts WHERE object_id = 1"), 92);
}

/* The fold of the last window, whose id the next one gets. */
static void folded_windows_are_read_again(void **state) {
    (void)state;
    make_recording();
    window_sums_keep(&db, 1);
    add_window(1, "lock", 1, 10);
    add_window(2, "lock", 2, 20);
    sealed();
    ran("UPDATE locks SET acquires = 30 WHERE profile_id = 1 AND object_id = 1;"
        "UPDATE profiles SET time_ns = time_ns + 1000000000, duration_ns = 2000000000 WHERE id = 1;"
        "DELETE FROM profiles WHERE id = 2");
    add_window(2, "lock", 3, 5);
    sealed();
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 35);
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 2"), 2);
}

/* What a transaction wrote that was taken back is summed no more. */
static void windows_taken_back_are_not_kept(void **state) {
    (void)state;
    struct error err = {0};
    make_recording();
    window_sums_keep(&db, 1);
    add_window(1, "lock", 1, 10);
    sealed();
    assert_int_equal(db_begin(&db, &err), 0);
    add_window(2, "lock", 2, 20);
    sealed();
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 30);
    db_rollback(&db);
    add_window(2, "lock", 3, 5);
    sealed();
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 15);
}

/* Beyond 64 bits no sums are kept, and those of the seal before are not taken for them. */
static void kept_sums_beyond_64_bits(void **state) {
    (void)state;
    make_recording();
    window_sums_keep(&db, 1);
    add_window(1, "lock", 1, 10);
    sealed();
    add_window(2, "lock", 2, 20);
    add_window(3, "lock", 3, 30);
    ran("UPDATE locks SET hold_ns = 9223372036854775807");
    sealed();
    assert_int_equal(number("SELECT count(*) FROM lock_use_facts"), 0);
    ran("UPDATE locks SET hold_ns = 1");
    sealed();
    assert_int_equal(number("SELECT sum(hold_ns) FROM lock_use_facts"), 6);
    assert_int_equal(number("SELECT acquires FROM lock_use_facts WHERE object_id = 1"), 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_as_group_by_does, open_new, remove_it),
        cmocka_unit_test_setup_teardown(keys_that_are_null, open_new, remove_it),
        cmocka_unit_test_setup_teardown(sums_beyond_64_bits, open_new, remove_it),
        cmocka_unit_test_setup_teardown(sums_are_kept_between_seals, open_new, remove_it),
        cmocka_unit_test_setup_teardown(folded_windows_are_read_again, open_new, remove_it),
        cmocka_unit_test_setup_teardown(windows_taken_back_are_not_kept, open_new, remove_it),
        cmocka_unit_test_setup_teardown(kept_sums_beyond_64_bits, open_new, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
