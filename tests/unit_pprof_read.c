/* unit_pprof_read: profiles packed by protobuf-c, which shares no code with the reader, and what they become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sums.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "ingest/read/readers.h"
#include "profile.pb-c.h"

struct fixture {
    struct db db;
    struct ingest ingest;
    struct error err;
    struct ingest_result result;
};

static int set_up(void **state) {
    struct fixture *fixture = xcalloc(1, sizeof *fixture);
    static const struct ingest_options options = {.label = "unit"};
    *state = fixture;
    return db_open(&fixture->db, ":memory:", DB_WRITE, &fixture->err) ||
           ingest_open(&fixture->ingest, &fixture->db, &options, &fixture->err);
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    struct error err = {0};
    ingest_close(&fixture->ingest);
    int code = db_close(&fixture->db, &err);
    free(fixture);
    return code;
}

static int take_bytes(struct fixture *fixture, const uint8_t *bytes, size_t size) {
    struct input input;
    memset(&fixture->err, 0, sizeof fixture->err);
    if (input_open_memory(&input, "unit.pb", bytes, size, &fixture->err) != 0) return -1;
    int code = ingest_input(&fixture->ingest, &input, NULL, &fixture->result, &fixture->err);
    /* Nobody needs the bytes while the rows are written. */
    if (code == 0 && !fixture->result.is_known) assert_null(input.data);
    assert_string_equal(input.path, "unit.pb");
    input_close(&input);
    return code;
}

static int take(struct fixture *fixture, const Perftools__Profiles__Profile *profile) {
    size_t size = perftools__profiles__profile__get_packed_size(profile);
    uint8_t *bytes = xmalloc(size);
    perftools__profiles__profile__pack(profile, bytes);
    int code = take_bytes(fixture, bytes, size);
    free(bytes);
    return code;
}

static int64_t ask(struct fixture *fixture, const char *sql) {
    int64_t value = 0;
    struct error err = {0};
    if (db_int(&fixture->db, sql, -1, &value, &err) != 0) fail_msg("%s: %s", sql, err.message);
    return value;
}

/* A profile of one location (id 1, address 16) and up to four samples of one value. */
struct small {
    Perftools__Profiles__Profile profile;
    Perftools__Profiles__ValueType type, *types[1];
    Perftools__Profiles__Sample samples[4], *sample_list[4];
    Perftools__Profiles__Location location, *locations[1];
    uint64_t ids[1];
    int64_t values[4];
    char *strings[8];
};

static void make_small(struct small *small, const char *type, const char *unit, const int64_t *values, size_t count) {
    static char empty[] = "";
    memset(small, 0, sizeof *small);
    perftools__profiles__profile__init(&small->profile);
    perftools__profiles__value_type__init(&small->type);
    perftools__profiles__location__init(&small->location);
    small->strings[0] = empty;
    small->strings[1] = (char *)(uintptr_t)type;
    small->strings[2] = (char *)(uintptr_t)unit;
    small->profile.string_table = small->strings;
    small->profile.n_string_table = 3;
    small->type.type = 1;
    small->type.unit = 2;
    small->types[0] = &small->type;
    small->profile.sample_type = small->types;
    small->profile.n_sample_type = 1;
    small->location.id = small->ids[0] = 1;
    small->location.address = 16;
    small->locations[0] = &small->location;
    small->profile.location = small->locations;
    small->profile.n_location = 1;
    for (size_t i = 0; i < count; i++) {
        perftools__profiles__sample__init(&small->samples[i]);
        small->values[i] = values[i];
        small->samples[i].location_id = small->ids;
        small->samples[i].n_location_id = 1;
        small->samples[i].value = &small->values[i];
        small->samples[i].n_value = 1;
        small->sample_list[i] = &small->samples[i];
    }
    small->profile.sample = small->sample_list;
    small->profile.n_sample = count;
}

static void equal_samples_are_summed(void **state) {
    struct fixture *fixture = *state;
    struct small small;
    make_small(&small, "goroutine", "count", (const int64_t[]){5, -7, 100}, 3);
    assert_int_equal(take(fixture, &small.profile), 0);
    assert_int_equal(fixture->result.rows_added, 1);
    assert_int_equal(ask(fixture, "SELECT v0 FROM samples"), 98);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'goroutine'"), 1);
    assert_int_equal(ask(fixture, "SELECT address FROM locations"), 16);
}

static void extreme_values_stay(void **state) {
    struct fixture *fixture = *state;
    struct small small;
    make_small(&small, "goroutine", "count", (const int64_t[]){INT64_MIN}, 1);
    small.location.address = UINT64_MAX;
    assert_int_equal(take(fixture, &small.profile), 0);
    assert_true(ask(fixture, "SELECT v0 FROM samples") == INT64_MIN);
    assert_true(ask(fixture, "SELECT address FROM locations") == -1);
}

static void a_sum_beyond_64_bits_is_refused(void **state) {
    struct fixture *fixture = *state;
    struct small small;
    make_small(&small, "goroutine", "count", (const int64_t[]){INT64_MAX, 1}, 2);
    assert_int_equal(take(fixture, &small.profile), -1);
    assert_non_null(strstr(fixture->err.message, "unit.pb: the sum of equal rows exceeds 64 bits"));
    assert_int_equal(ask(fixture, "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM locations)"), 0);
    make_small(&small, "goroutine", "count", (const int64_t[]){INT64_MAX}, 1); /* and the next one is read as ever */
    assert_int_equal(take(fixture, &small.profile), 0);
}

static void the_same_bytes_are_known(void **state) {
    struct fixture *fixture = *state;
    struct small small;
    make_small(&small, "goroutine", "count", (const int64_t[]){1}, 1);
    assert_int_equal(take(fixture, &small.profile), 0);
    assert_false(fixture->result.is_known);
    int64_t run_id = fixture->result.run_id;
    assert_int_equal(take(fixture, &small.profile), 0);
    assert_true(fixture->result.is_known);
    assert_int_equal(fixture->result.run_id, run_id);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM runs WHERE label = 'unit'"), 1);
}

static void kinds_follow_the_types(void **state) {
    static const struct {
        const char *type, *unit, *kind, *table;
    } cases[] = {
        {"inuse_space", "bytes", "heap", "SELECT alloc_bytes - free_bytes FROM sites WHERE profile_id = 1"},
        {"alloc_objects", "count", "heap", "SELECT alloc_count FROM sites WHERE profile_id = 2"},
        {"cpu", "nanoseconds", "cpu", "SELECT cpu_ns FROM cpu WHERE profile_id = 3"},
        {"cpu", "microseconds", "cpu_samples", "SELECT v0 FROM samples WHERE profile_id = 4"},
        {"alloc_space", "kilobytes", "alloc_space", "SELECT v0 FROM samples WHERE profile_id = 5"},
        {"heap", "count", "heap_samples", "SELECT v0 FROM samples WHERE profile_id = 6"},
        {"delay", "nanoseconds", "delay", "SELECT v0 FROM samples WHERE profile_id = 7"}, /* contentions are missing */
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small small;
        make_small(&small, cases[i].type, cases[i].unit, (const int64_t[]){42}, 1);
        assert_int_equal(take(fixture, &small.profile), 0);
        assert_int_equal(ask(fixture, cases[i].table), 42);
        sqlite3_stmt *row =
            db_prepare(&fixture->db, "SELECT kind FROM profiles ORDER BY id DESC LIMIT 1", &fixture->err);
        assert_int_equal(db_step(&fixture->db, row, &fixture->err), 1);
        assert_string_equal(db_text(row, 0), cases[i].kind);
        sqlite3_reset(row);
    }
}

static void unused_mappings_are_kept(void **state) {
    struct fixture *fixture = *state;
    struct small small;
    Perftools__Profiles__Mapping mapping, *mappings[] = {&mapping};
    make_small(&small, "goroutine", "count", (const int64_t[]){1}, 1);
    perftools__profiles__mapping__init(&mapping);
    mapping.id = 3;
    mapping.memory_start = 4096;
    mapping.has_inline_frames = 1;
    small.profile.mapping = mappings;
    small.profile.n_mapping = 1;
    assert_int_equal(take(fixture, &small.profile), 0);
    assert_int_equal(ask(fixture,
                         "SELECT memory_start FROM mappings JOIN profiles ON mappings.id = profiles.mappings ->> 0"
                         " WHERE has_inline_frames AND NOT has_functions"),
                     4096);
}

static void wire_reads_what_it_must(void **state) {
    (void)state;
    static const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    struct wire wire = {largest, largest + sizeof largest};
    uint64_t value;
    assert_int_equal(wire_varint(&wire, &value), WIRE_OK);
    assert_true(value == UINT64_MAX);
    wire = (struct wire){too_long, too_long + sizeof too_long};
    assert_int_equal(wire_varint(&wire, &value), WIRE_TOO_LONG);
    wire = (struct wire){largest, largest + 9};
    assert_int_equal(wire_varint(&wire, &value), WIRE_CUT);
    static const uint8_t fixed[] = {0x4d, 1, 2, 3, 4}; /* field 9, four bytes */
    struct wire_field field;
    wire = (struct wire){fixed, fixed + sizeof fixed};
    assert_int_equal(wire_next(&wire, &field), WIRE_OK);
    assert_int_equal(field.number, 9);
    assert_int_equal(field.value, 0x04030201);
    assert_int_equal(wire_next(&wire, &field), WIRE_END);
    wire = (struct wire){fixed, fixed + 4};
    assert_int_equal(wire_next(&wire, &field), WIRE_CUT);
}

static void utf8_is_told_from_rubbish(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t size, bad;
    } cases[] = {
        {"plain ascii, longer than eight", 30, 30},
        {"gr\xc3\xbc\xc3\x9f", 6, 6},
        {"\xf0\x9f\x98\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"\xf4\x90\x80\x80", 4, 0},
        {"\xed\xa0\x80", 3, 0},
        {"\xe0\x80\x80", 3, 0},
        {"\xc0\xaf", 2, 0},
        {"abcdefgh\xc3", 9, 8},
        {"12345678\0abcdefg", 16, 8},
        {"\x80", 1, 0},
        {"a\xe2\x82", 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_bad_byte(cases[i].text, cases[i].size), cases[i].bad);
}

static void sums_are_sorted_and_keep_maxima(void **state) {
    (void)state;
    struct sums sums;
    sums_init(&sums, 1, 2, 1u << 2); /* key, sum, greatest */
    for (int64_t i = 0; i < 1000; i++) {
        const int64_t row[] = {999 - i % 500, i, i % 7};
        assert_int_equal(sums_add(&sums, row), 0);
    }
    sums_sort(&sums);
    assert_int_equal(sums.count, 500);
    for (size_t i = 0; i < sums.count; i++) {
        const int64_t *row = sums.cells + i * 3, first = 999 - row[0], second = first + 500;
        assert_int_equal(row[0], 500 + (int64_t)i);
        assert_int_equal(row[1], first + second);
        assert_int_equal(row[2], first % 7 > second % 7 ? first % 7 : second % 7);
    }
    sums_free(&sums);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_samples_are_summed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extreme_values_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sum_beyond_64_bits_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_bytes_are_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kinds_follow_the_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unused_mappings_are_kept, set_up, tear_down),
        cmocka_unit_test(wire_reads_what_it_must),
        cmocka_unit_test(utf8_is_told_from_rubbish),
        cmocka_unit_test(sums_are_sorted_and_keep_maxima),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
