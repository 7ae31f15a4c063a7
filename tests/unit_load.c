/* unit_load: profiles of the warehouse in memory (query/profile/load/load.h), merged and exact, and what is refused. The figures are those
 * that are put into the tables here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/integers.h"
#include "query/profile/compare.h"
#include "query/profile/load/load.h"
#include "query/profile/load/load_query.h"
#include "tests/unit_warehouse.h"

/* main -> work of /bin/a, mapped at two places in two files that were ingested; columns differ too. */
static const char world[] =
    "INSERT INTO runs(id, uuid, started_ns, source, content_hash) VALUES (1, 'u1', 0, 'a.pb.gz', 'a'), (2, 'u2', 0, "
    "'b.pb.gz', 'b');"
    "INSERT INTO mappings(id, filename, memory_start, memory_limit) VALUES (1, '/bin/a', 4096, 8192), (2, '/bin/a', "
    "40960, 45056),"
    "  (3, '/lib/unused', 90112, 94208);"
    "INSERT INTO functions(id, name) VALUES (1, 'main'), (2, 'work');"
    "INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 4100), (2, 1, 4200), (3, 2, 40964), (4, 2, 41064);"
    "INSERT INTO location_lines(location_id, position, function_id, line, \"column\") VALUES (1, 0, 1, 3, 5), (2, 0, "
    "2, 7, 9),"
    "  (3, 0, 1, 3, 6), (4, 0, 2, 7, 9);"
    "INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[2,1]'), (2, 2, 2, '[4, 3]');"
    "INSERT INTO profiles(id, run_id, kind, sample_types, mappings, comments) VALUES"
    "  (1, 1, 'ticks', '[[\"ticks\",\"count\"],[\"time\",\"nanoseconds\"]]', '[1,3]', '[\"one\"]'),"
    "  (2, 2, 'ticks', '[[\"ticks\",\"count\"],[\"time\",\"nanoseconds\"]]', '[2]', '[\"one\",\"two\"]');"
    "INSERT INTO samples(profile_id, trace_id, v0, v1) VALUES (1, 1, 10, 100), (2, 2, 3, 30), (1, 0, 0, 0);";

static struct error err;

static int open_world(void **state) {
    err = (struct error){0};
    if (open_new(state)) return -1;
    ran(world);
    return 0;
}

static int load(struct profile *profile, const char *kind, int64_t first, int64_t last, bool is_exact) {
    int64_t ids[8];
    struct run_set runs = {ids, 0};
    for (int64_t id = first; id <= last; id++)
        ids[runs.count++] = id;
    const struct load_request request = {.kind = kind, .runs = &runs, .is_exact = is_exact};
    err = (struct error){0};
    return profile_load(profile, &db, &request, &err);
}

static void merged_and_exact(void **state) {
    (void)state;
    struct profile profile;
    if (load(&profile, "ticks", 1, 2, false)) fail_msg("%s", err.message);
    assert_int_equal(profile.sample_count,
                     1); /* as pprof merges: one file, wherever it was mapped; columns do not count */
    assert_int_equal(profile.mapping_count, 1);
    assert_int_equal(profile_value(&profile, 0, 0), 13);
    assert_int_equal(profile_value(&profile, 0, 1), 130);
    profile_free(&profile);
    if (load(&profile, "ticks", 1, 2, true)) fail_msg("%s", err.message);
    assert_int_equal(profile.sample_count, 2);
    assert_int_equal(profile.mapping_count, 3); /* the one that nothing is in, too */
    assert_int_equal(profile.locations[profile.frames[profile.stacks[profile.samples[1].stack].first]].address, 41064);
    assert_int_equal(profile.comment_count, 2);
    profile_free(&profile);
}

/* Fifty recorded runs: what each says of itself is in the profile, as pprof would have it from fifty files. */
static void all_comments(void **state) {
    (void)state;
    struct profile profile;
    int64_t ids[50];
    struct run_set runs = {ids, 0};
    ran("WITH RECURSIVE n(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 149)"
        " INSERT INTO runs(id, uuid, command, started_ns, source) SELECT i, 'r' || i, './same', i, 'profile' FROM n");
    ran("INSERT INTO profiles(run_id, kind) SELECT id, 'heap' FROM runs WHERE id >= 100");
    ran("INSERT INTO sites(profile_id, trace_id, alloc_count) SELECT profiles.id, 1, 1 FROM profiles WHERE kind = "
        "'heap'");
    for (int64_t id = 100; id < 150; id++)
        ids[runs.count++] = id;
    const struct load_request request = {.kind = "heap", .runs = &runs};
    if (profile_load(&profile, &db, &request, &err)) fail_msg("%s", err.message);
    assert_int_equal(profile.comment_count, 51); /* command: ./same, once; run: r100 to r149 */
    assert_string_equal(profile.comments[50], "run: r149");
    profile_free(&profile);
}

/* Sites of three profiles of a run and one of another, with labels, with bytes of their own and as blocks of one size: sums are those of the
 * view `sites`, which SQLite groups. */
static void sums_of_sites(void **state) {
    (void)state;
    struct profile profile;
    ran("INSERT INTO runs(id, uuid, command, started_ns, source) VALUES (3, 'r3', './a', 1, 'profile'), (4, 'r4', "
        "'./a', 2, 'profile')");
    ran("UPDATE traces SET location_id = 2 * id WHERE id IN (1, 2)");
    ran("INSERT INTO label_sets(id, labels) VALUES (7, '[[\"user\",\"x\"]]')");
    ran("INSERT INTO profiles(id, run_id, kind) VALUES (31, 3, 'heap'), (32, 3, 'heap'), (33, 3, 'heap'), (41, 4, "
        "'heap')");
    ran("INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES"
        " (31, 1, 0, 3, 48, 1, 16), (31, 1, 7, 5, 500, 0, 0), (32, 1, 0, 2, 33, 2, 32), (32, 2, 0, 1, 8, 0, 0),"
        " (33, 1, 7, 1, 100, 6, 600), (33, 2, 0, 4, 32, 5, 41), (41, 2, 0, 9, 72, 0, 0), (41, 1, 7, 2, 250, 1, 1)");
    if (load(&profile, "heap", 3, 4, true)) fail_msg("%s", err.message);
    assert_int_equal(profile.sample_count, 3);
    ran("CREATE TEMP TABLE wanted AS SELECT sum(alloc_count) AS a, sum(alloc_bytes) AS b, sum(alloc_count - "
        "free_count) AS c,"
        " sum(alloc_bytes - free_bytes) AS d, trace_id AS t, label_set_id AS l FROM sites GROUP BY trace_id, "
        "label_set_id");
    for (size_t i = 0; i < profile.sample_count; i++) {
        const struct profile_stack *stack = &profile.stacks[profile.samples[i].stack];
        bool is_first = profile.locations[profile.frames[stack->first]].address == 4200; /* the innermost of trace 1 */
        bool has_user = profile.label_sets[profile.samples[i].labels].count == 2;        /* addr and user */
        char where[64];
        (void)snprintf(where, sizeof where, "t = %d AND l = %d", is_first ? 1 : 2, has_user ? 7 : 0);
        static const char *const columns[] = {"a", "b", "c", "d"};
        for (size_t type = 0; type < 4; type++) {
            char sql[128];
            (void)snprintf(sql, sizeof sql, "SELECT %s FROM wanted WHERE %s", columns[type], where);
            assert_int_equal(profile_value(&profile, i, type), number(sql));
        }
    }
    profile_free(&profile);
    ran("UPDATE site_keys SET block_bytes = 4611686018427387904 WHERE id = 2");
    assert_int_equal(load(&profile, "heap", 3, 4, true), -1);
    assert_string_equal(err.message, "run 3, heap: 4 blocks of 4611686018427387904 bytes are more than 2^63 - 1 bytes");
}

/* ---- more than 64 bits ---- */

static void sums_are_refused(void **state) {
    (void)state;
    struct profile profile, other;
    ran("INSERT INTO profiles(id, run_id, kind, sample_types) VALUES (9, 1, 'big', '[[\"big\",\"bytes\"]]'),"
        " (10, 1, 'big', '[[\"big\",\"bytes\"]]')");
    ran("INSERT INTO samples(profile_id, trace_id, v0) VALUES (9, 1, 9223372036854775807), (10, 1, 1)");
    for (int exact = 0; exact < 2; exact++) {
        assert_int_equal(load(&profile, "big", 1, 1, exact), -1);
        assert_string_equal(err.message, "run 1, big: the sum of big/bytes is larger than 2^63 - 1");
    }
    ran("DELETE FROM samples WHERE profile_id = 10");
    assert_int_equal(load(&profile, "big", 1, 1, false), 0);
    assert_int_equal(load(&other, "big", 1, 1, false), 0);
    assert_int_equal(compare_add(&profile, &other, &err), -1);
    assert_string_equal(err.message, "the sum of big/bytes is larger than 2^63 - 1");
    profile_free(&profile);
    profile_free(&other);
}

/* ---- as many sample types as are ingested ---- */

static void many_types(void **state) {
    (void)state;
    struct profile profile;
    ran("INSERT INTO profiles(id, run_id, kind, sample_types) SELECT 9, 1, 'wide', json_group_array(json_array('t' || "
        "value, 'count'))"
        " FROM (WITH RECURSIVE n(value) AS (VALUES (0) UNION ALL SELECT value + 1 FROM n WHERE value < 255) SELECT "
        "value FROM n)");
    ran("INSERT INTO samples(profile_id, trace_id, v0, v7, more) SELECT 9, 1, -5, 7, json_group_array(value)"
        " FROM (WITH RECURSIVE n(value) AS (VALUES (8) UNION ALL SELECT value + 1 FROM n WHERE value < 255) SELECT "
        "-value AS value FROM n)");
    if (load(&profile, "wide", 1, 1, false)) fail_msg("%s", err.message);
    assert_int_equal(profile.type_count, 256);
    assert_string_equal(profile.types[255].type, "t255");
    assert_int_equal(profile_value(&profile, 0, 0), -5);
    for (size_t i = 8; i < 256; i++)
        assert_int_equal(profile_value(&profile, 0, i), -(int64_t)i);
    profile_free(&profile);
}

/* ---- what Go calls mutex and block ---- */

static void made_of_other_kinds(void **state) {
    (void)state;
    struct profile profile;
    ran("INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'l', 'the lock'), (2, 'channel', 'c', 'the "
        "channel')");
    ran("INSERT INTO runs(id, uuid, started_ns, source) VALUES (5, 'u5', 0, 'profile')");
    ran("INSERT INTO profiles(id, run_id, kind) VALUES (20, 5, 'lock'), (21, 5, 'channels')");
    ran("INSERT INTO locks(profile_id, object_id, address, trace_id, contended, wait_ns) VALUES (20, 1, 1, 1, 2, 200)");
    ran("INSERT INTO channels(profile_id, object_id, channel, push_blocked, push_blocked_ns) VALUES (21, 2, 4, 3, "
        "300)");
    if (load(&profile, "mutex", 5, 5, false)) fail_msg("%s", err.message);
    assert_int_equal(profile.sample_count, 1);
    assert_int_equal(profile_value(&profile, 0, 1), 200);
    assert_string_equal(profile.types[1].type, "delay");
    profile_free(&profile);
    if (load(&profile, "block", 5, 5, false)) fail_msg("%s", err.message);
    assert_int_equal(profile.sample_count, 2);
    assert_int_equal(profile_value(&profile, 0, 1) + profile_value(&profile, 1, 1), 500);
    profile_free(&profile);
    ran("DELETE FROM profiles WHERE id = 20");
    assert_int_equal(load(&profile, "mutex", 5, 5, false), -1);
    assert_non_null(strstr(err.message, "run 5 has no mutex profile; it has: channels"));
}

/* ---- stacks ---- */

static void stacks_are_json(void **state) {
    (void)state;
    static const char *const good[] = {
        "[1]", "[1,2]", " [ 1 , 2 ] ", "[]", "[ ]", "[-9223372036854775808]", "[9223372036854775807]"};
    static const char *const bad[] = {"",
                                      "1",
                                      "[1",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1]]",
                                      "[1],",
                                      "[+1]",
                                      "[1.5]",
                                      "[\"1\"]",
                                      "[--1]",
                                      "[9223372036854775808]",
                                      "[-9223372036854775809]",
                                      "[99999999999999999999]",
                                      "[1,x]",
                                      "[]1"};
    for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
        bool is_good = i < sizeof good / sizeof *good;
        const char *json = is_good ? good[i] : bad[i - sizeof good / sizeof *good], *at = integers_first(json);
        int64_t value = 0;
        while (at && *at != ']')
            at = integers_next(at, &value);
        if (integers_ended(at) != is_good) fail_msg("%s is %s", json, is_good ? "refused" : "taken");
    }
    struct profile profile;
    ran("UPDATE traces SET stack = '[2,1' WHERE id = 1");
    assert_int_equal(load(&profile, "ticks", 1, 1, false), -1);
    assert_string_equal(err.message, "run 1, ticks: trace 1: not a list of locations: [2,1");
}

/* ---- queries ---- */

static void a_query_is_a_profile(void **state) {
    (void)state;
    struct profile profile;
    static const struct run_set none;
    struct profile_query query = {
        .runs = &none,
        .sql = "SELECT 'outer' AS a, id AS trace_id, 'inner' AS b, 5 AS \"label:n/bytes\", NULL AS c, 2 AS x_ns"
               " FROM traces WHERE id = 1 UNION ALL SELECT NULL, 0, NULL, NULL, NULL, 0"};
    if (profile_load_query(&profile, &db, &query, &err)) fail_msg("%s", err.message);
    assert_int_equal(profile.type_count, 2);
    assert_string_equal(profile.types[1].type, "x_ns");
    assert_string_equal(profile.types[1].unit, "nanoseconds");
    assert_int_equal(profile.sample_count, 2); /* the row of nothing too */
    const struct profile_stack *stack = &profile.stacks[profile.samples[0].stack];
    static const char *const names[] = {"inner", "work", "main", "outer"};
    assert_int_equal(stack->depth, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct profile_location *location = &profile.locations[profile.frames[stack->first + i]];
        assert_string_equal(profile.functions[profile.lines[location->first_line].function].name, names[i]);
    }
    const struct profile_labels *labels = &profile.label_sets[profile.samples[0].labels];
    assert_int_equal(labels->count, 1);
    assert_int_equal(profile.labels[labels->first].number, 5);
    assert_string_equal(profile.labels[labels->first].unit, "bytes");
    assert_int_equal(profile_value(&profile, 0, 1), 2);
    profile_free(&profile);
    query.sql = "SELECT trace_id FROM samples";
    if (profile_load_query(&profile, &db, &query, &err)) fail_msg("%s", err.message);
    assert_string_equal(profile.types[0].type, "rows");
    profile_free(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(merged_and_exact, open_world, remove_it),
        cmocka_unit_test_setup_teardown(all_comments, open_world, remove_it),
        cmocka_unit_test_setup_teardown(sums_of_sites, open_world, remove_it),
        cmocka_unit_test_setup_teardown(sums_are_refused, open_world, remove_it),
        cmocka_unit_test_setup_teardown(many_types, open_world, remove_it),
        cmocka_unit_test_setup_teardown(made_of_other_kinds, open_world, remove_it),
        cmocka_unit_test_setup_teardown(stacks_are_json, open_world, remove_it),
        cmocka_unit_test_setup_teardown(a_query_is_a_profile, open_world, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
