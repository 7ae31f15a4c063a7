/* document.c, queries.c, config.c and nearest.c: what a YAML text becomes, and thresholds and queries in force for a
 * connection that reads and in a file that is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "query/sql/saved.h"
#include "schema/config.h"
#include "tests/unit_warehouse.h"

static void test_nearest(void **state) {
    (void)state;
    static const struct {
        const char *word, *offers[4], *found;
    } cases[] = {
        {"databse", {"database", "tags"}, "database"},  /* one letter is missing */
        {"dtaabase", {"tags", "database"}, "database"}, /* two changed places */
        {"tagz", {"toolchain", "tags"}, "tags"},        /* one is another */
        {"taxx", {"tags"}, "tags"},                     /* two edits are near */
        {"txxx", {"tags"}, ""},                         /* three are not */
        {"ab", {"cd"}, ""},                             /* as many edits as letters: everything is as near */
        {"cat", {"bat", "hat"}, "bat"},                 /* of equals the first */
        {"cat", {"cats", "cat"}, "cat"},
        {"", {"tags"}, ""},
        {"a-word-of-more-than-thirty-two-letters", {"a-word-of-more-than-thirty-two-letters"}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nearest nearest = {.word = cases[i].word};
        for (const char *const *offer = cases[i].offers; *offer; offer++)
            nearest_offer(&nearest, *offer);
        assert_string_equal(nearest.found, cases[i].found);
    }
}

static struct config parsed(const char *name, const char *text) {
    struct error err = {0};
    struct config config;
    if (config_parse(&config, name, text, &err)) fail_msg("%s", err.message);
    return config;
}

static void test_every_key(void **state) {
    (void)state;
    struct config config =
        parsed("/etc/x/clear.yaml", "database: a.db\n"
                                    "toolchain: {.c: 'cc {source} -o {output}', .cht: 'clear-lang {source} {output}'}\n"
                                    "thresholds: {lock_contended_percent: 2.5e1, leak_warning_count: 7}\n"
                                    "tags: {git_commit: auto, n: 5}\n"
                                    "queries: {q: {description: d, sql: SELECT 1}}\n"
                                    "filters: {calm: {ignore: 'a|b', granularity: lines}, all: {}}\n");
    assert_string_equal(config.database, "/etc/x/a.db");
    assert_int_equal(config.toolchain_count, 2);
    assert_string_equal(config_toolchain(&config, ".cht"), "clear-lang {source} {output}");
    assert_null(config_toolchain(&config, ".rs"));
    assert_int_equal(config.threshold_count, 2);
    assert_string_equal(config.thresholds[0].name, "lock_contended_percent");
    assert_true(config.thresholds[0].value == 25 && config.thresholds[1].value == 7);
    assert_int_equal(config.tag_count, 2);
    assert_string_equal(config.tags[1].key, "n");
    assert_string_equal(config.tags[1].value, "5");
    assert_int_equal(config.query_count, 1);
    assert_string_equal(config.queries[0].params, "[]");
    assert_string_equal(config.queries[0].export, "{}");
    assert_int_equal(config.filter_count, 2);
    assert_string_equal(config.filters[0].name, "calm");
    assert_int_equal(config.filters[0].option_count, 2);
    assert_string_equal(config.filters[0].options[1].key, "granularity");
    assert_string_equal(config.filters[0].options[0].value, "a|b");
    assert_int_equal(config.filters[1].option_count, 0);
    config_free(&config);
    assert_null(config.database);
    config = parsed("clear.yaml", "database: a.db\n");
    assert_string_equal(config.database, "a.db");
    config_free(&config);
    config = parsed("clear.yaml", "# nothing but this\n");
    assert_null(config.database);
    config_free(&config);
}

/* Quotes, backslashes and control characters in names and defaults are JSON in the table. */
static void test_params_are_json(void **state) {
    (void)state;
    struct error err = {0};
    struct config config =
        parsed("c", "queries:\n  q:\n    description: d\n    sql: SELECT 1\n    params:\n"
                    "      a: {type: text, default: \"\\\"\\\\\\n\\x01\"}\n      b: {type: text, default: ''}\n"
                    "      c: {type: integer, default: -9223372036854775808}\n"
                    "      d: {type: real, default: 0.1}\n");
    assert_int_equal(queries_put(&db, &config.queries[0], &err), 0);
    config_free(&config);
    assert_int_equal(number("SELECT json_valid(params) FROM queries WHERE name = 'q'"), 1);
    assert_int_equal(
        number("SELECT params ->> '$[0].default' = char(34, 92, 10, 1) AND params ->> '$[1].default' = ''"
               " AND params ->> '$[2].default' = -9223372036854775807 - 1 AND params ->> '$[3].default' = 0.1"
               " FROM queries WHERE name = 'q'"),
        1);
}

static void test_reader_sees_and_file_keeps(void **state) {
    (void)state;
    struct error err = {0};
    struct config config = parsed("c", "thresholds: {lock_contended_percent: 77}\n"
                                       "queries: {mine: {description: d, sql: SELECT 1}}\n");
    ran("CREATE VIEW sees AS SELECT value FROM rules WHERE name = 'lock_contended_percent'");
    reopen(DB_READ);
    assert_int_equal(number("SELECT value FROM sees"), 20);
    assert_int_equal(config_apply(&config, &db, &err), 0);
    assert_int_equal(number("SELECT value FROM sees"), 77);
    assert_int_equal(number("SELECT value FROM main.sees"), 20);
    assert_int_equal(number("SELECT count(*) FROM queries WHERE name = 'mine'"), 1);
    assert_int_equal(number("SELECT count(*) FROM main.queries WHERE name = 'mine'"), 0);
    /* Every view can still be read: none of them was lost or names what the temporary schema lacks. */
    assert_int_equal(number("SELECT count(*) FROM temp.sqlite_schema WHERE type = 'view'"),
                     number("SELECT count(*) FROM main.sqlite_schema WHERE type = 'view'"));
    assert_int_equal(number("SELECT count(*) FROM doctor"), 0);
    reopen(DB_READ);
    assert_int_equal(number("SELECT value FROM sees"), 20);
    reopen(DB_WRITE);
    assert_int_equal(config_apply(&config, &db, &err), 0);
    reopen(DB_READ);
    assert_int_equal(number("SELECT value FROM sees"), 77);
    assert_int_equal(number("SELECT count(*) FROM main.queries WHERE name = 'mine'"), 1);
    assert_int_equal(number("SELECT count(*) FROM rules WHERE value = 77"), 1);
    config_free(&config);
}

/* A file of another clear that could not be brought up to date: its queries count, and ours are there besides. */
static void test_stale_file(void **state) {
    (void)state;
    struct error err = {0};
    struct config config = {0};
    struct saved_query query;
    reopen(DB_READ);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "UPDATE meta SET value = 'older' WHERE key = 'queries_hash';"
                                  "DELETE FROM queries WHERE name = 'growth';"
                                  "UPDATE queries SET sql = 'SELECT 5' WHERE name = 'noise'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    db.was_current = false; /* as where its directory cannot be written */
    assert_int_equal(saved_find(&db, "growth", &query, &err), -1);
    err = (struct error){0};
    assert_int_equal(config_apply(&config, &db, &err), 0);
    assert_int_equal(saved_find(&db, "growth", &query, &err), 0);
    assert_non_null(strstr(query.sql, "site_history"));
    queries_free(&query);
    assert_int_equal(saved_find(&db, "noise", &query, &err), 0);
    assert_string_equal(query.sql, "SELECT 5");
    queries_free(&query);
}

/* What stands in the file of an older clear is replaced where it is ours, and stays where it is the user's. */
static void test_upgrade_keeps_the_users(void **state) {
    (void)state;
    ran("UPDATE queries SET sql = 'SELECT 5' WHERE name = 'noise';"
        "INSERT INTO queries(name, description, sql) VALUES ('mine', 'd', 'SELECT 6');"
        "UPDATE meta SET value = 'older' WHERE key = 'queries_hash'");
    reopen(DB_READ);
    assert_int_equal(number("SELECT sql LIKE '%variance%' FROM queries WHERE name = 'noise'"), 1);
    assert_int_equal(number("SELECT sql = 'SELECT 6' FROM queries WHERE name = 'mine'"), 1);
}

#define WITH_DB(test) cmocka_unit_test_setup_teardown(test, open_new, remove_it)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest), cmocka_unit_test(test_every_key),
        WITH_DB(test_params_are_json),  WITH_DB(test_reader_sees_and_file_keeps),
        WITH_DB(test_stale_file),       WITH_DB(test_upgrade_keeps_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
