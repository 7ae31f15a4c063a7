/* unit_kinds: what schema/kinds.c declares is what the tables, the queries of the kinds and the readers hold to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/read/pprof/sample_kind.h"
#include "schema/kinds.h"
#include "schema/schema.h"
#include "tests/unit_warehouse.h"

static size_t count_types(const struct kind *kind) {
    size_t count = 0;
    while (kind->types[count].type)
        count++;
    return count;
}

static void every_kind_is_complete(void **state) {
    (void)state;
    for (size_t id = 0; id < KIND_COUNT; id++) {
        const struct kind *kind = &kinds[id];
        bool has_default = false;
        assert_non_null(kind->name);
        assert_ptr_equal(kind_find(kind->name), kind);
        assert_true(kind_is_taken(kind->name) && !kind_is_table(kind->name));
        for (size_t i = 0; i < count_types(kind); i++) {
            assert_non_null(kind->types[i].unit);
            has_default |= strcmp(kind->types[i].type, kind->default_type) == 0;
        }
        assert_true(has_default);
        assert_true(*kind->period_type && *kind->period_unit);
        for (size_t i = 0; i < KIND_PARTS_MAX && kind->parts[i]; i++)
            assert_ptr_not_equal(kind_find(kind->parts[i]), &kinds[KIND_COUNT]);
    }
    assert_ptr_equal(kind_find("goroutine"), &kinds[KIND_COUNT]);
    assert_true(kind_is_taken("counters") && !kind_is_taken("goroutine"));
    assert_string_equal(kind_stored("mutex"), "lock");
    assert_string_equal(kind_stored("goroutine"), "goroutine");
}

static void check_type(const struct kind *kind, size_t index, const char *name) {
    char wanted[64] = "";
    if (index < count_types(kind))
        snprintf(wanted, sizeof wanted, "%s/%s", kind->types[index].type, kind->types[index].unit);
    assert_string_equal(name, wanted);
}

/* Labels may have units too. */
static bool is_type(const char *column) {
    return strchr(column, '/') && strncmp(column, "label:", strlen("label:")) != 0;
}

/* The columns TYPE/UNIT of its query, against a warehouse of the tables that there are: the types, in order. */
static void queries_give_the_types(void **state) {
    (void)state;
    for (const struct kind *kind = kinds; kind->name; kind++) {
        struct error err = {0};
        size_t found = 0;
        if (!kind->query) continue;
        sqlite3_stmt *rows = db_prepare(&db, embedded_text(kind->query), &err);
        if (!rows) fail_msg("%s: %s", kind->query, err.message);
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            if (is_type(sqlite3_column_name(rows, i))) check_type(kind, found++, sqlite3_column_name(rows, i));
        assert_int_equal(found, count_types(kind));
    }
}

/* A kind without a query has a table, and each of a table's types a column; SQLite knows them all. */
static void tables_have_the_columns(void **state) {
    (void)state;
    for (size_t id = 0; id <= KIND_COUNT; id++) {
        const struct kind *kind = &kinds[id];
        struct buffer sql = {0};
        struct error err = {0};
        assert_true(kind->table || kind->query);
        if (!kind->table) continue;
        buffer_printf(&sql, "trace_id, %s", kind->label_set_id);
        for (size_t i = 0; i < count_types(kind); i++)
            buffer_printf(&sql, ", %s", kind->types[i].column);
        char *select = xasprintf("%s %s %s %s %s", "SELECT", buffer_text(&sql), "FROM", kind->table,
                                 "WHERE profile_id = :profile");
        if (!db_prepare(&db, select, &err)) fail_msg("%s: %s", select, err.message);
        free(select);
        buffer_free(&sql);
    }
}

/* As profiles.sample_types has them, read back by SQLite. */
static void types_are_json(void **state) {
    (void)state;
    struct buffer json = {0};
    struct error err = {0};
    kind_add_types(&json, &kinds[KIND_CHANNELS]);
    sqlite3_stmt *rows = db_prepare(&db, "SELECT value ->> 0, value ->> 1 FROM json_each(:json) ORDER BY key", &err);
    assert_non_null(rows);
    db_bind_text(rows, ":json", buffer_text(&json));
    for (size_t i = 0; i < count_types(&kinds[KIND_CHANNELS]); i++) {
        assert_int_equal(db_step(&db, rows, &err), 1);
        assert_string_equal(db_text(rows, 0), kinds[KIND_CHANNELS].types[i].type);
        assert_string_equal(db_text(rows, 1), kinds[KIND_CHANNELS].types[i].unit);
    }
    assert_int_equal(db_step(&db, rows, &err), 0);
    buffer_free(&json);
}

/* Profiles with sample types of ours go into the tables of that kind; the names of our kinds are never given to others. */
static void ingested_types_find_their_kind(void **state) {
    (void)state;
    static const struct {
        struct ingest_type types[KIND_TYPES_MAX];
        size_t count;
        const char *name;
        enum kind_id id;
        int64_t period;
        struct ingest_type period_type;
    } cases[] = {
        {{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}},
         4,
         "heap",
         KIND_HEAP},
        {{{"inuse_space", "bytes"}}, 1, "heap", KIND_HEAP},
        {{{"space", "bytes"}, {"objects", "count"}}, 2, "heap", KIND_HEAP},
        {{{"space", "bytes"}}, 1, "space", KIND_COUNT},
        {{{"objects", "count"}, {"alloc_space", "bytes"}}, 2, "objects", KIND_COUNT},
        {{{"contentions", "count"}, {"delay", "nanoseconds"}}, 2, "lock", KIND_LOCK},
        {{{"contentions", "count"}, {"delay", "nanoseconds"}, {"hold", "nanoseconds"}}, 3, "contentions", KIND_COUNT},
        {{{"cpu", "nanoseconds"}}, 1, "cpu", KIND_CPU},
        {{{"cpu", "microseconds"}}, 1, "cpu_samples", KIND_COUNT},
        {{{"samples", "count"}}, 1, "samples", KIND_COUNT},
        {{{"samples", "count"}}, 1, "samples", KIND_COUNT, 0, {"cpu", "nanoseconds"}},
        {{{"samples", "count"}}, 1, "samples", KIND_COUNT, 1000, {"wall", "nanoseconds"}},
        {{{"samples", "count"}}, 1, "samples", KIND_COUNT, 1000, {"cpu", "count"}},
        {{{"samples", "count"}, {"wall", "nanoseconds"}}, 2, "samples", KIND_COUNT, 1000, {"cpu", "nanoseconds"}},
        {{{"samples", "count"}}, 1, "cpu", KIND_CPU, 1000, {"cpu", "nanoseconds"}},
        {{{"calls", "count"}, {"bytes", "bytes"}, {"time", "nanoseconds"}}, 3, "io", KIND_IO},
        {{{"calls", "count"}, {"time", "nanoseconds"}}, 2, "calls", KIND_COUNT},
        {{{"started", "count"}, {"lifetime", "nanoseconds"}}, 2, "threads", KIND_THREADS},
        {{{"started", "count"}}, 1, "started", KIND_COUNT},
        {{{"peak_objects", "count"}, {"peak_space", "bytes"}}, 2, "heap-peak", KIND_HEAP_PEAK},
        {{{"peak_space", "bytes"}}, 1, "peak_space", KIND_COUNT},
        {{{"lost_objects", "count"},
          {"lost_space", "bytes"},
          {"indirect_objects", "count"},
          {"indirect_space", "bytes"}},
         4,
         "leak",
         KIND_LEAK},
        {{{"mapped_objects", "count"}, {"mapped_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}},
         4,
         "mmap",
         KIND_MMAP},
        {{{"allocated", "count"}, {"freed", "count"}, {"freed_same_thread", "count"}}, 3, "lifetimes", KIND_LIFETIMES},
        {{{"mutex", "count"}}, 1, "mutex_samples", KIND_COUNT},
        {{{"goroutine", "count"}}, 1, "goroutine", KIND_COUNT},
    };
    struct arena names = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pprof_kind kind;
        struct pprof_types types = {cases[i].types, cases[i].count, cases[i].period_type, cases[i].period};
        if (!types.period_type.type) types.period_type = (struct ingest_type){"", ""};
        pprof_kind_find(&kind, &types, &names);
        assert_string_equal(kind.name, cases[i].name);
        assert_int_equal(kind.id, cases[i].id);
    }
    arena_free(&names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_complete),
        cmocka_unit_test_setup_teardown(queries_give_the_types, open_new, remove_it),
        cmocka_unit_test_setup_teardown(tables_have_the_columns, open_new, remove_it),
        cmocka_unit_test_setup_teardown(types_are_json, open_new, remove_it),
        cmocka_unit_test(ingested_types_find_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
