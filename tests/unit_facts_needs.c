/* schema/facts_needs.c and the lines `-- Needs` of schema/facts: a statement that is left out for a run would have made no row of it; and a section
 * of `doctor` that is left out (views/doctor.sql) no finding. Tried on runs
 * of one kind of profile alone, and on runs of all kinds but one.
 * build: plain
 * Its subject is SQL; what asks it runs with the sanitizers in unit_event_facts and doctor_views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "schema/facts_needs.h"
#include "schema/schema.h"
#include "tests/unit_warehouse.h"

/* A table, and the kind of its profiles. */
static const struct {
    const char *table, *kind;
} kinds[] = {
    {"sites", "heap"},
    {"site_details", "heap"},
    {"heap_peaks", "heap-peak"},
    {"leaks", "leak"},
    {"locks", "lock"},
    {"locks", "wait"},
    {"io", "io"},
    {"maps", "mmap"},
    {"spins", "spin"},
    {"thread_starts", "threads"},
    {"cells", "mvcc"},
    {"channels", "channels"},
    {"cpu", "cpu"},
    {"samples", "c2c"},
    {"fibers", "fibers"},
    {"schedulers", "fibers"},
    {"task_sites", "fibers"},
    {"syscalls", "syscalls"},
    {"counters", "counters"},
    {"spin_loops", "cpu"},
    {"thread_delays", "heap"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void make_names(void) {
    ran("INSERT INTO mappings(id, filename) VALUES (1, '/app/program');"
        "INSERT INTO functions(id, name, filename) VALUES (1, 'work', '/app/work.c');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 4096);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 7);"
        "INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (1, 1, 1, '[1]', 1, 1, "
        "7);"
        "INSERT INTO label_sets(id, labels) VALUES (1, '[[\"tid\",1]]');"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'name:a', 'a')");
}

/* What a column has: an id where it names a row, else a number that is large enough for every threshold. */
static const char *value_of(const char *column, const char *type) {
    if (strcmp(column, "profile_id") == 0 || strcmp(column, "process_id") == 0) return ":owner";
    if (strcmp(column, "kind") == 0) return "iif(:kind = 'wait', 'cond', 'mutex')";
    if (strstr(column, "_id")) return "1";
    if (strncmp(column, "free_", strlen("free_")) == 0) return "0";
    return strcmp(type, "TEXT") == 0 ? "'[1]'" : "1000000";
}

/* One row of a table; `run` is the id of the run, its process and, with the place of the kind, of the profile, too. */
static void add_row(int run, int kind) {
    struct error err = {0};
    struct buffer sql = {0}, values = {0};
    const int owner = run * 100 + kind;
    char profile[256], tables[128];
    snprintf(
        profile, sizeof profile,
        "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES (%d, %d, %d, '%s', 1000, 900)",
        owner, run, run, kinds[kind].kind);
    ran(profile);
    snprintf(tables, sizeof tables, "SELECT name, type FROM pragma_table_info('%s')", kinds[kind].table);
    sqlite3_stmt *column = db_prepare(&db, tables, &err);
    bool of_process = false;
    buffer_printf(&sql, "INSERT INTO %s(", kinds[kind].table);
    while (db_step(&db, column, &err) == 1) {
        buffer_printf(&sql, "%s%s", values.size ? ", " : "", db_text(column, 0));
        buffer_printf(&values, "%s%s", values.size ? ", " : "", value_of(db_text(column, 0), db_text(column, 1)));
        of_process = of_process || strcmp(db_text(column, 0), "process_id") == 0;
    }
    buffer_printf(&sql, ") VALUES (%s)", buffer_text(&values));
    sqlite3_stmt *insert = db_prepare(&db, buffer_text(&sql), &err);
    if (!insert) fail_msg("%s", err.message);
    db_bind_int(insert, ":owner", of_process ? run : owner);
    if (sqlite3_bind_parameter_index(insert, ":kind")) db_bind_text(insert, ":kind", kinds[kind].kind);
    if (db_run(&db, insert, &err)) fail_msg("%s: %s", buffer_text(&sql), err.message);
    buffer_free(&sql);
    buffer_free(&values);
}

/* `only`: a run of this kind alone; else of all but `but`. */
static void make_run(int run, int only, int but) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "INSERT INTO runs(id, uuid, source, started_ns, duration_ns) VALUES (%d, 'u%d', 'profile', 0, 1000000000);"
             "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES (%d, %d, 7, 1, "
             "'/app/program', 0, 1000000000)",
             run, run, run, run);
    ran(sql);
    for (int kind = 0; kind < KINDS; kind++)
        if (only < 0 ? kind != but : kind == only) add_row(run, kind);
}

static int tried, left_out;

/* Runs a statement that was left out for the run, with what the statements before it have made. */
static void expect_no_row(const char *file, const char *sql, int run) {
    struct error err = {0};
    bool met = true;
    if (!strstr(sql, "-- Needs ")) return;
    if (facts_needs_met(&db, sql, run, &met, &err)) fail_msg("%s: %s", file, err.message);
    tried++;
    if (met) return;
    left_out++;
    sqlite3_stmt *statement = db_prepare(&db, sql, &err);
    if (!statement) fail_msg("%s: %s", file, err.message);
    if (sqlite3_bind_parameter_index(statement, ":run")) db_bind_int(statement, ":run", run);
    const sqlite3_int64 before = sqlite3_total_changes64(db.handle);
    if (db_run(&db, statement, &err)) fail_msg("%s: %s", file, err.message);
    if (sqlite3_total_changes64(db.handle) != before)
        fail_msg("run %d, schema/%s: is left out, and makes rows: %s", run, file, sql);
}

static size_t shortest = SIZE_MAX, longest;
static int64_t most;

static void expect_needed_sections(int run) {
    size_t size;
    const int64_t found = expect_findings_of_the_view(run, &size);
    if (size < shortest) shortest = size;
    if (size > longest) longest = size;
    if (found > most) most = found;
}

static void expect_no_rows(int run) {
    struct error err = {0};
    static const char fill[] = "\n-- Fill\n";
    if (facts_seal(&db, run, &err)) fail_msg("%s", err.message);
    expect_needed_sections(run);
    for (const struct embedded *file = embedded_files; file->name; file++) {
        const char *at = strncmp(file->name, "facts/", strlen("facts/")) == 0 ? strstr(file->text, fill) : NULL;
        for (const char *end; at && (end = strstr(at, ";\n")); at = end + 1) {
            char *sql = strndup(at, (size_t)(end - at));
            expect_no_row(file->name, sql, run);
            free(sql);
        }
    }
}

static void left_out_statements_make_no_rows(void **state) {
    (void)state;
    make_names();
    make_run(1, KINDS, -1);
    expect_no_rows(1);
    assert_true(tried > 60);
    assert_int_equal(left_out, tried); /* a run without any row needs none of them */
    for (int kind = 0; kind < KINDS; kind++) {
        make_run(10 + kind, kind, -1);
        expect_no_rows(10 + kind);
        make_run(50 + kind, -1, kind);
        expect_no_rows(50 + kind);
    }
    assert_true(shortest + 1000 < longest && most > 5);
    tried = left_out = 0;
    make_run(5, -1, -1);
    expect_no_rows(5);
    assert_true(left_out * 3 < tried); /* nor does the case leave out what it would try */
}

static void all_lines_must_hold_and_one_name_of_each(void **state) {
    (void)state;
    struct error err = {0};
    bool met = true;
    ran("CREATE TEMP TABLE some(a); CREATE TEMP TABLE none(a); INSERT INTO some VALUES (1)");
    assert_int_equal(facts_needs_met(&db, "-- Needs none or some\nDELETE FROM none", 1, &met, &err), 0);
    assert_true(met);
    assert_int_equal(facts_needs_met(&db, "-- Needs some\n-- Needs none\nDELETE FROM none", 1, &met, &err), 0);
    assert_false(met);
    assert_int_equal(facts_needs_met(&db, "DELETE FROM none", 1, &met, &err), 0);
    assert_true(met);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(left_out_statements_make_no_rows, open_new, remove_it),
        cmocka_unit_test_setup_teardown(all_lines_must_hold_and_one_name_of_each, open_new, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
