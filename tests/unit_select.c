/* select.c and run_set.c: every way to name a run or several, which one wins, and what the errors say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "query/runs/run_set.h"
#include "query/runs/select.h"

static struct db db;

static void insert(int64_t id, const char *uuid, const char *label, int64_t started_ns) {
    struct error err = {0};
    sqlite3_stmt *row = db_prepare(
        &db, "INSERT INTO runs(id, uuid, label, started_ns, source) VALUES (:id, :uuid, :label, :at, 'profile')", &err);
    assert_non_null(row);
    db_bind_int(row, ":id", id);
    db_bind_text(row, ":uuid", uuid);
    db_bind_text(row, ":label", label);
    db_bind_int(row, ":at", started_ns);
    assert_int_equal(db_run(&db, row, &err), 0);
}

/* Ids run against time, so that "newest" cannot be taken for "highest id". */
static int set_up(void **state) {
    struct error err = {0};
    (void)state;
    if (db_open(&db, ":memory:", DB_WRITE, &err)) return -1;
    insert(1, "aaaaaaaa-1111-4000-8000-000000000001", "base", 5000);
    insert(2, "aaaaaaaa-2222-4000-8000-000000000002", "base", 4000);
    insert(3, "cccccccc-3333-4000-8000-000000000003", "2", 3000);
    insert(4, "dddddddd-4444-4000-8000-000000000004", "77", 3000);
    insert(5, "eeeeeeee-5555-4000-8000-000000000005", "a=b", 1000);
    return db_exec(&db, "INSERT INTO tags VALUES (2, 'commit', 'x'), (3, 'commit', 'x'), (5, 'url', 'k=v')", &err);
}

static int tear_down(void **state) {
    struct error err = {0};
    (void)state;
    return db_close(&db, &err);
}

static void finds(const char *name, int64_t id) {
    struct error err = {0};
    int64_t found = -1;
    if (select_run(&db, name, &found, &err)) fail_msg("%s: %s", name ? name : "NULL", err.message);
    assert_int_equal(found, id);
}

static void refuses(const char *name, const char *words) {
    struct error err = {0};
    int64_t found = -1;
    assert_int_equal(select_run(&db, name, &found, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    if (!strstr(err.message, words)) fail_msg("%s: \"%s\" lacks \"%s\"", name, err.message, words);
}

static void by_time(void **state) {
    (void)state;
    finds(NULL, 1);
    refuses("", "the name of a run is empty");
    finds("latest", 1);
    finds("latest~0", 1);
    finds("latest~1", 2);
    finds("latest~2", 4); /* of the same moment: the higher id is the newer one */
    finds("latest~3", 3);
    refuses("latest~5", "no run 'latest~5' among 5 (the latest is 1)");
    refuses("latest~", "no run");
    refuses("latest~-1", "no run");
}

static void by_name(void **state) {
    (void)state;
    finds("5", 5);
    finds("2", 2);  /* a number is an id first ... */
    finds("77", 4); /* ... and a label where there is no such id */
    finds("base", 1);
    finds("commit=x", 2);
    finds("url=k=v", 5); /* the first = parts key from value */
    finds("a=b", 5);     /* no such tag, but a label */
    refuses("commit=y", "no run 'commit=y'");
    refuses("BASE", "no run 'BASE'");
    refuses("99999999999999999999", "no run");
}

static void by_uuid(void **state) {
    (void)state;
    finds("cccccccc", 3);
    finds("CCCCCCCC-33", 3);
    finds("aaaaaaaa-2222-4000-8000-000000000002", 2);
    refuses("aaaaaaaa", "several runs");
    refuses("ccccccc", "no run"); /* seven characters are more likely a label misspelt */
    refuses("cccccc%%", "no run");
}

/* `ids`: "1 2 3", in their order. */
static void holds(const char *word, const char *ids) {
    struct error err = {0};
    struct run_set set = {0};
    char got[100] = "";
    if (run_set_add(&set, &db, word, &err)) fail_msg("%s: %s", word, err.message);
    for (size_t i = 0; i < set.count; i++)
        sprintf(got + strlen(got), "%s%d", i ? " " : "", (int)set.ids[i]);
    run_set_free(&set);
    assert_string_equal(got, ids);
}

static void refuses_set(const char *word, const char *words) {
    struct error err = {0};
    struct run_set set = {0};
    assert_int_equal(run_set_add(&set, &db, word, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    if (!strstr(err.message, words)) fail_msg("%s: \"%s\" lacks \"%s\"", word, err.message, words);
    run_set_free(&set);
}

static void sets(void **state) {
    (void)state;
    holds("3", "3");
    holds("2..4", "2 3 4");
    holds("4..2", "2 3 4");
    holds("all", "1 2 3 4 5");
    holds("all:base", "1 2");
    holds("all:commit=x", "2 3");
    holds("tag:commit=x", "2 3");
    holds("tag:url=k=v", "5");
    holds("5,tag:commit=x,3,1", "5 2 3 1");
    /* By start and not by id; what stays keeps its order. */
    holds("last=1", "1");
    holds("last=3", "1 2 4");
    holds("last=99", "1 2 3 4 5");
    holds("tag:commit=x,last=1", "2");
    holds("3..5,last=2", "3 4");
    holds("3..5,last=2,1", "3 4 1");
    refuses_set("", "the name of a run is empty");
    refuses_set("1,,2", "the name of a run is empty");
    refuses_set("tag:commit=y", "no run is in 'tag:commit=y'");
    refuses_set("tag:commit", "write tag:KEY=VALUE");
    refuses_set("tag:=x", "write tag:KEY=VALUE");
    refuses_set("last=0", "must be a whole number from 1");
    refuses_set("last=", "must be a whole number from 1");
    refuses_set("last=3x", "must be a whole number from 1");
    refuses_set("all,last=-1", "must be a whole number from 1");
    refuses_set("1,nix", "no run 'nix'");
}

static void last_within_its_word(void **state) {
    struct error err = {0};
    struct run_set set = {0};
    (void)state;
    assert_int_equal(run_set_add(&set, &db, "1", &err), 0);
    assert_int_equal(run_set_add(&set, &db, "tag:commit=x,last=1", &err), 0);
    assert_int_equal(run_set_add(&set, &db, "all,last=2", &err), 0); /* 1 and 2, which are there */
    assert_int_equal(set.count, 2);
    assert_int_equal(set.ids[0], 1);
    assert_int_equal(set.ids[1], 2);
    run_set_free(&set);
}

/* A run that is being recorded and has no data yet is picked only where there is no other. */
static void begun(void **state) {
    struct error err = {0};
    (void)state;
    insert(6, "ffffffff-6666-4000-8000-000000000006", NULL, 9000);
    assert_int_equal(db_exec(&db, "UPDATE runs SET flags = 'sample_bytes=9 unfinished' WHERE id = 6", &err), 0);
    finds("latest", 1);
    finds("latest~1", 2);
    finds("latest~5", 6);
    finds("6", 6);
    assert_int_equal(db_exec(&db, "UPDATE runs SET label = 'shared' WHERE id IN (1, 6)", &err), 0);
    assert_int_equal(db_exec(&db, "INSERT INTO tags(run_id, key, value) VALUES (1, 'by', 'me'), (6, 'by', 'me')", &err),
                     0);
    finds("shared", 1);
    finds("by=me", 1);
    struct run_set set = {0};
    assert_int_equal(run_set_add(&set, &db, "tag:by=me,last=1", &err), 0);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.ids[0], 1);
    run_set_free(&set);
    assert_int_equal(db_exec(&db, "INSERT INTO profiles(id, run_id, kind) VALUES (1, 6, 'heap')", &err), 0);
    finds("latest", 6);
    finds("shared", 6);
    finds("by=me", 6);
    assert_int_equal(db_exec(&db, "DELETE FROM profiles; DELETE FROM runs WHERE id < 6", &err), 0);
    finds("latest", 6);
}

static void without_runs(void **state) {
    struct error err = {0};
    (void)state;
    assert_int_equal(db_exec(&db, "DELETE FROM runs", &err), 0);
    refuses(NULL, "holds no run yet");
    refuses("base", "holds no run yet");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_uuid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(last_within_its_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(begun, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_runs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
