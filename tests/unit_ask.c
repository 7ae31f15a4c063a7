/* ask.c: the time limit and Ctrl-C also stop SQL while it is prepared, and say so. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/sql/ask.h"

static struct db db;

static int set_up(void **state) {
    struct error err = {0};
    (void)state;
    return db_open(&db, ":memory:", DB_WRITE, &err);
}

static int tear_down(void **state) {
    struct error err = {0};
    (void)state;
    return db_close(&db, &err);
}

static void expect_stop(struct ask *ask, const char *message) {
    struct error err = {0};
    assert_null(ask_prepare(ask, "SELECT count(*) FROM doctor", &err));
    assert_string_equal(err.message, message);
    assert_int_not_equal(err.status, ERROR_USAGE);
    ask_close(ask);
}

static void test_limit(void **state) {
    (void)state;
    struct ask ask;
    ask_open(&ask, &db, 1, false); /* 1 ns is over before anything is prepared */
    expect_stop(&ask, "stopped after 1e-09 s; raise the limit with --timeout");
}

static void test_interrupt(void **state) {
    (void)state;
    struct ask ask;
    ask_open(&ask, &db, 0, true);
    raise(SIGINT);
    expect_stop(&ask, "interrupted");
}

static void test_next_statement(void **state) {
    (void)state;
    struct error err = {0};
    struct ask ask;
    ask_open(&ask, &db, 0, true);
    sqlite3_stmt *statement = ask_prepare(&ask, "SELECT count(*) FROM doctor", &err);
    assert_non_null(statement);
    sqlite3_finalize(statement);
    ask_close(&ask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_next_statement),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
