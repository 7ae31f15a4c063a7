/* The diagnoses (schema/doctor): which code fires, and how severe it is, one below, at and above each threshold. Expected
 * codes are reasoned from the conditions in DESIGN.md section 7, in which percentages are rounded to whole numbers
 * before they are compared: 79.5 % is 80 %. Locks and what is common to all sections: tests/unit_schema.c.
 * build: plain
 * Its subject is SQL; facts, diagnoses and the connection run with the sanitizers in unit_event_facts, unit_db and doctor_views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "export/run_rows.h"
#include "ingest/read/ingest.h"
#include "schema/diagnoses.h"
#include "tests/unit_warehouse.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    char *sql = NULL;
    va_list args;
    va_start(args, format);
    assert_true(vasprintf(&sql, format, args) > 0);
    va_end(args);
    ran(sql);
    free(sql);
}

/* All rows, "a b;c d": columns apart by a blank, rows by a semicolon. free() it. */
static char *rows_of(const char *sql) {
    char *rows = rows_with(sql, ' ', ';');
    if (*rows) rows[strlen(rows) - 1] = '\0';
    return rows;
}

static void expect_rows(const char *sql, const char *expected) {
    db_limit(&db, INT64_C(60000000000)); /* as the doctor reads: views of users may call what the guard allows */
    char *got = rows_of(sql);
    db_unlimit(&db);
    assert_string_equal(got, expected);
    free(got);
}

/* "code severity;..." of a run in a view, by code. */
static void expect_findings(const char *view, int run, const char *expected, const char *why) {
    char *sql = xasprintf("SELECT code, severity FROM %s WHERE run_id = %d ORDER BY code", view, run);
    char *got = rows_of(sql);
    if (strcmp(got, expected) != 0) fail_msg("%s: run %d, %s: got \"%s\", not \"%s\"", view, run, why, got, expected);
    free(got);
    free(sql);
}

/* ---- runs: each case is one, whole in one profile and again, as another run, in two windows of one process ------------- */

enum { WINDOWS_MAX = 2, SPLIT = 1000 }; /* run SPLIT + i is run i in two windows */

struct window {
    int run, profile, number, count;
};

/* What happened of `value` events in that window. */
static long long share(const struct window *window, int64_t value) {
    int64_t first = window->count == 1 ? value : value / 3;
    return window->number == 0 ? first : value - first;
}

/* Of a maximum: the windows tell it in the last one alone, in which it rose. */
static long long peak(const struct window *window, int64_t value) {
    return window->number == window->count - 1 ? value : 0;
}

typedef void put_window(const struct window *window, const void *item);

static void put_run(int run, const char *source, const char *kind, int windows, put_window *insert, const void *item) {
    put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 1, 1000000000, '%s');"
        "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (%d, %d, 1, 1, 'x', 1)",
        run, run, source, run, run);
    for (int i = 0; i < windows; i++) {
        struct window window = {run, run * WINDOWS_MAX + i, i, windows};
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, '%s')", window.profile, run, run,
            kind);
        insert(&window, item);
    }
}

static void put_case(size_t index, const char *kind, put_window *insert, const void *item) {
    put_run((int)index + 1, "profile", kind, 1, insert, item);
    put_run((int)index + 1 + SPLIT, "profile", kind, 2, insert, item);
}

static void expect_case(const char *view, size_t index, const char *expected, const char *why) {
    expect_findings(view, (int)index + 1, expected, why);
    expect_findings(view, (int)index + 1 + SPLIT, expected, why);
}

/* ---- channels -------------------------------------------------------------------------------------------------------- */

struct channel_case {
    const char *why;
    int64_t capacity, depth, pushes, push_blocked, pops, pop_blocked, push_ns, pop_ns;
    const char *expected;
};

static void put_channel(const struct window *window, const void *item) {
    const struct channel_case *channel = item;
    put("INSERT INTO channels VALUES (%d, 1, 1, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld)", window->profile,
        (long long)channel->capacity, share(window, channel->pushes), share(window, channel->pops),
        share(window, channel->push_blocked), share(window, channel->pop_blocked), peak(window, channel->depth),
        share(window, channel->push_ns), share(window, channel->pop_ns));
}

static const char channel_object[] =
    "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'channel', 'channel:1', 'channel#1'), "
    "    (2, 'channel', 'name:jobs', 'jobs')";

static void check_channels(const struct channel_case *cases, size_t count) {
    ran(channel_object);
    for (size_t i = 0; i < count; i++)
        put_case(i, "channels", put_channel, &cases[i]);
    for (size_t i = 0; i < count; i++)
        expect_case("doctor_channel", i, cases[i].expected, cases[i].why);
}

static void test_channel_codes(void **state) {
    (void)state;
    static const struct channel_case cases[] = {
        {"20 % of pushes, 80 % deep", 100, 80, 1000, 200, 1000, 0, 0, 0, "slow-consumer warning"},
        {"21 % of pushes, 81 % deep", 100, 81, 1000, 210, 1000, 0, 0, 0, "slow-consumer warning"},
        {"19.5 % of pushes rounds to 20", 100, 80, 2000, 390, 2000, 0, 0, 0, "slow-consumer warning"},
        {"19.4 % rounds to 19", 100, 100, 1000, 194, 1000, 0, 0, 0, "balanced ok"},
        {"79.5 % deep rounds to 80", 200, 159, 1000, 200, 1000, 0, 0, 0, "slow-consumer warning"},
        {"79.4 % deep rounds to 79", 500, 397, 1000, 200, 1000, 0, 0, 0, "backpressure warning"},
        {"20 % of pops, 49 % deep", 100, 49, 1000, 0, 1000, 200, 0, 0, "slow-producer warning"},
        {"19.5 % of pops rounds to 20", 100, 0, 2000, 0, 2000, 390, 0, 0, "slow-producer warning"},
        {"19.4 % of pops rounds to 19", 100, 0, 1000, 0, 1000, 194, 0, 0, "balanced ok"},
        {"49.4 % deep rounds to 49", 500, 247, 1000, 0, 1000, 200, 0, 0, "slow-producer warning"},
        {"49.5 % deep rounds to 50", 200, 99, 1000, 0, 1000, 200, 0, 0, "backpressure note"},
        {"both sides wait, full: the first wins", 100, 80, 1000, 200, 1000, 900, 0, 0, "slow-consumer warning"},
        {"both sides wait, nearly empty", 100, 10, 1000, 900, 1000, 200, 0, 0, "slow-producer warning"},
        {"both sides wait, half full", 100, 60, 1000, 200, 1000, 200, 0, 0, "backpressure warning"},
        {"unbounded, receivers wait", 0, 70, 1000, 0, 1000, 200, 0, 0, "slow-producer warning"},
        {"capacity unknown, senders wait", 0, 70, 1000, 200, 1000, 0, 0, 0, "backpressure warning"},
        {"never used", 10, 0, 0, 0, 0, 0, 0, 0, "balanced ok"},
        {"only pops were seen", 10, 0, 0, 0, 200, 100, 0, 0, "slow-producer warning"},
    };
    check_channels(cases, COUNT(cases));
}

/* Of a run of one second. Times are known where any is; else the number of waits counts. */
static void test_channel_severity(void **state) {
    (void)state;
    static const struct channel_case cases[] = {
        {"99 waits of unknown time", 10, 10, 400, 99, 400, 0, 0, 0, "slow-consumer note"},
        {"100 waits of unknown time", 10, 10, 400, 100, 400, 0, 0, 0, "slow-consumer warning"},
        {"1 ns below 1 ms", 10, 10, 400, 400, 400, 0, 999999, 0, "slow-consumer note"},
        {"1 ms in 3 waits", 10, 10, 3, 3, 3, 0, 1000000, 0, "slow-consumer warning"},
        {"49.49 % of the run", 10, 10, 400, 400, 400, 0, 494900000, 0, "slow-consumer warning"},
        {"49.5 % rounds to 50", 10, 10, 400, 400, 400, 0, 495000000, 0, "slow-consumer critical"},
        {"only receivers took time", 10, 10, 400, 400, 400, 400, 0, 900000000, "slow-consumer note"},
        {"9.49 % of the run starved", 10, 1, 400, 0, 400, 400, 0, 94900000, "slow-producer note"},
        {"9.5 % rounds to 10", 10, 1, 400, 0, 400, 400, 0, 95000000, "slow-producer warning"},
        {"starving all the time is no more than that", 10, 1, 400, 0, 400, 400, 0, 990000000, "slow-producer warning"},
        {"bursts: only receivers wait", 10, 10, 400, 0, 400, 400, 0, 990000000, "backpressure note"},
    };
    check_channels(cases, COUNT(cases));
}

/* Two channels of one place are two; one that has a name is one in every process of the run, whatever its number there. */
static void test_channel_identity(void **state) {
    (void)state;
    static const struct channel_case half = {"", 64, 64, 100, 10, 100, 90, 0, 0, ""};
    ran(channel_object);
    put_run(1, "profile", "channels", 1, put_channel, &half);
    ran("UPDATE channels SET channel = 7; INSERT INTO channels SELECT profile_id, 1, 8, capacity, pushes, pops, "
        "push_blocked, "
        "pop_blocked, 3, 0, 0 FROM channels; INSERT INTO channels SELECT profile_id, 2, channel, capacity, pushes, "
        "pops, "
        "push_blocked, pop_blocked, max_depth, 0, 0 FROM channels");
    expect_rows(
        "SELECT subject, channel, pushes, max_depth, depth_percent, pop_blocked_percent, code FROM doctor_channel "
        "ORDER BY subject, channel",
        "channel#1 7 100 64 100 90 backpressure;channel#1 8 100 3 5 90 slow-producer;jobs 0 200 64 100 90 "
        "backpressure");
    expect_rows("SELECT DISTINCT trace_ids FROM doctor_channel", "[]");
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (3, 3, 3, '[]'); UPDATE objects SET trace_id = 3 WHERE "
        "id = 1");
    expect_rows("SELECT DISTINCT subject, trace_ids FROM doctor_channel ORDER BY 1", "channel#1 [3];jobs []");
}

/* ---- fibers ---------------------------------------------------------------------------------------------------------- */

struct fiber_case {
    const char *why;
    int64_t fibers, very_short, runs[3]; /* runs of schedulers; -1: there is none such */
    const char *expected;
};

static void put_fibers(const struct window *window, const void *item) {
    const struct fiber_case *fibers = item;
    put("INSERT INTO fibers VALUES (%d, %lld, %lld, %lld, 5000, 70)", window->profile, share(window, fibers->fibers),
        share(window, fibers->very_short), share(window, fibers->very_short));
    for (int i = 0; i < 3; i++)
        if (fibers->runs[i] >= 0)
            put("INSERT INTO schedulers VALUES (%d, %d, %lld)", window->profile, i, share(window, fibers->runs[i]));
}

static void test_fiber_codes(void **state) {
    (void)state;
    static const struct fiber_case cases[] = {
        {"50 fibers, 25 of them short", 50, 25, {-1, -1, -1}, "micro-fibers note"},
        {"49 fibers are too few", 49, 49, {-1, -1, -1}, ""},
        {"49.5 % rounds to 50", 1000, 495, {-1, -1, -1}, "micro-fibers warning"},
        {"49.4 % rounds to 49", 1000, 494, {-1, -1, -1}, ""},
        {"999 fibers", 999, 999, {-1, -1, -1}, "micro-fibers note"},
        {"no fibers", 0, 0, {-1, -1, -1}, ""},
        {"80 % on one of two", 1000, 0, {200, 800, -1}, "imbalance warning"},
        {"79.5 % rounds to 80", 1000, 0, {205, 795, -1}, "imbalance warning"},
        {"79.4 % rounds to 79", 1000, 0, {206, 794, -1}, ""},
        {"999 runs", 999, 0, {999, 0, -1}, "imbalance note"},
        {"one scheduler has nobody to share with", 1000, 0, {1000, -1, -1}, ""},
        {"three, evenly", 999, 0, {333, 333, 333}, ""},
        {"schedulers that ran nothing", 0, 0, {0, 0, -1}, ""},
        {"both, of unlike things", 1000, 500, {10, 20, 970}, "imbalance warning;micro-fibers warning"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "fibers", put_fibers, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_fibers", i, cases[i].expected, cases[i].why);
    expect_rows(
        "SELECT subject, busiest_scheduler, busiest_runs, busiest_percent, sites FROM doctor_fibers WHERE run_id = 14 "
        "AND code = 'imbalance'",
        "scheduler 2 2 970 97 []");
}

/* An imbalance names the sites that spawn to their own scheduler and have 0.80 of their runs on one, in two windows. */
static void test_fiber_sites(void **state) {
    (void)state;
    static const struct fiber_case uneven = {"", 1000, 0, {900, 100, -1}, ""};
    put_run(1, "x.profile", "fibers", 2, put_fibers, &uneven);
    ran("INSERT INTO task_sites(profile_id, site, dispatch, kind, line, column, schedulers) VALUES "
        "    (2, 12, 'local', 'BG', 8, 5, '{\"0\":39,\"1\":11}'), (3, 12, 'local', '', 0, 0, '{\"0\":41,\"1\":9}')," /* 80 of 100 */
        "    (2, 3, 'local', '', 9, 5, '{\"0\":799,\"1\":201}')," /* 0.799 */
        "    (2, 4, 'parallel', 'BG', 10, 5, '{\"0\":100}'), (2, 5, '', 'BG', 11, 5, '{\"0\":100}'),"
        "    (2, 6, 'local', 'BG', 12, 5, '{}'),"              /* never ran */
        "    (2, 2, 'local', '', 0, 0, '{\"0\":1,\"1\":5}')"); /* 0.833 */
    expect_rows("SELECT subject, sites FROM doctor_fibers",
                "task site 2, task site 12 (BG at line 8) "
                "[{\"site\":2,\"line\":0,\"column\":0,\"runs\":6,\"skew\":0.833},"
                "{\"site\":12,\"line\":8,\"column\":5,\"runs\":100,\"skew\":0.8}]");
    ran("INSERT INTO source_texts VALUES (1, 'h', 't'); INSERT INTO sources VALUES (1, '/src/ledger.cht', 'source', 1),"
        "    (1, '/src/transpiled.zig', 'transpiled', 1)");
    expect_rows("SELECT subject FROM doctor_fibers", "task site 2, task site 12 (BG at ledger.cht:8)");
}

/* ---- cells ----------------------------------------------------------------------------------------------------------- */

struct cell_case {
    const char *why;
    int64_t size, reads, commits, multi, retries, failures;
    const char *expected;
};

static void put_cell(const struct window *window, const void *item) {
    const struct cell_case *cell = item;
    put("INSERT INTO cells VALUES (%d, 1, 64, 0, %lld, %lld, %lld, %lld, %lld, %lld)", window->profile,
        (long long)cell->size, share(window, cell->reads), share(window, cell->commits), share(window, cell->multi),
        share(window, cell->retries), share(window, cell->failures));
}

static void test_cell_codes(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    static const struct cell_case cases[] = {
        {"10,000 commits, 100,000,000 bytes", 10000, MANY, 10000, 1, 0, 0, "cow-thrash warning"},
        {"10,000 bytes fewer", 9999, MANY, 10000, 1, 0, 0, "ok ok"},
        {"9,999 commits", 20000, MANY, 9999, 1, 0, 0, "ok ok"},
        {"256 bytes, 100,000,000 bytes", 256, MANY, 390625, 1, 0, 0, "cow-thrash warning"},
        {"255 bytes, 102,000,000 bytes", 255, MANY, 400000, 1, 0, 0, "ok ok"},
        {"what was copied in vain counts", 5000, MANY, 10000, 1, 10000, 0, "cow-thrash warning"},
        {"one byte below 10 GB", 99999, MANY, 100000, 1, 0, 0, "cow-thrash warning"},
        {"10 GB", 100000, MANY, 100000, 1, 0, 0, "cow-thrash critical"},
        {"1,000 commits, 999 reads", 8, 999, 1000, 1, 0, 0, "misuse warning"},
        {"1,000 commits, 1,000 reads", 8, 1000, 1000, 1, 0, 0, "ok ok"},
        {"999 commits, no reads", 8, 0, 999, 1, 0, 0, "ok ok"},
        {"cow-thrash comes before misuse", 10000, 0, 10000, 1, 0, 0, "cow-thrash warning"},
        {"misuse comes before high-retry", 8, 0, 1000, 1, 5000, 3, "misuse warning"},
        {"1,000 retries of 1,000 commits", 8, 2000, 1000, 1, 1000, 0, "high-retry warning"},
        {"999 of 999: few", 8, 2000, 999, 1, 999, 0, "high-retry note"},
        {"999 of 1,000 is 0.999, and not rounded", 8, 2000, 1000, 1, 999, 0, "ok ok"},
        {"high-retry comes before exhausted", 8, 2000, 1000, 0, 1000, 1, "high-retry warning"},
        {"one gave up", 8, 2000, 1000, 0, 0, 1, "exhausted warning"},
        {"nothing was ever committed", 8, 10, 0, 0, 64, 1, "exhausted warning"},
        {"1,000 reads, always alone", 8, 1000, 1, 0, 0, 0, "atomic-ptr-upgrade note"},
        {"1,000 commits, always alone", 8, 1000, 1000, 0, 0, 0, "atomic-ptr-upgrade note"},
        {"999 of each", 8, 999, 999, 0, 0, 0, "ok ok"},
        {"1,000 reads, once with another", 8, 1000, 1, 1, 0, 0, "ok ok"},
        {"never used", 8, 0, 0, 0, 0, 0, "ok ok"},
    };
    ran("INSERT INTO objects(id, kind, identity, name) VALUES (1, 'cell', 'symbol:x:table+0', 'x:table')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "mvcc", put_cell, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_cell", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT subject, retries_per_commit, cow_bytes, trace_ids FROM doctor_cell WHERE run_id = 14",
                "x:table 1.0 16000 []");
    /* Where many commits are no misuse, commits alone are reason enough. */
    ran("UPDATE rules SET value = 100000 WHERE name = 'cell_misuse_commits'; UPDATE cells SET commits = 1000, reads = "
        "0, multi_commits = 0,"
        " retries = 0, update_failures = 0, struct_size = 8 WHERE profile_id = 2;"
        "UPDATE cells SET commits = 999, reads = 0, multi_commits = 0, retries = 0, update_failures = 0, struct_size = "
        "8 "
        "WHERE profile_id = 4");
    expect_findings("doctor_cell", 1, "atomic-ptr-upgrade note", "1,000 commits");
    expect_findings("doctor_cell", 2, "ok ok", "999 commits");
}

/* Two callers of one cell are one subject, with both stacks. */
static void test_cell_sums_callers(void **state) {
    (void)state;
    static const struct cell_case half = {"", 64, 400, 500, 0, 0, 0, ""};
    ran("INSERT INTO objects(id, kind, identity, name) VALUES (1, 'cell', 'symbol:x:table+0', 'x:table');"
        "INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    put_run(1, "profile", "mvcc", 1, put_cell, &half);
    ran("UPDATE cells SET trace_id = 1; INSERT INTO cells SELECT profile_id, object_id, address, 2, struct_size, "
        "reads, "
        "commits, 0, 0, 0 FROM cells; INSERT INTO cells SELECT profile_id, object_id, 128, 2, struct_size, reads, "
        "commits, 0, "
        "0, 0 FROM cells WHERE trace_id = 1");
    expect_rows("SELECT address, code, commits, reads, trace_ids FROM doctor_cell ORDER BY address",
                "64 misuse 1000 800 [1,2];128 ok 500 400 [2]");
}

/* A run whose sums go beyond 64 bits has no findings of that kind, and all others. */
static void test_products_beyond_64_bits(void **state) {
    (void)state;
    ran("INSERT INTO runs(id, uuid, started_ns, source, flags) VALUES (1, 'a', 0, 'profile', 'unfinished');"
        "INSERT INTO profiles(id, run_id, kind) VALUES (1, 1, 'mvcc');"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'cell', 'a', 'a');"
        "INSERT INTO cells(profile_id, object_id, address, struct_size, reads, commits)"
        " VALUES (1, 1, 1, 4611686018427387904, 1, 8)");
    expect_rows("SELECT section, code FROM doctor ORDER BY 1, 2", "saturation unfinished");
}

/* ---- the processor --------------------------------------------------------------------------------------------------- */

enum { NOT_COUNTED = -1, CLOCK = 100000000 };

struct counter_case {
    const char *why;
    int64_t cycles, instructions, references, misses, loads, load_misses, branches, branch_misses;
    const char *expected;
};

static void put_counter(const struct window *window, const char *name, int64_t value) {
    if (value == NOT_COUNTED)
        put("INSERT INTO counters(profile_id, name, value) VALUES (%d, '%s', NULL)", window->profile, name);
    else
        put("INSERT INTO counters(profile_id, name, value) VALUES (%d, '%s', %lld)", window->profile, name,
            share(window, value));
}

static void put_counters(const struct window *window, const void *item) {
    const struct counter_case *counters = item;
    put_counter(window, "cycles:u", counters->cycles);
    put_counter(window, "instructions:u", counters->instructions);
    put_counter(window, "cache-references:u", counters->references);
    put_counter(window, "cache-misses:u", counters->misses);
    put_counter(window, "LLC-loads", counters->loads);
    put_counter(window, "LLC-load-misses", counters->load_misses);
    put_counter(window, "branches", counters->branches);
    put_counter(window, "branch-misses", counters->branch_misses);
}

static void test_hardware_codes(void **state) {
    (void)state;
    static const struct counter_case cases[] = {
        {"0.99999999 a cycle", CLOCK, CLOCK - 1, 1000, 0, -1, -1, 1000, 0, "ipc-low warning"},
        {"1.0 a cycle", CLOCK, CLOCK, 1000, 0, -1, -1, 1000, 0, ""},
        {"1.99999999 a cycle", CLOCK, 2 * CLOCK - 1, 1000, 0, -1, -1, 1000, 0, ""},
        {"2.0 a cycle", CLOCK, 2 * CLOCK, 1000, 0, -1, -1, 1000, 0, "ipc-good ok"},
        {"10.4 % rounds to 10", CLOCK, CLOCK, 1000, 104, -1, -1, 1000, 0, ""},
        {"10.5 % rounds to 11", CLOCK, CLOCK, 1000, 105, -1, -1, 1000, 0, "llc-moderate note"},
        {"20.4 % rounds to 20", CLOCK, CLOCK, 1000, 204, -1, -1, 1000, 0, "llc-moderate note"},
        {"20.5 % rounds to 21", CLOCK, CLOCK, 1000, 205, -1, -1, 1000, 0, "llc-high warning"},
        {"the last level itself goes before cache-misses", CLOCK, CLOCK, 1000, 500, 1000, 50, 1000, 0, ""},
        {"and the other way round", CLOCK, CLOCK, 1000, 50, 1000, 500, 1000, 0, "llc-high warning"},
        {"loads without their misses say nothing", CLOCK, CLOCK, 1000, 500, 1000, -1, 1000, 0, "llc-high warning"},
        {"5.4 % rounds to 5", CLOCK, CLOCK, 1000, 0, -1, -1, 1000, 54, ""},
        {"5.5 % rounds to 6", CLOCK, CLOCK, 1000, 0, -1, -1, 1000, 55, "branch-high warning"},
        {"all three beside each other", CLOCK, 1, 1000, 900, -1, -1, 1000, 900,
         "branch-high warning;ipc-low warning;llc-high warning"},
        {"one cycle too short to say so", CLOCK - 1, 1, 1000, 900, -1, -1, 1000, 900,
         "branch-high note;ipc-low note;llc-high note"},
        {"cycles are not counted", -1, 1000, 1000, 900, -1, -1, 1000, 900, "branch-high warning;llc-high warning"},
        {"nothing is counted", -1, -1, -1, -1, -1, -1, -1, -1, ""},
        {"nothing happened", 0, 0, 0, 0, 0, 0, 0, 0, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "counters", put_counters, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_hardware", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT subject, counted, events, ratio FROM doctor_hardware WHERE run_id = 13",
                "branches 55 1000 0.055");
}

/* A hybrid processor counts the same event on two units, and each mode of execution can be asked for apart. */
static void test_counter_names(void **state) {
    (void)state;
    static const struct counter_case none = {"", -1, -1, -1, -1, -1, -1, -1, -1, ""};
    put_run(1, "profile", "counters", 1, put_counters, &none);
    ran("DELETE FROM counters; INSERT INTO counters(profile_id, name, value) VALUES (2, 'cpu_core/cycles/u', 10), "
        "(2, 'cpu_atom/cycles/', 20), (2, 'cycles:k', 30), (2, 'cpu_core/instructions/', 90), (2, "
        "'cpu_atom/instructions/', "
        "NULL), (2, 'branch-instructions', 1000), (2, 'branch-misses:uk', 60), (2, 'recorder.flush_ms', 5), (2, "
        "'page-faults', 3)");
    expect_rows("SELECT cycles, instructions, ipc, branch_miss_percent, llc_references IS NULL FROM hardware",
                "60 90 1.5 6 1");
}

/* ---- cache lines ----------------------------------------------------------------------------------------------------- */

/* Samples of two threads on one line of a run whose other line has the rest of 100 HITM. */
struct sharing_case {
    const char *why;
    int64_t own_hitm, common_hitm; /* at the address of the first thread alone, and at one that both use */
    bool is_one_thread;
    const char *expected;
};

static int labels_of(const char *line, int address, int thread, const char *access) {
    static int last = 100;
    last++;
    put("INSERT INTO label_sets VALUES (%d, '[[\"access\",\"%s\"],[\"address\",\"0x%d\"],[\"line\",\"%s\"],[\"pid\",7],"
        "[\"tid\",%d],[\"variable\",\"v%d\"]]')",
        last, access, address, line, thread, last);
    return last;
}

static void put_access(const struct window *window, int64_t labels, int64_t samples, int64_t hitm, int64_t latency) {
    put("INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1, v2) VALUES (%d, 1, %lld, %lld, %lld, %lld)",
        window->profile, (long long)labels, share(window, samples), share(window, hitm), share(window, latency));
}

static void put_sharing(const struct window *window, const void *item) {
    const struct sharing_case *sharing = item;
    int other = sharing->is_one_thread ? 1 : 2;
    put_access(window, labels_of("0x40", 1, 1, "load"), sharing->own_hitm, sharing->own_hitm, 100 * sharing->own_hitm);
    put_access(window, labels_of("0x40", 2, 1, "load"), sharing->common_hitm, sharing->common_hitm,
               100 * sharing->common_hitm);
    put_access(window, labels_of("0x40", 2, other, "store"), 50, 0, 0);
    put_access(window, labels_of("0x80", 9, 1, "load"), 100, 100 - sharing->own_hitm - sharing->common_hitm, 100);
}

static void test_sharing_codes(void **state) {
    (void)state;
    static const struct sharing_case cases[] = {
        {"all at the thread's own address", 90, 0, false, "false-sharing warning"},
        {"half of it", 45, 45, false, "false-sharing warning"},
        {"49.4 % rounds to 49", 42, 43, false, "true-sharing note"},
        {"all at a common address", 0, 90, false, "true-sharing note"},
        {"10 of 100", 10, 0, false, "false-sharing warning"},
        {"9 of 100", 9, 0, false, ""},
        {"one thread alone", 90, 0, true, ""},
    };
    ran("INSERT INTO functions(id, name, filename) VALUES (1, 'f', '1.c');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 1);"
        "INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (1, 1, 1, '[1]', 1, 1)");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "c2c", put_sharing, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_sharing", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT cache_line, hitm, hitm_percent, false_hitm, false_percent, stores, threads, addresses, "
                "latency_cycles, trace_ids "
                "FROM doctor_sharing WHERE run_id = 2",
                "0x40 90 90 45 50 50 2 2 100 [1]");
    ran("UPDATE rules SET value = 101 WHERE name = 'sharing_hitm_count'");
    expect_rows("SELECT count(*) FROM doctor_sharing", "0");
}

/* ---- scattered objects ----------------------------------------------------------------------------------------------- */

struct freeze_case {
    const char *why;
    int64_t misses, allocs, bytes; /* misses: of 1000 references */
    const char *function, *expected;
};

static void put_freeze(const struct window *window, const void *item) {
    const struct freeze_case *site = item;
    put_counter(window, "cache-references:u", 1000);
    put_counter(window, "cache-misses:u", site->misses);
    put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (%d, %d, %lld, %lld)",
        window->profile, window->run % SPLIT, share(window, site->allocs), share(window, site->bytes));
}

static void test_freeze(void **state) {
    (void)state;
    static const struct freeze_case cases[] = {
        {"20 % misses, 5,000 of 210 B: over 1 MiB", 200, 5000, 1050000, "f", "freeze warning"},
        {"19.5 % rounds to 20", 195, 5000, 1050000, "f", "freeze warning"},
        {"19.4 % rounds to 19", 194, 5000, 1050000, "f", ""},
        {"4,999 blocks", 900, 4999, 1050000, "f", ""},
        {"a byte below 1 MiB", 200, 5000, 1048575, "f", "freeze note"},
        {"1 MiB", 200, 5000, 1048576, "f", "freeze warning"},
        {"16 B in the mean", 200, 5000, 80000, "f", "freeze note"},
        {"a bit less than 16 B", 200, 5000, 79999, "f", ""},
        {"512 B in the mean", 200, 5000, 2560000, "f", "freeze warning"},
        {"a bit more than 512 B", 200, 5000, 2560001, "f", ""},
        {"a string helper", 200, 5000, 1050000, "concat", ""},
        {"of a module", 200, 5000, 1050000, "CheatLib.charAtCodepoint", ""},
        {"of a namespace, with arguments", 200, 5000, 1050000, "rt::intToString(long)", ""},
        {"with arguments", 200, 5000, 1050000, "floatToString(double)", ""},
        {"the allocator of strings", 200, 5000, 1050000, "smartAlloc", ""},
        {"a name that only ends like one", 200, 5000, 1050000, "myconcat", "freeze warning"},
        {"a name that only begins like one", 200, 5000, 1050000, "concatenate", "freeze warning"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        put("INSERT INTO functions(id, name, filename) VALUES (%zu, '%s', '%zu.c');"
            "INSERT INTO locations(id, mapping_id, address) VALUES (%zu, 0, %zu);"
            "INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (%zu, 1, 1, '[%zu]', %zu, "
            "%zu)",
            i + 1, cases[i].function, i, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1);
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "heap", put_freeze, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_freeze", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT section, subject, trace_ids, llc_miss_percent, mean_bytes FROM doctor_freeze WHERE run_id = 1",
                "freeze f [1] 20 210.0");
    ran("DELETE FROM counters"); /* without counters nobody knows */
    expect_rows("SELECT count(*) FROM doctor_freeze", "0");
}

/* ---- allocation sites ------------------------------------------------------------------------------------------------ */

struct site_case {
    const char *why, *source;
    int64_t allocs, bytes, freed, others; /* freed: of allocs; others: blocks of 1 kB of another site, freed */
    const char *expected;
};

static void put_sites(const struct window *window, const void *item) {
    const struct site_case *site = item;
    put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
        "(%d, 1, %lld, %lld, %lld, %lld), (%d, 2, %lld, %lld, %lld, 1000)",
        window->profile, share(window, site->allocs), share(window, site->bytes), share(window, site->freed),
        share(window, site->freed ? site->bytes / site->allocs * site->freed : 0), window->profile,
        share(window, site->others), 1000 * share(window, site->others), share(window, site->others));
}

static void test_tiny_blocks(void **state) {
    (void)state;
    static const struct site_case cases[] = {
        {"recorded: 1,000 of 8 B, all freed", "profile", 1000, 8000, 1000, 0, "arena note"},
        {"recorded: 999", "profile", 999, 7992, 999, 0, ""},
        {"recorded: 16 B in the mean", "profile", 1000, 16000, 1000, 0, ""},
        {"recorded: a bit less than 16 B", "profile", 1000, 15999, 1000, 0, "arena note"},
        {"recorded: live at exit", "profile", 1000, 8000, 0, 0, "leak note"},
        {"recorded: 99 live at exit", "profile", 5000, 40000, 4901, 0, "arena warning"},
        {"recorded: 100 live at exit", "profile", 5000, 40000, 4900, 0, "leak note"},
        {"recorded: 99 live at exit, of 999", "profile", 999, 7992, 900, 0, "leak note"},
        {"recorded: 4,999", "profile", 4999, 39992, 4999, 0, "arena note"},
        {"recorded: 5,000", "profile", 5000, 40000, 5000, 0, "arena warning"},
        {"recorded: 5,000 of 52,910, 9.45 %, rounds to 9", "profile", 5000, 40000, 5000, 47910, "arena note"},
        {"recorded: 5,000 of 52,631, 9.50 %, rounds to 10", "profile", 5000, 40000, 5000, 47631, "arena warning"},
        {"dump: 5,000, none freed", "x.profile", 5000, 40000, 0, 0, "arena warning"},
        {"dump: 10, none freed", "x.profile", 10, 80, 0, 0, "arena note"},
        {"dump: all freed", "x.profile", 5000, 40000, 5000, 0, ""},
        {"dump: 1 MiB, none freed", "x.profile", 5000, 1048576, 0, 0, "rc warning"},
        {"dump: a byte less", "x.profile", 5000, 1048575, 0, 0, "rc note"},
        {"dump: 1 MiB in 99 blocks", "x.profile", 99, 1048576, 0, 0, "rc note"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_run((int)i + 1, cases[i].source, "heap", 1, put_sites, &cases[i]);
        put_run((int)i + 1 + SPLIT, cases[i].source, "heap", 2, put_sites, &cases[i]);
    }
    ran("UPDATE sites SET alloc_bytes = 0, free_bytes = 0 WHERE trace_id = 2 AND alloc_count = 0");
    ran("UPDATE runs SET duration_ns = 2500000"); /* 5,000 blocks of 50 ns are 10 % of it */
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("(SELECT * FROM doctor_heap WHERE trace_id = 1)", i, cases[i].expected, cases[i].why);
    ran("UPDATE runs SET duration_ns = 2500001");
    expect_case("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 5, "arena note",
                "recorded: less than 10 % of the run");
    expect_case("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 12, "arena warning",
                "a dump, whose run has no such cost");
    /* Of a program that got a tenth of a processor the CPU time counts. */
    ran("UPDATE runs SET duration_ns = 25000000; INSERT INTO profiles(id, run_id, kind) VALUES (9000, 6, 'cpu'); "
        "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (9000, 1, 1, 2500000)");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 6, "arena warning", "10 % of the CPU time");
    ran("UPDATE cpu SET cpu_ns = 2500001");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 6, "arena note", "less than that");
}

/* A million blocks that are freed at once, half of the site's; a warning where they cost 10 % of the run at 50 ns each. */
static void test_temporary_blocks(void **state) {
    (void)state;
    static const struct {
        struct site_case site;
        int64_t temporary, run_ms;
    } cases[] = {
        {{"400,000 of 100 B, 10 % of the run", "profile", 400000, 40000000, 400000, 0, "temporary warning"},
         400000,
         200},
        {{"9.95 %", "profile", 400000, 40000000, 400000, 0, "temporary note"}, 400000, 201},
        {{"one less", "profile", 400000, 40000000, 400000, 0, ""}, 399999, 200},
        {{"49.4 % of the blocks", "profile", 809717, 80971700, 809717, 0, ""}, 400000, 200},
        {{"49.5 % rounds to 50", "profile", 808080, 80808000, 808080, 0, "temporary warning"}, 400000, 200},
        {{"tiny ones need no arena", "profile", 400000, 3200000, 400000, 0, "temporary warning"}, 400000, 200},
        {{"99 are live", "profile", 400000, 40000000, 399901, 0, "temporary warning"}, 400000, 200},
        {{"100 are live", "profile", 400000, 40000000, 399900, 0, "leak note"}, 400000, 200},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_case(i, "heap", put_sites, &cases[i].site);
        put("INSERT INTO site_details(profile_id, trace_id, temporary_count) "
            "SELECT min(id), 1, %lld FROM profiles WHERE run_id %% %d = %zu GROUP BY run_id",
            (long long)cases[i].temporary, SPLIT, i + 1);
        put("UPDATE runs SET duration_ns = %lld WHERE id %% %d = %zu", (long long)cases[i].run_ms * 1000000, SPLIT,
            i + 1);
    }
    ran("UPDATE sites SET alloc_bytes = 0, free_bytes = 0 WHERE trace_id = 2 AND alloc_count = 0");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("(SELECT * FROM doctor_heap WHERE trace_id = 1)", i, cases[i].site.expected, cases[i].site.why);
}

/* A buffer that realloc makes a little larger a thousand times, or that is copied into a block that is. */
static void test_quadratic_growth(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int64_t steps, step_bytes, resize_growth; /* of realloc */
        int64_t replaced, copies, copy_bytes, copy_growth;
        const char *expected;
    } cases[] = {
        {"by realloc", 1000, 67108864, 4194304, 0, 0, 0, 0, "quadratic-growth warning"},
        {"one step less", 999, 67108864, 4194304, 0, 0, 0, 0, ""},
        {"a byte less", 1000, 67108863, 0, 0, 0, 0, 0, ""},
        {"15.9 times of what was added", 1000, 67108864, 4194305, 0, 0, 0, 0, ""},
        {"by copies", 0, 0, 0, 1000, 1000, 67108864, 4194304, "quadratic-growth warning"},
        {"one copy less", 0, 0, 0, 999, 999, 67108864, 4194304, ""},
        {"too large copies", 0, 0, 0, 1000, 1000, 67108864, 4194305, ""},
        {"90 % of the blocks that are replaced", 0, 0, 0, 2000, 1800, 67108864, 0, "quadratic-growth warning"},
        {"less than 90 %", 0, 0, 0, 2000, 1799, 67108864, 0, ""},
        {"by both", 500, 33554432, 0, 500, 500, 33554432, 0, "quadratic-growth warning"},
        {"a step less by realloc, and blocks that are replaced, not copied", 999, 67108864, 0, 2000, 1000, 67108864, 0,
         ""},
    };
    static const struct site_case site = {"", "profile", 10000, 80000000, 10000, 0, ""};
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_case(i, "heap", put_sites, &site);
        put("INSERT INTO site_details(profile_id, trace_id, realloc_bytes, resized_bytes, step_count, step_bytes, "
            "replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes) "
            "SELECT min(id), 1, %lld, 0, %lld, %lld, %lld, %lld, %lld, %lld FROM profiles WHERE run_id %% %d = %zu "
            "GROUP BY run_id",
            (long long)cases[i].resize_growth, (long long)cases[i].steps, (long long)cases[i].step_bytes,
            (long long)cases[i].replaced, (long long)cases[i].copies, (long long)cases[i].copy_bytes,
            (long long)cases[i].copy_growth, SPLIT, i + 1);
    }
    ran("UPDATE sites SET alloc_bytes = 0, free_bytes = 0 WHERE trace_id = 2 AND alloc_count = 0");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("(SELECT * FROM doctor_heap WHERE trace_id = 1)", i, cases[i].expected, cases[i].why);
}

/* What a process makes in its first window and keeps are tables of its start, where it lived on for long enough to tell. */
/* Blocks of which there were no more for long are a note by themselves; other rules are seen without that. */
static void judge_unsearched(void) {
    ran("UPDATE rules SET value = 0 WHERE name = 'leak_unsearched_ns'");
}

static void no_quiet_rule(void) {
    ran("UPDATE rules SET value = 1000 WHERE name = 'leak_quiet_percent'");
}

/* Two windows, in which a site got 300 blocks of 100 B and more; the process went on for `quiet_ms` after the second. */
static void test_quiet_sites(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int64_t second_ms, life_ms, late, freed; /* of the second window */
        const char *expected;
    } cases[] = {
        {"40 % of its life after the last rise", 600, 1000, 300, 0, "leak note"},
        {"a bit less", 601, 1000, 300, 0, "leak warning"},
        {"a life of less than a second", 500, 999, 300, 0, "leak warning"},
        {"freed late, which is no rise", 900, 1000, 0, 50, "leak note"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]');"
        "UPDATE rules SET value = 0 WHERE name = 'leak_start_percent'");
    judge_unsearched();
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        long long start = 1700000000000000000, second = start + (long long)cases[i].second_ms * 1000000;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 1, 1000000000, 'profile');"
            "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES "
            "(%d, %d, 1, 1, 'x', %lld, %lld);"
            "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES "
            "(%d, %d, %d, 'heap', %lld, 300000000), (%d, %d, %d, 'heap', %lld, 1000000)",
            run, run, run, run, start, start + (long long)cases[i].life_ms * 1000000, 2 * run, run, run,
            start + 300000000, 2 * run + 1, run, run, second);
        put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
            "(%d, 1, 300, 30000, 0, 0), (%d, 1, %lld, %lld, %lld, %lld)",
            2 * run, 2 * run + 1, (long long)cases[i].late, (long long)cases[i].late * 100, (long long)cases[i].freed,
            (long long)cases[i].freed * 100);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_heap", (int)i + 1, cases[i].expected, cases[i].why);
}

/* 200 blocks of 1,000 B, in two windows: what is lost of them where the process was searched, else by how long it lived. */
static void test_searched_or_lived(void **state) {
    (void)state;
    enum { UNSEARCHED = -1 };
    static const struct {
        const char *why;
        int64_t life_ms, lost, lost_bytes, elsewhere; /* life_ms 0: not known; elsewhere: live bytes of another site */
        const char *expected;
    } cases[] = {
        {"not searched, a millisecond less than 5 s", 4999, UNSEARCHED, 0, 210000, "leak note"},
        {"not searched, 5 s", 5000, UNSEARCHED, 0, 210000, "leak warning"},
        {"not searched, its end was not seen", 0, UNSEARCHED, 0, 210000, "leak note"},
        {"searched: none is lost", 5000, 0, 0, 0, "leak note"},
        {"9 blocks", 1000, 9, 100000, 0, "leak note"},
        {"10 blocks", 1000, 10, 100000, 0, "leak warning"},
        {"10 blocks, a byte short of 16 KiB", 1000, 10, 16383, 0, "leak note"},
        {"one block, a byte short of 1 MiB", 1000, 1, 1048575, 0, "leak note"},
        {"one block of 1 MiB", 1000, 1, 1048576, 0, "leak critical"},
        {"one block of 1 MiB, the site has 9.4 % of what is live", 1000, 1, 1048576, 1927659, "leak note"},
        {"the same, 9.5 %, which rounds to 10", 1000, 1, 1048576, 1905263, "leak critical"},
        {"not searched, a short life, 49.4 % of what is live", 1000, UNSEARCHED, 0, 204500, "leak note"},
        {"the same, 49.5 %, which rounds to 50", 1000, UNSEARCHED, 0, 204000, "leak warning"},
        {"not searched, its end was not seen, all that is live", 0, UNSEARCHED, 0, 0, "leak warning"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        long long start = 1700000000000000000, life = cases[i].life_ms * 1000000;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 1, 1000000000, 'profile');"
            "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES "
            "(%d, %d, 1, 1, 'x', %lld, nullif(%lld, %lld));"
            "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES "
            "(%d, %d, %d, 'heap', %lld, 2000000000), (%d, %d, %d, 'heap', %lld, 2000000000)",
            run, run, run, run, start, start + life, start, 3 * run, run, run, start + life / 2, 3 * run + 1, run, run,
            start + life);
        put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (%d, 1, 100, 100000), "
            "(%d, 1, 100, 100000), (%d, 2, 1, %lld)",
            3 * run, 3 * run + 1, 3 * run, (long long)cases[i].elsewhere);
        if (cases[i].lost != UNSEARCHED)
            put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'leak');"
                "INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes) VALUES (%d, 1, %lld, %lld)",
                3 * run + 2, run, run, 3 * run + 2, (long long)cases[i].lost, (long long)cases[i].lost_bytes);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", (int)i + 1, cases[i].expected, cases[i].why);
    ran("UPDATE rules SET value = 9 WHERE name = 'leak_lost_count'; UPDATE rules SET value = 4999000000 WHERE name = "
        "'leak_unsearched_ns'");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 1, "leak warning", "another life");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 5, "leak warning", "another number");
}

static void test_tables_of_the_start(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int64_t first_ms, life_ms; /* life_ms 0: its end was not seen */
        int64_t delay_ms;          /* from the start to where the first window begins: recording was off */
        int64_t early, late;       /* blocks of 100 B that were made and not freed in the first window, and after it */
        const char *expected;
    } cases[] = {
        {"all in the first half", 1000, 2000, 0, 300, 0, "leak note"},
        {"50.4 % rounds to 50", 1008, 2000, 0, 300, 0, "leak note"},
        {"50.5 % rounds to 51", 1010, 2000, 0, 300, 0, "leak warning"},
        {"the first window is all there is", 1000, 1000, 0, 300, 0, "leak warning"},
        {"99 after it", 1000, 4000, 0, 300, 99, "leak note"},
        {"100 after it", 1000, 4000, 0, 300, 100, "leak warning"},
        {"some of them freed later", 1000, 9000, 0, 300, -50, "leak note"},
        {"all after it", 1000, 4000, 0, 0, 300, "leak warning"},
        {"all after it, but not in the last two fifths", 1000, 9000, 0, 0, 300, "leak note"},
        {"its end was not seen", 1000, 0, 0, 300, 0, "leak warning"},
        {"a short first window of a long life", 100, 4000, 0, 300, 0, "leak note"},
        {"a short first window of a short life", 100, 1979, 0, 300, 0, "leak warning"},
        {"the second window ends in the first second", 900, 4000, 0, 0, 300, "leak note"},
        {"recording began a millisecond later", 1000, 4000, 1, 300, 0, "leak warning"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    no_quiet_rule();
    judge_unsearched();
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        long long start = 1700000000000000000, first = start + (cases[i].delay_ms + cases[i].first_ms) * 1000000;
        long long frees = cases[i].late < 0 ? -cases[i].late : 0, late = cases[i].late + frees;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 1, 1000000000, 'profile');"
            "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES "
            "(%d, %d, 1, 1, 'x', %lld, nullif(%lld, %lld));"
            "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES "
            "(%d, %d, %d, 'heap', %lld, %lld), (%d, %d, %d, 'heap', %lld, 1000000)",
            run, run, run, run, start, start + (long long)cases[i].life_ms * 1000000, start, 2 * run, run, run, first,
            (long long)cases[i].first_ms * 1000000, 2 * run + 1, run, run, first + 1000000);
        put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
            "(%d, 1, %lld, %lld, 0, 0), (%d, 1, %lld, %lld, %lld, %lld)",
            2 * run, (long long)cases[i].early, (long long)cases[i].early * 100, 2 * run + 1, late, late * 100, frees,
            frees * 100);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_heap", (int)i + 1, cases[i].expected, cases[i].why);
    expect_rows("SELECT inuse_count, process_inuse_count, grown_count, evidence ->> 'grown_count' FROM doctor_heap "
                "WHERE run_id IN (1, 3, 5, 7) ORDER BY run_id",
                "300 300 0 0;300 300 300 300;399 399 99 99;250 250 -50 -50");
    ran("UPDATE rules SET value = 49 WHERE name = 'leak_start_percent'");
    expect_findings("doctor_heap", 1, "leak warning", "another threshold");
}

/* What the windows of one process of a run say of a site: blocks of 1 kB that were made (positive) or freed in each of eight windows
 * of a second. */
struct growth_case {
    const char *why;
    int blocks[8];
    int signal, sample_n;
    const char *expected;
};

static void put_growth(int run, const struct growth_case *item) {
    put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source, exit_signal) VALUES "
        "(%d, 'u%d', 1, 8000000000, 'profile', nullif(%d, 0));"
        "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES (%d, %d, 1, 1, 'x', 1, "
        "8000000001)",
        run, run, item->signal, run, run);
    for (int i = 0; i < 8; i++) {
        int made = item->blocks[i] > 0 ? item->blocks[i] : 0, freed = made - item->blocks[i];
        put("INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, sample_n) VALUES "
            "(%d, %d, %d, 'heap', %lld, 1000000000, %d);"
            "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
            "(%d, 1, %d, %d, %d, %d)",
            8 * run + i, run, run, (i + 1) * 1000000000ll + 1, item->sample_n ? item->sample_n : 1, 8 * run + i, made,
            made * 1000, freed, freed * 1000);
    }
}

static void test_growth(void **state) {
    (void)state;
    static const struct growth_case cases[] = {
        {"rises, and is freed at the end", {50, 50, 50, 50, 50, 50, 50, -350}, 0, 0, "growth warning"},
        {"rises, and stays", {50, 50, 50, 50, 50, 50, 50, 50}, 0, 0, "leak warning"},
        {"rises until SIGTERM", {50, 50, 50, 50, 50, 50, 50, 50}, 15, 0, "growth warning"},
        {"rises until SIGSEGV", {50, 50, 50, 50, 50, 50, 50, 50}, 11, 0, "leak warning"},
        {"made in the middle, steady to SIGINT", {0, 0, 0, 300, 0, 0, 0, 0}, 2, 0, "leak note"},
        {"made in the middle, steady", {0, 0, 0, 300, 0, 0, 0, 0}, 0, 0, "leak note"},
        {"comes and goes, some stay", {300, -100, 300, -300, 300, -300, 300, -300}, 0, 0, "leak note"},
        {"a fortieth of it stays, and grows", {4000, 50, 50, 50, 50, 50, 50, -4200}, 0, 0, "growth warning"},
        {"rises by less than 64 KiB", {10, 10, 10, 10, 10, 10, 10, -70}, 0, 0, ""},
        {"a last quarter without", {50, 50, 50, 50, 50, 0, 0, -250}, 0, 0, ""},
        {"one sample of 100", {0, 0, 0, 0, 0, 0, 0, 100}, 0, 100, "leak note"},
        {"nine samples of 100, growing", {0, 0, 200, 200, 200, 200, 0, 100}, 0, 100, "leak note"},
        {"ten and more, growing", {0, 0, 200, 200, 200, 200, 200, 0}, 0, 100, "leak warning"},
        {"filled in two fifths", {0, 0, 0, 0, 0, 150, 150, 0}, 0, 0, "leak note"},
        {"filled in three fifths", {0, 0, 0, 100, 0, 100, 100, 0}, 0, 0, "leak warning"},
        {"hardly in the third", {0, 0, 0, 30, 0, 130, 140, 0}, 0, 0, "leak note"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_growth((int)i + 1, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_heap", (int)i + 1, cases[i].expected, cases[i].why);
    /* 200 kB of a peak of 20 MB are a hundredth of it, and of a byte less they are more: of the process that has most. */
    ran("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (1001, 1, 1, 'heap-peak'), (1002, 1, NULL, "
        "'heap-peak'); INSERT INTO heap_peaks VALUES (1001, 1, 1, 20000000), (1002, 1, 1, 1)");
    expect_rows("SELECT growth_bytes FROM heap_sites WHERE run_id = 1", "200000");
    expect_findings("doctor_heap", 1, "", "a hundredth of the peak");
    ran("UPDATE heap_peaks SET peak_bytes = 19999999 WHERE profile_id = 1001");
    expect_findings("doctor_heap", 1, "growth warning", "more than a hundredth of the peak");
    /* 196 % * sqrt(9 + 1.92) / 9 is 72 %, of one sample 335 %. */
    expect_rows("SELECT samples, error_percent, evidence ->> 'error_percent' FROM doctor_heap WHERE run_id IN (11, 12) "
                "ORDER BY 1",
                "1 335 335;9 72 72");
    /* What copies a buffer at each append grows, too: how it does is the first to read. */
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (3, 3, 3, '[]'); INSERT INTO sites(profile_id, "
        "trace_id, "
        "alloc_count, alloc_bytes, free_count, free_bytes) VALUES (24, 3, 1000, 67108864, 1000, 67108864); "
        "INSERT INTO site_details(profile_id, trace_id, step_count, step_bytes) VALUES (24, 3, 1000, 67108864)");
    expect_rows("SELECT code FROM doctor WHERE run_id = 3 AND section = 'heap' AND severity = 'warning'",
                "quadratic-growth;growth");
    /* Windows too long to say: then blocks that stay are judged by their number. */
    expect_rows("SELECT growth_bytes FROM doctor_heap WHERE run_id = 5", "0");
    ran("UPDATE profiles SET duration_ns = 2000000000");
    no_quiet_rule();
    expect_findings("doctor_heap", 5, "leak note", "interrupted");
    expect_findings("doctor_heap", 6, "leak warning", "steady or not");
    expect_rows("SELECT growth_bytes IS NULL FROM doctor_heap WHERE run_id = 6", "1");
    /* 300 kB of 15.1 MB are 1.98 % and round to 2; of 20.3 MB they are 1.48 %. */
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (2, 2, 2, '[]'); INSERT INTO sites(profile_id, "
        "trace_id, "
        "alloc_count, alloc_bytes, free_count, free_bytes) VALUES (48, 2, 2, 14900000, 1, 100000)");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 6, "leak warning", "2 % of what is live");
    ran("UPDATE sites SET alloc_bytes = 20100000 WHERE trace_id = 2");
    expect_findings("(SELECT * FROM doctor_heap WHERE trace_id = 1)", 6, "leak note", "less than 2 % of what is live");
    /* Nothing is said of Go. */
    ran("INSERT INTO functions(id, name, filename) VALUES (1, 'main.main', '/src/main.go'); INSERT INTO locations(id, "
        "mapping_id, "
        "address) VALUES (1, 0, 1); UPDATE traces SET location_id = 1, function_id = 1");
    expect_rows("SELECT count(*) FROM doctor_heap", "0");
}

/* A spike: what a site has live at the peak, against the mean over eight windows of a second, and against the end. */
static void test_peak(void **state) {
    (void)state;
    enum { MB = 1000 }; /* blocks of 1 kB */
    static const struct {
        struct growth_case windows;
        int64_t peak_bytes, others_bytes;
    } cases[] = {
        {{"up and down in one window", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 0}, 0, 0, "peak warning"}, 20000000, 0},
        {{"a byte less than 16 MiB", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 0}, 0, 0, ""}, 16777215, 0},
        {{"16 MiB", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 0}, 0, 0, "peak warning"}, 16777216, 0},
        {{"for two windows of eight", {20 * MB, 0, -20 * MB, 0, 0, 0, 0, 0}, 0, 0, "peak warning"}, 20000000, 0},
        {{"for three", {20 * MB, 0, 0, -20 * MB, 0, 0, 0, 0}, 0, 0, ""}, 20000000, 0},
        {{"49.4 % of the peak", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 0}, 0, 0, ""}, 20000000, 20485830},
        {{"49.5 % rounds to 50", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 0}, 0, 0, "peak warning"}, 20000000, 20404040},
        {{"some of it stays", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 5 * MB}, 0, 0, "peak warning"}, 20000000, 0},
        {{"more than a quarter stays", {20 * MB, -20 * MB, 0, 0, 0, 0, 0, 5 * MB + 1}, 0, 0, "leak note"}, 20000000, 0},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_growth((int)i + 1, &cases[i].windows);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%zu, %zu, %zu, 'heap-peak');"
            "INSERT INTO heap_peaks VALUES (%zu, 1, 1, %lld), (%zu, 2, 1, %lld)",
            1000 + i, i + 1, i + 1, 1000 + i, (long long)cases[i].peak_bytes, 1000 + i,
            (long long)cases[i].others_bytes);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_heap", (int)i + 1, cases[i].windows.expected, cases[i].windows.why);
    expect_rows("SELECT average_live_bytes, peak_bytes, peak_percent FROM doctor_heap WHERE run_id = 4",
                "5000000 20000000 100");
    /* Of two sites, the smaller spike belongs to the larger one. */
    ran("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
        "(8, 2, 1, 30000000, 1, 30000000); UPDATE heap_peaks SET peak_bytes = 20200000 WHERE trace_id = 2 AND "
        "profile_id = 1000");
    expect_rows("SELECT trace_id, code, severity FROM doctor_heap WHERE run_id = 1 ORDER BY 1",
                "1 peak note;2 peak warning");
    /* Of two that are as large, one is the warning. */
    ran("UPDATE heap_peaks SET peak_bytes = 20000000 WHERE trace_id = 2 AND profile_id = 1000");
    expect_rows("SELECT trace_id, code, severity FROM doctor_heap WHERE run_id = 1 ORDER BY 1",
                "1 peak warning;2 peak note");
    ran("UPDATE profiles SET duration_ns = 2000000000");
    expect_findings("doctor_heap", 4, "", "windows too long to say");
}

/* ---- threads, input and output ------------------------------------------------------------------------------------------ */

struct thread_case {
    const char *why;
    int64_t started, life_ns, short_count, run_ns;
    const char *expected;
};

static void put_threads(const struct window *window, const void *item) {
    const struct thread_case *threads = item;
    put("INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, short_count) VALUES "
        "(%d, 1, %lld, %lld, %lld, %lld); UPDATE runs SET duration_ns = %lld WHERE id = %d",
        window->profile, share(window, threads->started), share(window, threads->started),
        share(window, threads->life_ns), share(window, threads->short_count), (long long)threads->run_ns, window->run);
}

static void test_thread_codes(void **state) {
    (void)state;
    static const struct thread_case cases[] = {
        {"200 that live long, 24.75 % rounds to 25 that do not", 400, 4000000000, 99, 100000000,
         "thread-churn warning"},
        {"24.25 % rounds to 24", 400, 4000000000, 97, 100000000, ""},
        {"199 threads", 199, 199, 199, 100000000, ""},
        {"a mean of 1 ms less 5 ns", 200, 199999000, 0, 100000000, "thread-churn warning"},
        {"a mean of 1 ms", 200, 200000000, 0, 100000000, ""},
        {"200 of 30 us are 0.5 % of the run, rounded to 1", 200, 200, 200, 1200000000, "thread-churn warning"},
        {"0.49 %", 200, 200, 200, 1224489796, "thread-churn note"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "threads", put_threads, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_thread", i, cases[i].expected, cases[i].why);
}

struct spin_case {
    const char *why;
    int64_t yields, tries, sleeps, sleep_ns, run_ns;
    const char *expected;
};

static void put_spins(const struct window *window, const void *item) {
    const struct spin_case *spin = item;
    put("INSERT INTO spins(profile_id, trace_id, yields, failed_tries, short_sleeps, sleep_ns) VALUES "
        "(%d, 1, %lld, %lld, %lld, %lld); UPDATE runs SET duration_ns = %lld WHERE id = %d",
        window->profile, share(window, spin->yields), share(window, spin->tries), share(window, spin->sleeps),
        share(window, spin->sleep_ns), (long long)spin->run_ns, window->run);
}

static void test_busy_wait(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct spin_case cases[] = {
        {"666,667 of 300 ns are 1.5 % of the run, rounded to 2", 400000, 266667, 0, 0, 13333340000,
         "busy-wait warning"},
        {"1.49 %", 400000, 266667, 0, 0, 13422825000, "busy-wait note"},
        {"less than 0.2 s", 400000, 266666, 0, 0, 400 * MS, "busy-wait note"},
        {"1,000", 600, 400, 0, 0, MS, "busy-wait note"},
        {"999", 600, 399, 0, 0, MS, ""},
        {"2,000 sleeps", 0, 0, 2000, 900 * MS, 1000 * MS, "busy-wait note"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "spin", put_spins, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_thread", i, cases[i].expected, cases[i].why);
}

struct nap_case {
    const char *why;
    int64_t naps, nap_ns, run_ns;
    const char *expected, *writer; /* NULL: none is known */
    int location;                  /* of the loop */
};

static void put_naps(const struct window *window, const void *item) {
    const struct nap_case *nap = item;
    put("INSERT INTO spins(profile_id, trace_id, naps, nap_ns) VALUES (%d, 1, %lld, %lld);"
        "UPDATE runs SET duration_ns = %lld WHERE id = %d;"
        "INSERT OR IGNORE INTO spin_loops(process_id, location_id, head, instructions, has_pause, sleeps, asked, "
        "writer) "
        "SELECT process_id, %d, 1, 5, 0, 1, 'x:flag', '%s' FROM profiles WHERE id = %d",
        window->profile, share(window, nap->naps), share(window, nap->nap_ns), (long long)nap->run_ns, window->run,
        nap->writer ? nap->location : 1, nap->writer ? nap->writer : "", window->profile);
}

static void test_polling(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct nap_case cases[] = {
        {"500 of 20 ms, all of the run", 500, 10000LL * MS, 10000LL * MS, "polling note"},
        {"499", 498, 600LL * MS, 600LL * MS, ""},
        {"longer than 20 ms", 500, 10000LL * MS + 500, 10000LL * MS, ""},
        {"9.5 % of the run rounds to 10", 500, 950LL * MS, 10000LL * MS, "polling note"},
        {"9.4 %", 500, 940LL * MS, 10000LL * MS, ""},
        {"of a flag that is seen", 500, 10000LL * MS, 10000LL * MS, "polling warning", "load", 3},
        {"the loop is of the fifth frame", 500, 10000LL * MS, 10000LL * MS, "polling note", "load", 5},
    };
    ran("INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4), (5, 0, 5);"
        "INSERT INTO functions(id, name, system_name, filename) VALUES (1, 'follow', '', '');"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 9);"
        "INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (1, 1, 1, "
        "'[1,2,3,4,5]', 1, 1, 9)");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "spin", put_naps, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_polling", i, cases[i].expected, cases[i].why);
}

struct map_case {
    const char *why;
    int64_t maps, unmaps, run_ns;
    const char *use, *expected;
};

static void put_maps(const struct window *window, const void *item) {
    const struct map_case *map = item;
    put("INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count) VALUES "
        "(%d, 1, '%s', 0, %lld, %lld, %lld); UPDATE runs SET duration_ns = %lld WHERE id = %d",
        window->profile, map->use, share(window, map->maps), 4096 * share(window, map->maps),
        share(window, map->unmaps), (long long)map->run_ns, window->run);
}

static void test_map_churn(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct map_case cases[] = {
        {"2,000 of 4 us are 9.5 % of the run, rounded to 10", 2000, 2000, 84210526, "anonymous", "map-churn warning"},
        {"9.49 %", 2000, 2000, 84300000, "anonymous", "map-churn note"},
        {"1,999", 1999, 1999, MS, "anonymous", ""},
        {"89.5 % rounds to 90", 2234, 2000, MS, "anonymous", "map-churn warning"},
        {"89.4 %", 2237, 2000, MS, "anonymous", ""},
        {"files are read so", 2000, 2000, MS, "file", ""},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "mmap", put_maps, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_map", i, cases[i].expected, cases[i].why);
}

/* 1,000 blocks of 100 B each are live at the end and at the peak, so a heap needs 132,000 B for them, and as much for what `peak_bytes` says more. The parent, process
 * 1000, runs another program. */
static void test_fragmentation(void **state) {
    (void)state;
    enum { MIB = 1 << 20 };
    static const struct {
        const char *why;
        long long heap_bytes, peak_bytes;
        const char *change, *expected;
    } cases[] = {
        {"64 MiB never needed", 64 * MIB + 132000, 0, "", "fragmentation warning"},
        {"1 B less", 64 * MIB + 131999, 0, "", "fragmentation note"},
        {"32 MiB", 32 * MIB, 0, "", "fragmentation note"},
        {"1 B less", 32 * MIB - 1, 0, "", ""},
        {"twice what the peak needs", 200 * MIB, 100 * MIB - 132000, "", "fragmentation warning"},
        {"1 B less than that", 200 * MIB - 1, 100 * MIB - 132000, "", ""},
        {"sampled", 200 * MIB, 0, "UPDATE profiles SET period_type = 'space', period = 4096 WHERE kind = 'heap'", ""},
        {"blocks that are not known", 200 * MIB, 0, "UPDATE profiles SET dropped = 1 WHERE kind = 'heap'", ""},
        {"a child of the same program", 200 * MIB, 0, "UPDATE processes SET executable = 'x' WHERE pid = 1000", ""},
        {"a program that moves the break", 200 * MIB, 0,
         "INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count) SELECT id, 1, 'break', 0, 1 FROM "
         "profiles WHERE kind = 'heap'",
         ""},
        {"recorded from its middle on", 200 * MIB, 0,
         "INSERT INTO counters(profile_id, name, value) SELECT id, 'recorder.attached_ms', 1 FROM profiles WHERE kind "
         "= 'heap'",
         ""},
    };
    ran("INSERT INTO functions(id, name, system_name) VALUES (1, 'keep', ''), (2, 'take', '');"
        "INSERT INTO traces(id, hash, signature, stack, function_id) VALUES (1, 1, 1, '[]', 1), (2, 2, 2, '[]', 2)");
    for (int i = 0; i < (int)COUNT(cases); i++) {
        int run = i + 1;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 0, 1000, 'profile');"
            "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES "
            "(%d, %d, 1001, 1000, 'x', 0, 1000), (%d, %d, 1000, 1, 'sh', 0, 1000)",
            run, run, run, run, run + 100, run);
        put("INSERT INTO profiles(id, run_id, process_id, kind, time_ns) VALUES (%d, %d, %d, 'heap', 400), "
            "(%d, %d, %d, 'heap', 800), (%d, %d, %d, 'heap', 1000), (%d, %d, %d, 'heap-peak', 900)",
            4 * run, run, run, 4 * run + 1, run, run, 4 * run + 2, run, run, 4 * run + 3, run, run);
        /* The last window frees all, and the heap held most at its end. */
        put("INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) "
            "VALUES (%d, 1, 0, 400, 40000, 0, 0), (%d, 1, 0, 590, 59000, 0, 0), (%d, 2, 0, 10, 1000, 0, 0), "
            "(%d, 1, 0, 5, 5000, 995, 104000);"
            "INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (%d, 1, 1000, %lld);"
            "INSERT INTO counters(profile_id, name, value) VALUES (%d, 'process.heap_bytes', 20000000), "
            "(%d, 'process.heap_bytes', %lld), (%d, 'process.rss_bytes', 300000000), (%d, 'process.heap_bytes', %lld)",
            4 * run, 4 * run + 1, 4 * run + 1, 4 * run + 2, 4 * run + 3, 100000 + cases[i].peak_bytes, 4 * run,
            4 * run + 1, cases[i].heap_bytes, 4 * run + 1, 4 * run + 2, cases[i].heap_bytes + 100);
        if (*cases[i].change) put("%s AND run_id = %d", cases[i].change, run);
    }
    for (int i = 0; i < (int)COUNT(cases); i++)
        expect_findings("doctor_memory", i + 1, cases[i].expected, cases[i].why);
    expect_rows(
        "SELECT trace_id, live_bytes, live_count, need_bytes, unused_bytes, rss_bytes, classes FROM memory_facts "
        "WHERE run_id = 1",
        "1 100000 1000 132000 67108864 300000000 1000 of up to 104 B in keep");
    expect_rows("SELECT value FROM series WHERE run_id = 1 AND subject = 'counter process.rss_bytes'", "300000000.0");
}

/* Samples in a loop of two instructions, elsewhere in its function, and in another one. The place is that of the program, behind an
 * inlined atomic. */
static void test_spin_loops(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int first, second, beside, others, has_pause;
        const char *writer, *expected;
    } cases[] = {
        {"5 samples, 80 % of the function, 10 % of the run", 2, 3, 1, 44, 1, "", "busy-wait warning"},
        {"without a pause", 2, 3, 1, 44, 0, "", "busy-wait note"},
        {"without a pause, but with who stores", 2, 3, 1, 44, 0, "load", "busy-wait warning"},
        {"4 samples", 2, 2, 0, 0, 1, "", ""},
        {"less than 80 % of the function", 40, 39, 21, 0, 1, "", ""},
        {"9.4 % of the run", 24, 23, 0, 453, 1, "", ""},
    };
    ran("INSERT INTO functions(id, name, system_name, filename) VALUES (1, 'std::atomic<int>::load', '', ''), (2, "
        "'wait_for_it', '', 'w.cc'), "
        "(3, 'work', '', 'w.cc');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 9), (1, 1, 2, 7), (2, "
        "0, 2, 7), (3, 0, 2, 8), "
        "(4, 0, 3, 1);"
        "INSERT INTO traces(id, hash, signature, stack, function_id, line) VALUES (1, 1, 1, '[1]', 1, 9), (2, 2, 2, "
        "'[2]', 2, 7), "
        "(3, 3, 3, '[3]', 2, 8), (4, 4, 4, '[4]', 3, 1)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1, samples[] = {cases[i].first, cases[i].second, cases[i].beside, cases[i].others};
        put_run(run, "profile", "cpu", 0, NULL, NULL);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'cpu');"
            "INSERT INTO spin_loops(process_id, location_id, head, instructions, has_pause, asked, writer) "
            "SELECT %d, value, 1, 2, %d, 'x:flag', '%s' FROM json_each('[1, 2]')",
            run, run, run, run, cases[i].has_pause, cases[i].writer);
        for (int trace = 1; trace <= 4; trace++)
            put("INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (%d, %d, 0, %d, %d)", run,
                trace, samples[trace - 1], samples[trace - 1] * 1000000);
    }
    /* 196 * sqrt(6.92 * 46.92 / 53.84^3) is 8.9 points. */
    ran("INSERT INTO counters(profile_id, name, value) VALUES (1, 'recorder.cpu_effective_samples', 50)");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_spin", (int)i + 1, cases[i].expected, cases[i].why);
    expect_rows("SELECT subject, line, samples, cpu_error_points, trace_ids FROM doctor_spin WHERE run_id = 1",
                "wait_for_it 7 5 9 [2]");
}

/* ---- calls ----------------------------------------------------------------------------------------------------------- */

/* The program x, which has lines, and a C library, which has them too, at a place for libraries. Function 1 is the program's own and calls each of
 * the others: stack N is of function N, called from line 10 + N; stack 1 is of function 1 itself. */
static void put_functions_called(void) {
    ran("INSERT INTO mappings(id, filename, has_functions, has_filenames, has_line_numbers) VALUES (1, 'x', 1, 1, 1), "
        "(2, '/lib/libc.so.6', 1, 1, 1);"
        "INSERT INTO functions(id, name, filename) VALUES (1, 'stamp', '/home/x.c'), (2, 'localtime', './time/t.c'), "
        "(3, 'strchr', './string/s.c'), (4, 'stat', './io/s.c'), (5, '_Unwind_RaiseException', '')");
    for (int function = 1; function <= 5; function++)
        put("INSERT INTO locations(id, mapping_id, address) VALUES (%d, %d, %d), (%d, 1, %d);"
            "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (%d, 0, %d, 5), (%d, 0, 1, "
            "%d);"
            "INSERT INTO traces(id, hash, signature, stack) VALUES (%d, %d, %d, '[%d,%d]')",
            function, function == 1 ? 1 : 2, function, 10 + function, 10 + function, function, function, 10 + function,
            10 + function, function, function, function, function, 10 + function);
}

static void put_cpu(int run, int trace, int samples) {
    put("INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (%d, %d, 0, %d, %d)", run, trace,
        samples, samples * 1000000);
}

static void test_hot_calls(void **state) {
    (void)state;
    enum { OWN = 1, LOCALTIME, STRCHR, STAT, RAISE, UNKNOWN = -1 };
    static const struct {
        const char *why;
        int function, samples, others, independent; /* 0: all; UNKNOWN: the recorder does not say */
        const char *expected;
    } cases[] = {
        {"half of 22 samples are surely more than 30 %", LOCALTIME, 11, 11, 0, "hot-call warning"},
        {"half of 20 may be less", LOCALTIME, 10, 10, 0, "hot-call note"},
        {"88 periods in 22 expiries", LOCALTIME, 44, 44, 22, "hot-call warning"},
        {"88 periods in 20 expiries may be less", LOCALTIME, 44, 44, 20, "hot-call note"},
        {"88 periods, nobody knows of what", LOCALTIME, 44, 44, UNKNOWN, "hot-call note"},
        {"9 samples", LOCALTIME, 9, 0, 0, ""},
        {"29.5 % rounds to 30", LOCALTIME, 295, 705, 0, "hot-call note"},
        {"29.4 %", LOCALTIME, 294, 706, 0, ""},
        {"a file may be another one each time", STAT, 1000, 0, 0, "hot-call note"},
        {"nothing is known of it", STRCHR, 1000, 0, 0, ""},
        {"the program's own", OWN, 1000, 0, 0, ""},
        {"30 % in a throw", RAISE, 30, 70, 0, "exceptions warning"},
        {"25 % of 100 may be less than 20", RAISE, 25, 75, 0, "exceptions note"},
        {"19 %", RAISE, 19, 81, 0, ""},
    };
    put_functions_called();
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        put_run(run, "profile", "cpu", 0, NULL, NULL);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'cpu')", run, run, run);
        put_cpu(run, cases[i].function, cases[i].samples);
        if (cases[i].others) put_cpu(run, OWN, cases[i].others);
        if (cases[i].independent != UNKNOWN)
            put("INSERT INTO counters(profile_id, name, value, unit) VALUES (%d, 'recorder.cpu_effective_samples', %d, "
                "'count')",
                run, cases[i].independent);
    }
    /* Thrown 7,000 times, in two windows; what else is allocated there is no throw, and in a run whose samples met none nobody asks. */
    ran("INSERT INTO functions(id, name) VALUES (6, '__cxa_allocate_exception'), (7, 'operator new');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (6, 2, 6), (7, 2, 7);"
        "INSERT INTO location_lines(location_id, position, function_id) VALUES (6, 0, 6), (7, 0, 7);"
        "INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (6, 6, 6, '[6,2,15]', 2, 2), "
        "(7, 7, 7, '[7,2,15]', 2, 2);"
        "INSERT INTO profiles(id, run_id, process_id, kind) VALUES (901, 12, 12, 'heap'), (902, 12, 12, 'heap'), "
        "(903, 1, 1, 'heap');"
        "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) "
        "VALUES (901, 6, 0, 3000, 300, 0, 0), (902, 6, 0, 4000, 400, 0, 0), (901, 7, 0, 50, 50, 0, 0), (903, 6, 0, 5, "
        "5, 0, 0)");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_call", (int)i + 1, cases[i].expected, cases[i].why);
    expect_rows(
        "SELECT run_id, throws, json_extract(evidence, '$.throws') FROM doctor_call WHERE run_id IN (1, 12, 13) "
        "ORDER BY run_id",
        "1  ;12 7000 7000;13  ");
    expect_rows(
        "SELECT subject, line, callee, module, cpu_percent, samples, trace_ids FROM doctor_call WHERE run_id = 1",
        "stamp 12 localtime libc.so.6 50 11 [2]");
    /* 1.96 * sqrt(12.92 * 12.92 / 25.84^3) is 19.3 points, of 20 samples 20.1, of nothing known none. */
    expect_rows("SELECT cpu_error_points, json_extract(evidence, '$.cpu_error_points') FROM doctor_call WHERE run_id "
                "IN (1, 3, 4, 5) ORDER BY run_id",
                "20 20;20 20;21 21; ");
    expect_rows("SELECT points FROM cpu_share_errors WHERE run_id IN (3, 5, 9) AND cpu_percent = 0 ORDER BY run_id",
                "11;1");
    expect_rows(
        "SELECT function, module, own_function, own_line, own_percent, lines FROM library_facts WHERE run_id = 1",
        "localtime libc.so.6 stamp 12 100 1");
    expect_rows(
        "SELECT count(*) FROM usual_calls JOIN short_advice ON short_advice.code = 'call-hot-call' "
        "WHERE length(usual_calls.text) - length(replace(usual_calls.text, ' ', '')) + length(short_advice.text) "
        "- length(replace(short_advice.text, ' ', '')) + 2 > 40",
        "0");
}

/* What is the program's own: not what headers of compilers and packages have, inlined or not, nor what has no lines in a program that has some, nor
 * an address without a name; and in what order frames are asked. */
static void test_own_code(void **state) {
    (void)state;
    static const char *const paths[] = {"", "x", "/usr/lib/libz.so", "/home/plugin.so", "/work/libclear_rt.so"};
    static const char *const files[] = {"/home/own.c",
                                        "/usr/include/c++/12/bits/a.h",
                                        "/rustc/1/library/a.rs",
                                        "/root/.cargo/registry/src/a/b.rs",
                                        "/usr/local/include/boost/a.hpp",
                                        ""};
    for (int mapping = 1; mapping <= 4; mapping++)
        put("INSERT INTO mappings(id, filename, has_line_numbers) VALUES (%d, '%s', 1)", mapping, paths[mapping]);
    for (int file = 0; file < 6; file++)
        put("INSERT INTO functions(id, name, filename) VALUES (%d, 'f%d', '%s')", 1 + file, 1 + file, files[file]);
    /* Location 10 * mapping + file; 100: own code with an inlined header; 200: an address. */
    for (int mapping = 1; mapping <= 4; mapping++)
        for (int file = 0; file < 6; file++)
            put("INSERT INTO locations(id, mapping_id, address) VALUES (%d, %d, %d);"
                "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (%d, 0, %d, %d)",
                10 * mapping + file, mapping, file, 10 * mapping + file, 1 + file, 10 * mapping + file);
    ran("INSERT INTO locations(id, mapping_id, address) VALUES (100, 1, 100), (200, 1, 200);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (100, 0, 2, 1), (100, 1, 3, 2), "
        "(100, 2, 1, 3)");
    static const struct {
        const char *stack, *expected, *why;
    } cases[] = {
        {"[20,10]", "f1 10 f1", "a library"},
        {"[20,11,12,13,14,15,10]", "f1 10 f6", "headers, packages and what was linked in"},
        {"[20,30,10]", "f1 30 f1", "a plugin elsewhere with lines"},
        {"[20,40,10]", "f1 10 f1", "what records"},
        {"[20,100]", "f1 3 f3", "inlined headers: the outermost of them is what is called"},
        {"[20,200,10]", "", "what is called has no name"},
        {"[20,200]", "", "no own frame"},
        {"[10,20,10]", "", "called back"},
    };
    for (int i = 0; i < (int)COUNT(cases); i++) {
        put("INSERT INTO traces(id, hash, signature, stack) VALUES (%d, %d, %d, '%s')", i + 1, i + 1, i + 1,
            cases[i].stack);
        put_run(i + 1, "profile", "cpu", 0, NULL, NULL);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'cpu')", i + 1, i + 1, i + 1);
        put_cpu(i + 1, i + 1, 10);
    }
    for (int i = 0; i < (int)COUNT(cases); i++) {
        char sql[160];
        snprintf(sql, sizeof sql, "SELECT function, line, callee FROM call_facts WHERE run_id = %d", i + 1);
        expect_rows(sql, cases[i].expected);
    }
}

/* A line of several stacks: what they did together, where none is a finding by itself. A run of one second. */
static void test_lines(void **state) {
    (void)state;
    static const struct {
        const char *why;
        long long temporary[2], allocs[2], line; /* of the first stack, and of each of the others */
        const char *expected;
    } cases[] = {
        {"ten stacks of 200,000: 100 ms", {200000, 200000}, {200000, 200000}, 7, "temporary warning"},
        {"a block less", {199999, 200000}, {200000, 200000}, 7, ""},
        {"half of them are kept", {200000, 200000}, {400000, 400000}, 7, "temporary warning"},
        {"more than half", {200000, 200000}, {420000, 420000}, 7, ""},
        {"one is a finding by itself", {2000000, 200000}, {2000000, 200000}, 7, ""},
        {"the line is not known", {200000, 200000}, {200000, 200000}, 0, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        put("INSERT INTO functions(id, name, system_name, filename) VALUES (%d, 'f%d', 'f%d', 'f.c')", run, run, run);
        put_run(run, "profile", "heap", 0, NULL, NULL);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'heap')", run, run, run);
        for (int stack = 0; stack < 10; stack++) {
            int id = run * 10 + stack;
            long long temporary = cases[i].temporary[stack > 0], allocs = cases[i].allocs[stack > 0];
            put("INSERT INTO traces(id, hash, signature, stack, function_id, line) VALUES (%d, %d, %d, '[]', %d, %lld);"
                "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, "
                "free_bytes) "
                "VALUES (%d, %d, 0, %lld, %lld, %lld, %lld);"
                "INSERT INTO site_details(profile_id, trace_id, temporary_count) VALUES (%d, %d, %lld)",
                id, id, id, run, cases[i].line, run, id, allocs, allocs * 40, allocs, allocs * 40, run, id, temporary);
        }
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_line", (int)i + 1, cases[i].expected, cases[i].why);
}

/* The same for lost and for tiny blocks. What is lost of each stack is live, and nothing else is where not said. */
static void test_lines_of_blocks(void **state) {
    (void)state;
    static const struct {
        const char *why;
        long long allocs[2], bytes, live, lost[2]; /* of the first stack, and of each of the others; bytes of a block */
        const char *expected;
        bool is_unsearched;
    } cases[] = {
        {"ten stacks of 200,000 tiny blocks: 100 ms", {200000, 200000}, 8, 0, {0, 0}, "arena warning", false},
        {"a block less", {199999, 200000}, 8, 0, {0, 0}, "", false},
        {"not tiny", {200000, 200000}, 16, 0, {0, 0}, "", false},
        {"100 of them are kept", {200000, 200000}, 8, 10, {0, 0}, "", false},
        {"99 are", {200000, 200000}, 8, 9, {0, 0}, "arena warning", false},
        {"one is a finding by itself", {2000000, 200000}, 8, 0, {0, 0}, "", false},
        {"ten lost blocks", {1, 1}, 1639, 0, {1, 1}, "leak warning", false},
        {"nine", {1, 1}, 1821, 0, {0, 1}, "", false},
        {"a byte less than 16 KiB", {1, 1}, 1638, 0, {1, 1}, "", false},
        {"1 MiB", {1, 1}, 104858, 0, {1, 1}, "leak critical", false},
        {"nobody searched", {1, 1}, 1639, 0, {1, 1}, "", true},
        {"one stack lost ten by itself, half of all", {10, 1}, 1639, 0, {10, 1}, "", false},
        {"ten lost ten each", {10, 10}, 1639, 0, {10, 10}, "leak warning", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int run = (int)i + 1;
        put("INSERT INTO functions(id, name, system_name, filename) VALUES (%d, 'f%d', 'f%d', 'f.c')", run, run, run);
        put_run(run, "profile", "heap", 0, NULL, NULL);
        put("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'heap'), (%d, %d, %d, '%s')", run,
            run, run, run + 100, run, run, cases[i].is_unsearched ? "none" : "leak");
        for (int stack = 0; stack < 10; stack++) {
            int id = run * 10 + stack;
            long long allocs = cases[i].allocs[stack > 0], lost = cases[i].lost[stack > 0];
            long long live = lost > cases[i].live ? lost : cases[i].live;
            long long frees = live < allocs ? allocs - live : 0;
            put("INSERT INTO traces(id, hash, signature, stack, function_id, line) VALUES (%d, %d, %d, '[]', %d, 7);"
                "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, "
                "free_bytes) "
                "VALUES (%d, %d, 0, %lld, %lld, %lld, %lld);"
                "INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes) VALUES (%d, %d, %lld, %lld)",
                id, id, id, run, run, id, allocs, allocs * cases[i].bytes, frees, frees * cases[i].bytes, run + 100, id,
                lost, lost * cases[i].bytes);
        }
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_line", (int)i + 1, cases[i].expected, cases[i].why);
    expect_rows("SELECT DISTINCT run_id, severity FROM doctor_heap WHERE run_id IN (6, 12, 13) AND code IN ('leak', "
                "'arena') ORDER BY run_id, severity",
                "6 note;6 warning;12 note;12 warning;13 note");
}

/* A queue that a function fills and signals: what waited in it at the peak, with another function's blocks. */
struct queue_case {
    const char *why;
    long long peak_bytes, other_bytes, alloc_bytes, filled_percent, signals, waits;
    const char *expected;
    long long fewer; /* than 100 blocks */
};

static void put_queue(int run, const struct queue_case *queue) {
    put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'u%d', 0, 1000, 'profile');"
        "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES (%d, %d, 1, 1, 'x', 0, "
        "1000);"
        "INSERT INTO profiles(id, run_id, process_id, kind, time_ns) VALUES (%d, %d, %d, 'heap', 1000), "
        "(%d, %d, %d, 'heap-peak', %lld), (%d, %d, %d, 'wait', 1000)",
        run, run, run, run, 3 * run, run, run, 3 * run + 1, run, run, queue->filled_percent * 10, 3 * run + 2, run,
        run);
    put("INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) "
        "VALUES "
        "(%d, 1, 0, 100, %lld, 100, %lld);"
        "INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (%d, 1, %lld, %lld), (%d, 2, 1, "
        "%lld)",
        3 * run, queue->alloc_bytes, queue->alloc_bytes, 3 * run + 1, 100 - queue->fewer, queue->peak_bytes,
        3 * run + 1, queue->other_bytes);
    put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, signals, first_trace_id) VALUES "
        "(%d, 1, 8, 0, 'cond', %lld, 1);"
        "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns) VALUES "
        "(%d, 1, 8, 3, 'cond', %lld, %lld, 7)",
        3 * run + 2, queue->signals, 3 * run + 2, queue->waits, queue->waits);
}

static void test_unbounded(void **state) {
    (void)state;
    enum { MIB = 1 << 20 };
    static const struct queue_case cases[] = {
        {"4 MiB, 20 % of what is live, 25 % of all", 4 * MIB, 16 * MIB, 16 * MIB, 10, 500, 50, "unbounded warning"},
        {"a byte less", 4 * MIB - 1, 0, 16 * MIB - 4, 10, 500, 50, ""},
        {"19.4 % of what is live", 4 * MIB, 17400000, 16 * MIB, 10, 500, 50, ""},
        {"24.4 % of all", 4 * MIB, 0, 17190000, 10, 500, 50, ""},
        {"full at the beginning", 4 * MIB, 0, 4 * MIB, 9, 500, 50, "unbounded note"},
        {"99 blocks", 4 * MIB, 0, 4 * MIB, 50, 500, 50, "", 1},
        {"499 signals", 4 * MIB, 0, 4 * MIB, 50, 499, 49, ""},
        {"waits for a tenth of them and more", 4 * MIB, 0, 4 * MIB, 50, 500, 51, ""},
    };
    ran("INSERT INTO functions(id, name, system_name, filename) VALUES (1, 'put', 'put', ''), (2, 'load', 'load', ''), "
        "(3, 'take', 'take', 'take.c');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 1), (2, 0, 2), (3, 0, 3);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 7), (2, 0, 2, 7), (3, "
        "0, 3, 7);"
        "INSERT INTO traces(id, hash, signature, stack, function_id, line) VALUES (1, 1, 1, '[1]', 1, 7), (2, 2, 2, "
        "'[2]', 2, 7), "
        "(3, 3, 3, '[3]', 3, 7);"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'wait', 'a', 'there')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_queue((int)i + 1, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_findings("doctor_queue", (int)i + 1, cases[i].expected, cases[i].why);
    expect_rows("SELECT subject, trace_ids, substr(advice, -22) FROM doctor_queue WHERE run_id = 1",
                "put [1,3] take (take.c:7) takes.");
}

/* A thread that reads a clock: the function that does is named, also behind those of a library. */
static void test_clock_readers(void **state) {
    (void)state;
    static const struct {
        long long clock_samples, own_samples, others; /* others: of another thread */
        const char *expected;
    } cases[] = {
        {20, 5, 0, "busy-wait warning"},    {19, 4, 0, ""},   {79, 21, 0, ""}, {80, 20, 0, "busy-wait warning"},
        {80, 20, 700, "busy-wait warning"}, {80, 20, 701, ""}};
    ran("INSERT INTO mappings(id, filename) VALUES (1, '/bin/x');"
        "INSERT INTO functions(id, name, filename) VALUES (1, 'clock_gettime', ''), (2, "
        "'std::chrono::_V2::steady_clock::now', ''), "
        "(3, 'wait_until', '/src/x.cc');"
        "INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3);"
        "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 0), (2, 0, 2, 0), (3, "
        "0, 3, 7);"
        "INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[1,2,3]'), (2, 2, 2, '[3]');"
        "INSERT INTO label_sets(id, labels) VALUES (1, '[[\"tid\",1]]'), (2, '[[\"tid\",2]]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int id = (int)i + 1;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'r%d', 0, 1000000000, 'x');"
            "INSERT INTO profiles(id, run_id, kind) VALUES (%d, %d, 'cpu');"
            "INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (%d, 1, 1, %lld, %lld), "
            "(%d, 2, 1, %lld, %lld), (%d, 2, 2, %lld, %lld)",
            id, id, id, id, id, cases[i].clock_samples, cases[i].clock_samples * 1000, id, cases[i].own_samples,
            cases[i].own_samples * 1000, id, cases[i].others, cases[i].others * 1000);
        expect_findings("doctor_thread", id, cases[i].expected, "a clock");
    }
    expect_rows("SELECT subject, file, line, clock_ns, trace_ids FROM doctor_thread WHERE run_id = 1",
                "wait_until /src/x.cc 7 20000 [1]");
}

struct io_case {
    const char *why, *call;
    int64_t calls, small_calls, small_bytes, run_ns, reads; /* reads: of 10 bytes each, by another stack */
    const char *expected;
};

static void put_io(const struct window *window, const void *item) {
    const struct io_case *io = item;
    put("INSERT INTO io(profile_id, trace_id, call, calls, bytes, small_calls, small_bytes, time_ns) VALUES "
        "(%d, 1, '%s', %lld, 1000000, %lld, %lld, 1000), (%d, 2, 'read', %lld, %lld, %lld, %lld, 10);"
        "UPDATE runs SET duration_ns = %lld WHERE id = %d",
        window->profile, io->call, share(window, io->calls), share(window, io->small_calls),
        share(window, io->small_bytes), window->profile, share(window, io->reads), share(window, 10 * io->reads),
        share(window, io->reads), share(window, 10 * io->reads), (long long)io->run_ns, window->run);
}

static void test_io_codes(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct io_case cases[] = {
        {"10,000 writes of 64 bytes", "write", 10000, 10000, 640000, 100 * MS, 0, "tiny-io warning"},
        {"9,999", "write", 9999, 9999, 9999, 100 * MS, 0, ""},
        {"65 bytes", "write", 10000, 10000, 650000, 100 * MS, 0, ""},
        {"79.5 % rounds to 80", "recv", 12578, 10000, 10000, 100 * MS, 0, "tiny-io warning"},
        {"79.4 %", "recv", 12595, 10000, 10000, 100 * MS, 0, ""},
        {"1.5 % of the run rounds to 2", "fflush", 10000, 10000, 10000, 200 * MS, 0, "tiny-io warning"},
        {"1.49 %", "fflush", 10000, 10000, 10000, 202 * MS, 0, "tiny-io note"},
        {"half as many reads", "write", 10000, 10000, 100000, 100 * MS, 5000, "tiny-io note"},
        {"one less", "write", 10000, 10000, 100000, 100 * MS, 4999, "tiny-io warning"},
        {"no reading or writing", "open", 10000, 10000, 10000, 100 * MS, 0, ""},
        {"packets of 44 bytes", "sendto", 10000, 10000, 440000, 100 * MS, 0, "tiny-io note"},
        {"packets that come", "recvfrom", 10000, 10000, 440000, 100 * MS, 0, "tiny-io note"},
        {"on a connection", "send", 10000, 10000, 440000, 100 * MS, 0, "tiny-io warning"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "io", put_io, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_io", i, cases[i].expected, cases[i].why);
    ran("UPDATE io SET small_bytes = small_calls WHERE trace_id = 2; UPDATE io SET small_bytes = small_calls WHERE "
        "trace_id = 1");
    expect_case("doctor_io", 7, "tiny-io warning", "a filter, byte by byte");
    ran("UPDATE io SET calls = 10000, small_calls = 10000 WHERE trace_id = 2 AND profile_id = 2");
    expect_rows("SELECT trace_id, severity FROM doctor_io WHERE run_id = 1 ORDER BY 1", "1 warning;2 note");
    /* Messages that took longer do not make another stack's calls less of a fault. */
    ran("UPDATE io SET call = 'sendto' WHERE trace_id = 1 AND profile_id = 2");
    expect_rows("SELECT trace_id, severity FROM doctor_io WHERE run_id = 1 ORDER BY 1", "1 note;2 warning");
}

static void test_frequent_sync(void **state) {
    (void)state;
    static const struct {
        const char *call;
        long long calls, time_ns;
        const char *expected;
    } cases[] = {{"fsync", 100, 95000000, "frequent-sync warning"},
                 {"fdatasync", 100, 95000000, "frequent-sync warning"},
                 {"fsync", 99, 900000000, ""},
                 {"fsync", 100, 94900000, ""},
                 {"close", 100, 900000000, ""}};
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]')");
    for (size_t i = 0; i < COUNT(cases); i++) {
        int id = (int)i + 1;
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'r%d', 0, 1000000000, 'x');"
            "INSERT INTO profiles(id, run_id, kind) VALUES (%d, %d, 'io');"
            "INSERT INTO io(profile_id, trace_id, call, calls, time_ns) VALUES (%d, 1, '%s', %lld, %lld)",
            id, id, id, id, id, cases[i].call, cases[i].calls, cases[i].time_ns);
        expect_findings("doctor_io", id, cases[i].expected, cases[i].call);
    }
    /* Another stack waits longer. It writes a few bytes each time too: that is a finding of its own. */
    ran("INSERT INTO io(profile_id, trace_id, call, calls, time_ns) VALUES (1, 2, 'fsync', 100, 96000000);"
        "INSERT INTO io(profile_id, trace_id, call, calls, bytes, small_calls, small_bytes, time_ns) VALUES (1, 2, "
        "'write', "
        "100000, 100000, 100000, 100000, 30000000)");
    expect_rows(
        "SELECT trace_id, code, severity, calls, mean_bytes FROM doctor_io WHERE run_id = 1 ORDER BY code, trace_id",
        "1 frequent-sync note 100 ;2 frequent-sync note 100 ;2 tiny-io warning 100000 1.0");
    /* Where the run writes twice for each sync, they are shared already. */
    ran("INSERT INTO io(profile_id, trace_id, call, calls, bytes, time_ns) VALUES (2, 2, 'write', 199, 199000, 1)");
    expect_findings("doctor_io", 2, "frequent-sync warning", "a sync for each write and a half");
    ran("UPDATE io SET calls = 200 WHERE call = 'write' AND profile_id = 2");
    expect_findings("doctor_io", 2, "frequent-sync note", "two writes for each sync");
}

/* Two condition variables of one mutex: 1 was used first. */
struct wait_case {
    const char *why;
    int64_t waits[2], wait_ns[2], timeouts, futile, broadcasts; /* the last three, and lost, of the first */
    const char *expected;
    int64_t lost;
};

static void put_waits(const struct window *window, const void *item) {
    const struct wait_case *wait = item;
    put("INSERT OR IGNORE INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (%d, %d, 1, 0, '/x', 0);"
        "UPDATE profiles SET process_id = %d WHERE id = %d",
        window->run, window->run, window->run, window->profile);
    for (int i = 0; i < 2; i++)
        put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, contended, wait_ns, timeouts, "
            "futile_wakes, lost_wakes, "
            "mutex_address) VALUES (%d, %d, %d, 1, 'cond', %lld, %lld, %lld, %lld, %lld, 64)",
            window->profile, i + 1, i + 1, share(window, wait->waits[i]), share(window, wait->wait_ns[i]),
            i ? 0 : share(window, wait->timeouts), i ? 0 : share(window, wait->futile),
            i ? 0 : share(window, wait->lost));
    put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, broadcasts, first_trace_id) VALUES "
        "(%d, 1, 1, 0, 'cond', %lld, 2)",
        window->profile, share(window, wait->broadcasts));
    /* Somebody waits for the workers' ends: they are no workers without work. */
    put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, contended, wait_ns) VALUES "
        "(%d, 3, 3, 1, 'join', %lld, %lld)",
        window->profile, share(window, 2), share(window, 100000000));
}

static void test_wait_codes(void **state) {
    (void)state;
    enum { MS = 1000000 };
    static const struct wait_case cases[] = {
        /* of a run of one second */
        {"100 waits of 95 ms, 9.5 % rounds to 10", {100, 0}, {95 * MS, 0}, 0, 0, 0, "slow-producer warning"},
        {"99 waits", {99, 0}, {500 * MS, 0}, 0, 0, 0, ""},
        {"9.49 % of the run", {100, 0}, {94900000, 0}, 0, 0, 0, ""},
        {"longer than the run: idle workers", {100, 0}, {1001 * MS, 0}, 0, 0, 0, "slow-producer note"},
        {"the same, with another side", {100, 1}, {1001 * MS, 1}, 0, 0, 0, "slow-producer note"},
        {"the other side", {50, 100}, {99 * MS, 100 * MS}, 0, 0, 0, "slow-consumer warning"},
        {"half of the waits at a limit", {100, 0}, {500 * MS, 0}, 100, 0, 0, ""},
        {"one fewer", {100, 0}, {500 * MS, 0}, 99, 0, 0, "slow-producer warning"},
        {"500 in vain, 49.5 % rounds to 50", {1010, 0}, {1, 0}, 0, 500, 1, "herd note"},
        {"49.4 %", {1012, 0}, {1, 0}, 0, 500, 1, ""},
        {"499 in vain", {500, 0}, {1, 0}, 0, 499, 1, ""},
        {"without a broadcast", {500, 0}, {1, 0}, 0, 500, 0, ""},
        {"1,000 wakes of 5 us, 0.5 % rounds to 1", {1000, 0}, {1, 0}, 0, 1000, 1, "herd warning"},
        {"10 of 20 late waits were signalled, 9.5 % of the run",
         {0, 0},
         {95 * MS, 0},
         20,
         0,
         0,
         "lost-wakeup warning",
         10},
        {"9.49 % of the run", {0, 0}, {94900000, 0}, 20, 0, 0, "lost-wakeup note", 10},
        {"9 were", {0, 0}, {500 * MS, 0}, 10, 0, 0, "", 9},
        {"10 of 21 were", {0, 0}, {500 * MS, 0}, 21, 0, 0, "", 10},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]'), (2, 2, 2, '[]');"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'wait', 'a', 'items'), (2, 'wait', 'b', 'room'), (3, "
        "'wait', 'c', 'thread join')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, "wait", put_waits, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_wait", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT subject, trace_ids, side, sides FROM doctor_wait WHERE run_id = 6", "room [1] 2 2");
    expect_rows("SELECT trace_ids FROM doctor_wait WHERE run_id = 1", "[1,2]");
    ran("UPDATE locks SET wait_ns = 99999999 WHERE kind = 'join' AND profile_id IN (SELECT id FROM profiles WHERE "
        "run_id = 1)");
    expect_findings("doctor_wait", 1, "slow-producer note", "nobody was held up for 10 % of the run");
    ran("UPDATE locks SET mutex_address = 65 WHERE object_id = 2"); /* another queue */
    expect_case("doctor_wait", 5, "slow-consumer warning", "two queues, of which one waits often enough, for room");
    ran("UPDATE objects SET name = 'changed' WHERE id = 2");
    expect_case("doctor_wait", 5, "slow-producer note",
                "the same, with a name that says nothing: it may be the other side");
}

/* Semaphores, barriers and what the functions that wait are called, in a run of one second and four of thread time. */
struct waited_object {
    int run;
    const char *kind, *name, *waits_in, *first_in; /* first_in: the function of its first use without a wait */
    long long passes, waits, wait_ms, signals, own_wakes;
};

static void put_waited_objects(const struct waited_object *objects, size_t count) {
    static const char *const functions[] = {"main", "put", "get", "step", "ask"};
    for (size_t i = 0; i < COUNT(functions); i++)
        put("INSERT INTO functions(id, name, system_name, filename) VALUES (%zu, '%s', '%s', '');"
            "INSERT INTO locations(id, mapping_id, address) VALUES (%zu, 0, %zu);"
            "INSERT INTO location_lines(location_id, position, function_id, line) VALUES (%zu, 0, %zu, 7);"
            "INSERT INTO traces(id, hash, signature, stack, function_id, line) VALUES (%zu, %zu, %zu, '[%zu]', %zu, 7)",
            i + 1, functions[i], functions[i], i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1);
    for (size_t i = 0; i < count; i++) {
        const struct waited_object *object = &objects[i];
        int id = (int)i + 1;
        put("INSERT OR IGNORE INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'r%d', 0, 1000000000, "
            "'x');"
            "INSERT OR IGNORE INTO processes(id, run_id, pid, ppid, executable, started_ns, thread_ns) VALUES "
            "(%d, %d, 1, 0, '/x', 0, 4000000000);"
            "INSERT OR IGNORE INTO profiles(id, run_id, process_id, kind) VALUES (%d, %d, %d, 'wait');"
            "INSERT INTO objects(id, kind, identity, name) VALUES (%d, 'wait', '%d', '%s')",
            object->run, object->run, object->run, object->run, object->run, object->run, object->run, id, id,
            object->name);
        if (object->waits)
            put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns) "
                "SELECT %d, %d, %d, id, '%s', %lld, %lld, %lld FROM traces WHERE function_id = (SELECT id FROM "
                "functions WHERE name = '%s')",
                object->run, id, id * 64, object->kind, object->waits, object->waits, object->wait_ms * 1000000,
                object->waits_in);
        put("INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, signals, own_wakes, "
            "first_trace_id) SELECT %d, %d, %d, 0, '%s', %lld, %lld, %lld, coalesce((SELECT id FROM traces WHERE "
            "function_id = (SELECT id FROM functions WHERE name = '%s')), 0)",
            object->run, id, id * 64, object->kind, object->passes - object->waits, object->signals, object->own_wakes,
            object->first_in);
    }
}

static const struct waited_object waited_objects[] = {
    /* 1: a queue; what it has room for is named, and waited for */
    {1, "sem", "empty", "step", "step", 1000, 500, 600, 1000, 0},
    {1, "sem", "full", "step", "ask", 1000, 10, 20, 1000, 0},
    /* 2: the functions that wait say it */
    {2, "sem", "a", "put", "put", 1000, 10, 20, 1000, 0},
    {2, "sem", "b", "get", "put", 1000, 500, 600, 1000, 0},
    /* 3, 4: nothing but the units at the beginning say it */
    {3, "sem", "a", "step", "step", 1000, 500, 600, 1000, 0},
    {3, "sem", "b", "ask", "step", 1000, 10, 20, 1000, 0},
    {4, "sem", "a", "step", "main", 1000, 500, 600, 1000, 0},
    {4, "sem", "b", "ask", "ask", 1000, 10, 20, 1000, 0},
    /* 5: question and answer: neither has room */
    {5, "sem", "a", "step", "ask", 1000, 500, 600, 1000, 0},
    {5, "sem", "b", "ask", "step", 1000, 500, 300, 1000, 0},
    /* 6: no other semaphore has the same counts, so nothing is full */
    {6, "sem", "a", "get", "put", 1000, 500, 600, 1000, 0},
    {6, "sem", "b", "put", "put", 500, 10, 20, 500, 0},
    /* 7: a pool, 20 % of the thread time; 8: one that half of the posts gave back, less 1; 9: short */
    {7, "sem", "pool", "step", "step", 1000, 500, 800, 1000, 1000},
    {8, "sem", "pool", "step", "step", 1000, 90, 800, 1000, 499},
    {9, "sem", "pool", "step", "step", 1000, 500, 9, 1000, 500},
    {16, "sem", "pool", "step", "step", 1000, 10, 800, 1000, 1000},
    {17, "sem", "pool", "step", "step", 1000, 9, 800, 1000, 1000},
    {18, "sem", "PyThread_allocate_lock+0", "step", "step", 1000, 500, 800, 1000, 1000},
    /* 10 to 13: barriers */
    {10, "barrier", "b", "step", "", 40, 10, 800, 0, 0},
    {11, "barrier", "b", "step", "", 40, 9, 800, 0, 0},
    {12, "barrier", "b", "step", "", 40, 10, 700, 0, 0},
    {13, "barrier", "b", "step", "", 40, 10, 94, 0, 0},
    /* 14, 15: the first thread waits for items, or for something without a name */
    {14, "cond", "items", "main", "put", 200, 200, 600, 0, 0},
    {15, "cond", "changed", "main", "put", 200, 200, 600, 0, 0},
    /* 19: a queue whose counts are a tenth apart, with a semaphore of other counts between its two */
    {19, "sem", "empty", "step", "step", 1000, 500, 600, 900, 0},
    {19, "sem", "other", "ask", "ask", 700, 10, 20, 700, 0},
    {19, "sem", "full", "step", "ask", 1000, 10, 20, 1100, 0},
    /* 20: they are more than a tenth apart */
    {20, "sem", "empty", "step", "step", 1000, 500, 600, 1000, 0},
    {20, "sem", "full", "step", "ask", 1000, 10, 20, 1101, 0},
};

static void test_wait_objects(void **state) {
    (void)state;
    static const char *const expected[] = {
        "empty slow-consumer warning names",
        "b slow-producer warning names",
        "a slow-consumer warning units",
        "a slow-producer warning units",
        "a slow-producer note units;b slow-producer note units",
        "a slow-producer note names",
        "pool contended critical",
        "",
        "pool contended note",
        "b imbalance warning",
        "",
        "b imbalance note",
        "",
        "items slow-producer warning names",
        "changed slow-producer note nothing",
        "pool contended critical",
        "pool contended note",
        "PyThread_allocate_lock+0 contended note",
        "empty slow-consumer warning names",
        "empty slow-consumer warning names",
    };
    put_waited_objects(waited_objects, COUNT(waited_objects));
    ran("UPDATE locks SET mutex_address = 640 WHERE kind = 'cond'");
    for (size_t i = 0; i < COUNT(expected); i++) {
        char *sql = xasprintf("SELECT subject || ' ' || code || ' ' || severity || coalesce(' ' || told_by, '') FROM "
                              "doctor_wait WHERE run_id = %zu",
                              i + 1);
        expect_rows(sql, expected[i]);
        free(sql);
    }
    expect_rows("SELECT sides, side FROM doctor_wait WHERE run_id IN (1, 6, 19, 20) ORDER BY run_id",
                "2 2;1 1;2 2;1 2");
    /* Where the processors were busy nearly all of the time, the threads of a barrier waited for those. */
    ran("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (100, 10, NULL, 'recorder'), (101, 10, 10, 'cpu');"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (100, 'recorder.processors', 2, 'count');"
        "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (101, 4, 179, 1790000000)");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "warning");
    ran("UPDATE cpu SET cpu_ns = 1800000000");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "note");
    /* Nobody is slow where threads had no processor for as long as others waited. */
    ran("UPDATE cpu SET cpu_ns = 1790000000");
    ran("INSERT INTO counters(profile_id, name, value, unit) SELECT 100, 'recorder.run_delay_ms', sum(wait_ns) / 1e6 - "
        "1, 'ms' FROM "
        "doctor_wait WHERE run_id = 10");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "warning");
    ran("UPDATE counters SET value = value + 1 WHERE name = 'recorder.run_delay_ms'");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "note");
    /* Three wait for each of four, which do the same work: so do as long waits. The first thread does other work. */
    ran("UPDATE counters SET value = 266 WHERE name = 'recorder.run_delay_ms';"
        "INSERT INTO thread_delays SELECT processes.id, pid + value, 'step', CASE value WHEN 0 THEN 9 ELSE 100 END, "
        "1000 FROM processes, "
        "json_each('[0, 1, 2, 3, 4]') WHERE run_id = 10");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "warning");
    ran("UPDATE counters SET value = 267 WHERE name = 'recorder.run_delay_ms'");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "note");
    ran("UPDATE thread_delays SET ran_ns = 137 WHERE tid = (SELECT pid + 4 FROM processes WHERE run_id = 10)");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 10", "warning");
    /* Nor is the other side of a queue slow where the run used 80 % of two processors. */
    ran("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (120, 2, NULL, 'recorder'), (121, 2, 2, 'cpu');"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (120, 'recorder.processors', 2, 'count');"
        "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (121, 4, 159, 1599999999)");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 2", "warning");
    ran("UPDATE cpu SET cpu_ns = 1600000000 WHERE profile_id = 121");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 2", "note");
    /* Or where two threads in the mean were ready and had none; what waits are as long is another rule's. */
    ran("UPDATE cpu SET cpu_ns = 0 WHERE profile_id = 121; UPDATE rules SET value = 100000 WHERE name = "
        "'wait_delay_percent';"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (120, 'recorder.run_delay_ms', 1999, 'ms')");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 2", "warning");
    ran("UPDATE counters SET value = 2000 WHERE name = 'recorder.run_delay_ms' AND profile_id = 120");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 2", "note");
    ran("UPDATE cpu SET cpu_ns = 1600000000 WHERE profile_id = 121; UPDATE rules SET value = 100 WHERE name = "
        "'wait_delay_percent'; DELETE FROM counters WHERE profile_id = 120 AND name = 'recorder.run_delay_ms'");
    /* Of one processor it is alone there. */
    ran("UPDATE counters SET value = 1 WHERE profile_id = 120");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 2", "warning");
    /* Nor does a lock cost anything where its threads used 80 % of the processors, or four were ready for two. */
    ran("INSERT INTO profiles(id, run_id, process_id, kind) VALUES (110, 7, NULL, 'recorder'), (111, 7, 7, 'cpu');"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (110, 'recorder.processors', 2, 'count');"
        "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (111, 4, 159, 1599999999)");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 7", "critical");
    ran("UPDATE cpu SET cpu_ns = 1600000000 WHERE profile_id = 111");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 7", "note");
    ran("UPDATE cpu SET cpu_ns = 1000000000 WHERE profile_id = 111;"
        "UPDATE rules SET value = 100000 WHERE name = 'wait_delay_percent';"
        "INSERT INTO counters(profile_id, name, value, unit) VALUES (110, 'recorder.run_delay_ms', 3999, 'ms')");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 7", "critical");
    ran("UPDATE counters SET value = 4000 WHERE profile_id = 110 AND name = 'recorder.run_delay_ms'");
    expect_rows("SELECT severity FROM doctor_wait WHERE run_id = 7", "note");
}

/* 1 s of CPU time: from 250 ms on, the threads had no processor in 20 % of the time in which they ran or wanted to. */
static void test_crowded(void **state) {
    (void)state;
    static const struct {
        const char *delay_ms, *cpu_ns, *expected;
    } cases[] = {
        {"250", "1000000000", "crowded note"},
        {"241", "1000000000", ""},
        {"99", "1000000", ""},
        {"100", "1000000", "crowded note"},
        {"250", NULL, "crowded note"}, /* of a run of one second */
        {"241", NULL, ""},
        {NULL, "1000000000", ""},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]')");
    for (int i = 1; i <= (int)COUNT(cases); i++) {
        put("INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (%d, 'r%d', 0, 1000000000, 'profile');"
            "INSERT INTO profiles(id, run_id, kind) VALUES (%d, %d, 'recorder'), (%d, %d, 'cpu')",
            i, i, 2 * i, i, 2 * i + 1, i);
        if (cases[i - 1].delay_ms)
            put("INSERT INTO counters(profile_id, name, value, unit) VALUES (%d, 'recorder.run_delay_ms', %s, 'ms')",
                2 * i, cases[i - 1].delay_ms);
        if (cases[i - 1].cpu_ns)
            put("INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (%d, 1, 1, %s)", 2 * i + 1,
                cases[i - 1].cpu_ns);
    }
    for (int i = 1; i <= (int)COUNT(cases); i++)
        expect_findings("doctor_processors", i, cases[i - 1].expected, "time without a processor");
    expect_rows("SELECT delay_percent, ready_threads FROM doctor_processors WHERE run_id = 1", "20 1.3");
    expect_rows("SELECT thread, window_from_ns FROM doctor_processors WHERE run_id = 1", " ");

    /* By thread and by window: two processes have one window each up to 400 ms, and one has another one. */
    ran("INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (91, 1, 5, 1, 'x', 0), (92, 1, 6, "
        "1, 'x', 0);"
        "INSERT INTO thread_delays VALUES (91, 5, 'main', 7000, 100000000), (91, 7, 'drawer', 8000, 120000000), (92, "
        "6, "
        "'main', 9, 30000000);"
        "INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES (901, 1, 91, 'cpu', "
        "300000000, "
        "300000000), (902, 1, 91, 'cpu', 400000000, 100000000), (903, 1, 92, 'cpu', 400000000, 400000000);"
        "INSERT INTO counters(profile_id, name, value, unit) SELECT 900 + value, 'process.run_delay_ns', 60000000, "
        "'ns' "
        "FROM json_each('[1, 2, 3]')");
    expect_rows("SELECT thread, thread_delay_ns, window_from_ns, window_ns, window_delay_ns FROM doctor_processors "
                "WHERE run_id = 1",
                "drawer 120000000 0 400000000 120000000");
    expect_rows("SELECT rank, pid, tid, name, ran_ns FROM delay_facts WHERE run_id = 1 AND rank = 3", "3 6 6 main 9");
    expect_rows("SELECT value FROM series WHERE run_id = 1 AND subject = 'counter process.run_delay_ns'",
                "180000000.0");
}

/* ---- what was lost --------------------------------------------------------------------------------------------------- */

static void put_flushes(const struct window *window, const void *item) {
    put("INSERT INTO counters VALUES (%d, 'recorder.flush_ms', %lld, 'ms')", window->profile,
        share(window, *(const int64_t *)item));
}

static void test_slow_flush(void **state) {
    (void)state;
    static const struct {
        const char *why;
        int64_t flush_ms, run_ms;
        const char *expected;
    } cases[] = {
        {"1 s of 10", 1000, 10000, "slow-flush note"},
        {"999 ms of 1 s", 999, 1000, ""},
        {"9.5 % rounds to 10", 1900, 20000, "slow-flush note"},
        {"9.4 % rounds to 9", 1880, 20000, ""},
        {"of a run whose end was not seen", 1000, 0, "slow-flush note"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_case(i, "heap", put_flushes, &cases[i].flush_ms);
        put("UPDATE runs SET duration_ns = %lld WHERE id %% %d = %zu", (long long)cases[i].run_ms * 1000000, SPLIT,
            i + 1);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_saturation", i, cases[i].expected, cases[i].why);
}

struct loss_case {
    const char *why, *kind;
    int64_t lost, recorded;
    const char *expected;
};

static void put_loss(const struct window *window, const void *item) {
    const struct loss_case *loss = item;
    long long recorded = share(window, loss->recorded);
    put("UPDATE profiles SET dropped = %lld WHERE id = %d", share(window, loss->lost), window->profile);
    if (strcmp(loss->kind, "cpu") == 0)
        put("INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (%d, 1, %lld, 1)", window->profile,
            recorded);
    if (strcmp(loss->kind, "heap") == 0)
        put("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES "
            "(%d, 1, %lld, %lld, %lld, %lld)",
            window->profile, recorded - recorded / 3, recorded - recorded / 3, recorded / 3, recorded / 3);
    if (strcmp(loss->kind, "lock") == 0)
        put("INSERT INTO locks(profile_id, object_id, address, kind, acquires, read_acquires) VALUES "
            "(%d, 1, 1, 'rwlock', %lld, %lld)",
            window->profile, recorded - recorded / 4, recorded / 4);
    if (strcmp(loss->kind, "mvcc") == 0)
        put("INSERT INTO cells(profile_id, object_id, address, struct_size, reads, commits, retries, update_failures) "
            "VALUES (%d, 1, 1, 8, %lld, %lld, 0, 0)",
            window->profile, recorded - recorded / 4, recorded / 4);
    if (strcmp(loss->kind, "channels") == 0)
        put("INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops) VALUES (%d, 1, 1, 8, %lld, "
            "%lld)",
            window->profile, recorded - recorded / 4, recorded / 4);
}

/* One lost sample of a short run is no news; a loss that moves the figures leads the report. */
static void test_losses(void **state) {
    (void)state;
    static const struct loss_case cases[] = {
        {"one CPU sample of 30", "cpu", 1, 29, "dropped note"},
        {"nine of 18", "cpu", 9, 9, "dropped note"},
        {"ten of 20", "cpu", 10, 10, "dropped warning"},
        {"4.49 % rounds to 4", "cpu", 449, 9551, "dropped note"},
        {"4.50 % rounds to 5", "cpu", 450, 9550, "dropped warning"},
        {"all of them", "cpu", 3, 0, "dropped warning"},
        {"one heap event of 201: 0.498 %", "heap", 1, 200, "dropped note"},
        {"one of 200: 0.5 % rounds to 1", "heap", 1, 199, "dropped warning"},
        {"lock operations, 0.498 %", "lock", 10, 2000, "dropped note"},
        {"lock operations, 0.5 %", "lock", 10, 1990, "dropped warning"},
        {"cells, 0.498 %", "mvcc", 10, 2000, "dropped note"},
        {"cells, 0.5 %", "mvcc", 10, 1990, "dropped warning"},
        {"channels, 0.498 %", "channels", 10, 2000, "dropped note"},
        {"channels, 0.5 %", "channels", 10, 1990, "dropped warning"},
        {"of a kind whose events are not known", "goroutine", 1, 1000, "dropped warning"},
    };
    ran("INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[]');"
        "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'x', 'x')");
    for (size_t i = 0; i < COUNT(cases); i++)
        put_case(i, cases[i].kind, put_loss, &cases[i]);
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_case("doctor_saturation", i, cases[i].expected, cases[i].why);
    expect_rows("SELECT evidence, recorded, percent FROM doctor_saturation WHERE run_id IN (1, 15) ORDER BY run_id",
                "{\"count\":1,\"recorded\":29,\"percent\":3} 29 3;{\"count\":1,\"recorded\":null,\"percent\":null}  ");
    /* Of every 100th event: one that was lost stands for a hundred. */
    ran("UPDATE profiles SET sample_n = 100 WHERE run_id = 7");
    expect_findings("doctor_saturation", 7, "dropped warning;sampled note", "one sampled event of three");
    ran("UPDATE rules SET value = 60 WHERE name = 'dropped_note_percent'");
    expect_findings("doctor_saturation", 3, "dropped note", "another threshold");
}

/* ---- codes, views, texts --------------------------------------------------------------------------------------------- */

static const struct {
    const char *section, *codes[12];
} sections[] = {
    {"heap", {"arena", "growth", "peak", "quadratic-growth", "rc", "leak", "temporary"}},
    {"channel", {"slow-consumer", "slow-producer", "backpressure", "balanced"}},
    {"fibers", {"micro-fibers", "imbalance"}},
    {"thread", {"thread-churn", "busy-wait"}},
    {"trace", {"convoy", "inversion", "io-under-lock", "long-region"}},
    {"io", {"tiny-io", "frequent-sync"}},
    {"polling", {"polling"}},
    {"line", {"temporary", "leak", "arena"}},
    {"map", {"map-churn"}},
    {"memory", {"fragmentation"}},
    {"spin", {"busy-wait"}},
    {"call", {"hot-call", "exceptions"}},
    {"queue", {"unbounded"}},
    {"wait", {"herd", "lost-wakeup", "slow-consumer", "slow-producer", "contended", "imbalance"}},
    {"lock",
     {"deadlock", "work-under-lock", "mvcc-fit", "atomic-fit", "atomic-ptr-fit", "hot-long", "starved", "contended",
      "long-hold", "ok"}},
    {"cell", {"cow-thrash", "misuse", "high-retry", "exhausted", "atomic-ptr-upgrade", "ok"}},
    {"sharing", {"false-sharing", "true-sharing"}},
    {"hardware", {"ipc-low", "ipc-good", "llc-high", "llc-moderate", "branch-high"}},
    {"freeze", {"freeze"}},
    {"processors", {"crowded"}},
    {"saturation",
     {"dropped", "truncated", "sampled", "sampled-bytes", "slow-flush", "unseen-waits", "paused", "unfinished",
      "warning", "attached", "before"}},
};

static char *view_of(const char *section, const char *code) {
    char *view =
        strcmp(section, code) == 0 ? xasprintf("doctor_%s", section) : xasprintf("doctor_%s_%s", section, code);
    for (char *at = view; *at; at++)
        if (*at == '-') *at = '_';
    return view;
}

/* One row of every code, made by hand, goes through the view of its code alone: the union knows it once. */
static void check_code(const char *section, const char *code) {
    char *view = view_of(section, code);
    char *sql = xasprintf("SELECT count(*) FROM pragma_table_info('%s') JOIN pragma_table_info('doctor_%s') AS whole "
                          "USING (cid, name)",
                          view, section);
    char *columns = rows_of(sql);
    if (atoi(columns) < 9) fail_msg("%s: has %s columns of its section", view, columns);
    free(sql);
    free(columns);
    sql = xasprintf("SELECT severity IN ('critical', 'warning', 'note', 'ok'), length(title) > 10, length(text) > 20 "
                    "FROM advice WHERE code = '%s-%s'",
                    section, code);
    char *advice = rows_of(sql);
    if (strcmp(advice, "1 1 1") != 0) fail_msg("advice for %s-%s: \"%s\"", section, code, advice);
    free(sql);
    free(advice);
    free(view);
}

static void test_every_code(void **state) {
    (void)state;
    size_t codes = 0;
    for (size_t i = 0; i < COUNT(sections); i++)
        for (size_t j = 0; j < COUNT(sections[i].codes) && sections[i].codes[j]; j++, codes++)
            check_code(sections[i].section, sections[i].codes[j]);
    char *count = xasprintf("%zu %zu", codes, codes + COUNT(sections) - 2); /* freeze, polling: one code */
    expect_rows("SELECT (SELECT count(*) FROM advice), "
                "(SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name GLOB 'doctor_*')",
                count);
    free(count);
}

/* What a fault in a program calls for is said for CLEAR and for other languages. */
static void test_advice_names_languages(void **state) {
    (void)state;
    expect_rows(
        "SELECT code FROM advice WHERE severity <> 'ok' AND code NOT GLOB 'saturation-*' AND code NOT IN "
        "('hardware-ipc-low', 'processors-crowded') "
        "AND NOT (text LIKE '%CLEAR%' AND text LIKE '%C++%' OR text LIKE '%CLEAR%' AND text LIKE '%Rust%' OR text LIKE "
        "'%CLEAR%' AND text GLOB '*perf record*')",
        "");
    /* Of the processor's waiting there is nothing to change in a language: the figures beside it say where to look. */
    static const char fault[] =
        "SELECT code FROM advice WHERE severity <> 'ok' AND code NOT GLOB 'saturation-*' "
        "AND code NOT IN ('hardware-ipc-low', 'processors-crowded') AND NOT (instr(text, 'CLEAR') AND instr(text, "
        "'C++') AND "
        "instr(text, 'Rust') AND (instr(text, ' C ') OR instr(text, ' C,') OR instr(text, ' C)') OR instr(text, ' "
        "C:')))";
    expect_rows(fault, "");
    expect_rows("SELECT code FROM advice WHERE severity <> 'ok' AND code NOT GLOB 'saturation-*' AND "
                "NOT (instr(text, 'Not ') OR instr(text, 'Only a note while'))",
                "");
    static const char *const words[] = {
        "@shared:versioned", "@shared:atomic", "@indirect:atomic", "@shared:writeLocked", "@indirect ",
        "BG { @parallel",    "FREEZE"};
    for (size_t i = 0; i < COUNT(words); i++) {
        char *sql = xasprintf("SELECT count(*) > 0 FROM advice WHERE instr(text, '%s')", words[i]);
        expect_rows(sql, "1");
        free(sql);
    }
}

/* ---- plans ----------------------------------------------------------------------------------------------------------- */

/* "SCAN sites" or "SCAN profiles USING ...": the table is read through. */
static bool scans(const char *step, const char *table) {
    size_t size = strlen(table);
    return strncmp(step, "SCAN ", 5) == 0 && strncmp(step + 5, table, size) == 0 &&
           (!step[5 + size] || step[5 + size] == ' ');
}

/* A question about one run reads the rows of that run: no table that grows with the runs is read through. */
static void test_one_run_is_searched(void **state) {
    (void)state;
    struct error err = {0};
    char *tables = rows_of("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN "
                           "('rules', 'advice', 'wrappers', 'queries', 'meta')"); /* these do not grow */
    sqlite3_stmt *row = db_prepare(&db, "EXPLAIN QUERY PLAN SELECT * FROM doctor WHERE run_id = 1", &err);
    bool is_subquery = false; /* doctor_saturation calls one of its own profiles */
    int steps = 0;
    for (; db_step(&db, row, &err) == 1; steps++) {
        const char *step = db_text(row, 3);
        is_subquery |= strcmp(step, "MATERIALIZE profiles") == 0 || strcmp(step, "CO-ROUTINE profiles") == 0;
        if (is_subquery && strcmp(step, "SCAN profiles") == 0) continue;
        char *names = xstrdup(tables), *rest = names;
        for (char *table; (table = strsep(&rest, ";"));)
            if (scans(step, table)) fail_msg("%s", step);
        free(names);
    }
    free(tables);
    assert_true(steps > 50);
}

/* ---- diagnoses of users ---------------------------------------------------------------------------------------------- */

#define EIGHT(severity, subject)                                                                                       \
    "1 AS run_id, 'mine' AS section, 'found' AS code, '" severity "' AS severity, '" subject "' AS subject, "          \
    "'{\"n\":1}' AS evidence, '[]' AS trace_ids, 'do' AS advice"

static const char joined[] = "SELECT severity, subject FROM doctor";

static void test_users_views_join(void **state) {
    (void)state;
    ran(channel_object);
    put_run(1, "profile", "channels", 1, put_channel,
            &(struct channel_case){"", 10, 10, 900, 900, 900, 0, 5000000, 0, ""});
    /* Sorted among the others of its severity by its weight (the channel's is 5,000,000 ns), behind them without one. */
    ran("CREATE VIEW doctor_heavy AS SELECT " EIGHT(
        "warning",
        "heavy") ", 5000001 AS weight;"
                 "CREATE VIEW doctor_light AS SELECT " EIGHT(
                     "warning",
                     "light") ", 4999999.5 AS Weight;"
                              "CREATE VIEW doctor_plain AS SELECT 'any' AS first, " EIGHT(
                                  "warning",
                                  "plain") ";"
                                           "CREATE VIEW Doctor_Worst AS SELECT " EIGHT(
                                               "critical",
                                               "worst") ";"
                                                        "CREATE VIEW doctors AS SELECT " EIGHT(
                                                            "critical",
                                                            "no diagnosis by its name") ";"
                                                                                        "CREATE TABLE doctor_table AS "
                                                                                        "SELECT " EIGHT("critical",
                                                                                                        "no view"));
    expect_rows(joined, "warning channel#1");
    reopen(DB_WRITE);
    expect_rows(joined, "critical worst;warning heavy;warning channel#1;warning light;warning plain");
    ran("DROP VIEW doctor_heavy; DROP VIEW doctor_light; CREATE VIEW doctor_light AS SELECT " EIGHT("note", "light"));
    reopen(DB_READ); /* a reader of a file that can be written brings it up to date */
    expect_rows(joined, "critical worst;warning channel#1;warning plain;note light");
    reopen(DB_WRITE);
    expect_rows("SELECT name FROM sqlite_schema WHERE name = 'doctor' AND sql NOT LIKE '%heavy%'", "doctor");
    /* A doctor that is gone is made again at once, any other view of ours with the next clear. */
    ran("DROP VIEW doctor; DROP VIEW doctor_lock_ok");
    reopen(DB_WRITE);
    expect_rows(joined, "critical worst;warning channel#1;warning plain;note light");
    ran("UPDATE meta SET value = 'other' WHERE key = 'views_hash'");
    reopen(DB_WRITE);
    expect_rows("SELECT count(*) FROM doctor_lock_ok", "0");
    expect_rows(joined, "critical worst;warning channel#1;warning plain;note light");
}

/* A diagnosis that another clear had, and this one has not, is no user's: it goes, as the file says whose it was. */
static void test_views_of_another_clear(void **state) {
    (void)state;
    ran("CREATE VIEW doctor_former AS SELECT " EIGHT(
        "critical", "former") ";"
                              "CREATE VIEW doctor_mine AS SELECT " EIGHT(
                                  "critical", "mine") ";"
                                                      "UPDATE meta SET value = json_insert(value, '$[#]', "
                                                      "'doctor_former') WHERE key = 'own_views';"
                                                      "UPDATE meta SET value = 'other' WHERE key = 'views_hash'");
    reopen(DB_WRITE);
    expect_rows(joined, "critical mine");
    expect_rows("SELECT count(*) FROM sqlite_schema WHERE name = 'doctor_former'", "0");
    expect_rows("SELECT count(*) = (SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name NOT IN "
                "('doctor_mine', 'sites')) "
                "FROM meta, "
                "json_each(meta.value) WHERE meta.key = 'own_views'",
                "1");
}

static void note(void *context, const char *view, const char *why) {
    buffer_printf(context, "%s: %s\n", view, why);
}

static void expect_left_out(int64_t run, const char *expected) {
    struct buffer said = {0};
    struct error err = {0};
    if (diagnoses_check(&db, run, note, &said, &err)) fail_msg("%s", err.message);
    assert_string_equal(buffer_text(&said), expected);
    buffer_free(&said);
}

static void test_users_views_that_fail(void **state) {
    (void)state;
    put_run(1, "profile", "heap", 1, put_flushes, &(int64_t){0});
    put_run(2, "profile", "heap", 1, put_flushes, &(int64_t){0});
    ran("CREATE VIEW doctor_good AS SELECT " EIGHT(
        "note",
        "good") ";"
                "CREATE VIEW doctor_few AS SELECT 1 AS run_id, 's' AS section, 'c' AS code, 'note' AS severity;"
                "CREATE VIEW doctor_gone AS SELECT * FROM nowhere; CREATE VIEW \"doctor_\"\"quoted; --\" AS SELECT x;"
                "CREATE VIEW indirect AS SELECT * FROM doctor WHERE severity = 'note';"
                "CREATE VIEW doctor_loop AS SELECT * FROM indirect");
    static const char unfit[] = "doctor_\"quoted; --: no such column: x\n"
                                "doctor_few: it has no column subject, evidence, trace_ids, advice\n"
                                "doctor_gone: no such table: main.nowhere\n"
                                "doctor_loop: it reads the view doctor, which it would be part of\n";
    for (int i = 0; i < 2; i++) { /* opening it again finds nothing new to do */
        reopen(DB_WRITE);
        expect_rows(joined, "note good");
        expect_left_out(1, unfit);
        expect_rows("SELECT count(*) FROM temp.sqlite_schema", "0");
    }
    int64_t version, again;
    struct error err = {0};
    assert_int_equal(db_int(&db, "PRAGMA schema_version", 0, &version, &err), 0);
    reopen(DB_WRITE);
    assert_int_equal(db_int(&db, "PRAGMA schema_version", 0, &again, &err), 0);
    assert_int_equal(version, again);
    /* A table that a view stands on goes away, and comes back. */
    ran("CREATE TABLE nowhere AS SELECT " EIGHT("warning", "there"));
    reopen(DB_WRITE);
    expect_rows(joined, "warning there;note good");
    ran("DROP TABLE nowhere");
    reopen(DB_READ);
    expect_rows(joined, "note good");
}

/* What only the rows of one run show: that view is left out where that run is asked about, for this connection. */
static void test_users_rows_that_fail(void **state) {
    (void)state;
    static const struct {
        const char *severity, *evidence, *trace_ids, *section, *why;
    } cases[] = {
        {"'dire'", "'{}'", "'[]'", "'s'", "a severity is not critical, warning, note or ok: dire"},
        {"NULL", "'{}'", "'[]'", "'s'", "a severity is not critical, warning, note or ok: NULL"},
        {"'note'", "'{'", "'[]'", "'s'", "evidence is not a JSON object"},
        {"'note'", "NULL", "'[]'", "'s'", "evidence is not a JSON object"},
        {"'note'", "'[]'", "'[]'", "'s'", "evidence is not a JSON object"},
        {"'note'", "'{}'", "'7'", "'s'", "trace_ids is not a JSON array"},
        {"'note'", "'{}'", "NULL", "'s'", "trace_ids is not a JSON array"},
        {"'note'", "'{}'", "'[]'", "''", "a row has no section"},
    };
    put_run(1, "profile", "heap", 1, put_flushes, &(int64_t){0});
    put_run(2, "profile", "heap", 1, put_flushes, &(int64_t){0});
    ran("CREATE VIEW doctor_good AS SELECT " EIGHT("note", "good"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        put("CREATE VIEW doctor_row AS SELECT id AS run_id, %s AS section, 'c' AS code, %s AS severity, '' AS subject, "
            "%s AS evidence, %s AS trace_ids, '' AS advice FROM runs WHERE id = 2",
            cases[i].section, cases[i].severity, cases[i].evidence, cases[i].trace_ids);
        reopen(DB_WRITE);
        expect_left_out(1, "");
        char *expected = xasprintf("doctor_row: %s\n", cases[i].why);
        expect_left_out(2, expected);
        expect_rows("SELECT code FROM doctor", "found"); /* without it */
        expect_left_out(2, expected);
        free(expected);
        ran("DROP VIEW main.doctor_row");
    }
}

/* A view that fails when it runs would take the union with it in any shell: it is kept out of the file's, until it no longer fails. */
static void test_users_views_that_break(void **state) {
    (void)state;
    put_run(1, "profile", "heap", 1, put_flushes, &(int64_t){0});
    put_run(2, "profile", "heap", 1, put_flushes, &(int64_t){0});
    ran("CREATE TABLE noted(run_id, text); CREATE VIEW doctor_good AS SELECT " EIGHT(
        "note",
        "good") ";"
                "CREATE VIEW doctor_noted AS SELECT run_id, 'mine' AS section, 'noted' AS code, 'note' AS severity, "
                "text ->> 'of' AS subject, '{}' AS evidence, '[]' AS trace_ids, '' AS advice FROM noted;"
                "INSERT INTO noted VALUES (1, '{\"of\":\"x\"}')");
    reopen(DB_WRITE);
    expect_rows(joined, "note good;note x");
    /* By what is written, when that is closed: even where it is of another run than those that are asked about. */
    ran("INSERT INTO noted VALUES (2, '{')");
    reopen(DB_READ);
    expect_rows(joined, "note good");
    expect_rows("SELECT count(*) FROM temp.sqlite_schema", "0");
    expect_left_out(1, "doctor_noted: malformed JSON\n");
    int64_t version, again;
    struct error err = {0};
    reopen(DB_WRITE);
    assert_int_equal(db_int(&db, "PRAGMA schema_version", 0, &version, &err), 0);
    reopen(DB_WRITE); /* nothing new to do */
    assert_int_equal(db_int(&db, "PRAGMA schema_version", 0, &again, &err), 0);
    assert_int_equal(version, again);
    expect_rows(joined, "note good");
    ran("DELETE FROM noted WHERE run_id = 2");
    reopen(DB_READ);
    expect_rows(joined, "note good;note x");
    expect_left_out(1, "");
    reopen(DB_WRITE);
    /* One that is new, and one that is made anew under the same name. */
    ran("CREATE VIEW doctor_new AS SELECT " EIGHT("critical", "new") " WHERE json_extract('{', '$') IS NULL");
    reopen(DB_WRITE);
    expect_rows(joined, "note good;note x");
    expect_left_out(2, "doctor_new: malformed JSON\n");
    ran("DROP VIEW doctor_new; CREATE VIEW doctor_new AS SELECT " EIGHT("critical", "new"));
    reopen(DB_READ);
    expect_rows(joined, "critical new;note good;note x");
    reopen(DB_WRITE);
    /* One that never ends is no reason to wait. */
    ran("CREATE VIEW doctor_slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT " EIGHT("note", "slow") " FROM n WHERE i < 0");
    reopen(DB_WRITE);
    expect_rows("SELECT count(*) FROM meta WHERE key = 'failing_diagnoses'", "0");
    ran("DROP VIEW doctor_slow");
}

/* ---- a directory says what the run says -------------------------------------------------------------------------------- */

static void use_the_same_rules(struct db *other) {
    struct error err = {0};
    sqlite3_stmt *rule = db_prepare(&db, "SELECT name, value FROM rules", &err);
    int code = -1;
    while (rule && (code = db_step(&db, rule, &err)) == 1) {
        sqlite3_stmt *update = db_prepare(other, "UPDATE rules SET value = :value WHERE name = :name", &err);
        if (!update) break;
        db_bind_text(update, ":name", db_text(rule, 0));
        db_bind_real(update, ":value", sqlite3_column_double(rule, 1));
        if (db_run(other, update, &err)) break;
    }
    if (code) fail_msg("rules: %s", err.message);
}

static char *findings_of(struct db *from, int64_t run) {
    static const char sql[] = "SELECT section || '/' || code || ' ' || severity || ' ' || subject || ' ' || evidence "
                              "FROM doctor WHERE run_id = :run ORDER BY 1";
    struct error err = {0};
    struct buffer text = {0};
    sqlite3_stmt *row = db_prepare(from, sql, &err);
    if (row) db_bind_int(row, ":run", run);
    int code = -1;
    while (row && (code = db_step(from, row, &err)) == 1)
        buffer_printf(&text, "%s\n", db_text(row, 0));
    if (code) fail_msg("findings: %s", err.message);
    if (!text.data) buffer_add_text(&text, "");
    return buffer_take(&text);
}

static void expect_the_same(struct ingest *ingest, int64_t run, const char *file) {
    struct error err = {0};
    struct ingest_result result;
    if (run_rows_write(&db, run, file, &err)) fail_msg("run %lld: %s", (long long)run, err.message);
    if (ingest_path(ingest, file, &result, &err)) fail_msg("run %lld: %s", (long long)run, err.message);
    char *want = findings_of(&db, run), *got = findings_of(ingest->db, result.run_id);
    if (strcmp(want, got) != 0) fail_msg("run %lld has\n%sits rows say\n%s", (long long)run, want, got);
    free(want);
    free(got);
    unlink(file);
}

/* Cases make stacks without frames, of which a warehouse that clear writes has one only, and lines without a location. */
static void complete_stacks(void) {
    ran("CREATE TEMP TABLE alike AS SELECT id, 100000 + id AS own FROM traces "
        "WHERE stack IN (SELECT stack FROM traces GROUP BY stack HAVING count(*) > 1);"
        "INSERT INTO functions(id, name) SELECT own, 'stack ' || id FROM alike;"
        "INSERT INTO locations(id, mapping_id, address) SELECT own, 0, own FROM alike;"
        "UPDATE traces SET stack = '[' || (id + 100000) || ']', location_id = id + 100000, "
        "function_id = coalesce(function_id, id + 100000) WHERE id IN (SELECT id FROM alike);"
        "INSERT INTO location_lines(location_id, position, function_id, line) SELECT location_id, 0, function_id, line "
        "FROM traces WHERE location_id IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM location_lines WHERE location_lines.location_id = traces.location_id)");
}

/* The first run of each code that the case has made, sealed anew with complete stacks. */
static char *runs_of_each_code(void) {
    struct error err = {0};
    char *runs = rows_with(
        "SELECT DISTINCT run_id FROM (SELECT min(run_id) AS run_id FROM finding_codes GROUP BY section, code)", ' ',
        ' ');
    complete_stacks();
    for (const char *at = runs; *at; at = strchr(at, ' ') + 1)
        put("DELETE FROM seals WHERE run_id = %d", atoi(at));
    if (facts_seal_pending(&db, &err)) fail_msg("%s", err.message);
    return runs;
}

/* Written as the run.txt.gz of a directory and read into another warehouse, the runs have the same findings with the same evidence. */
static int read_back_and_remove(void **state) {
    struct error err = {0};
    struct db other;
    struct ingest ingest;
    char *file = xasprintf("%s.txt.gz", path), *runs = runs_of_each_code();
    if (db_open_private(&other, "other", &err)) fail_msg("%s", err.message);
    use_the_same_rules(&other);
    if (ingest_open(&ingest, &other, &(struct ingest_options){0}, &err)) fail_msg("%s", err.message);
    for (const char *at = runs; *at; at = strchr(at, ' ') + 1)
        expect_the_same(&ingest, atoi(at), file);
    free(runs);
    free(file);
    ingest_close(&ingest);
    return db_close(&other, &err) || remove_it(state) ? -1 : 0;
}

/* What is asked for one run finds what the view has, in each case. */
static int compare_and_remove(void **state) {
    if (db.handle) {
        const int64_t last = number("SELECT coalesce(max(id), 0) FROM runs");
        size_t size;
        for (int64_t run = 1; run <= last; run++)
            expect_findings_of_the_view(run, &size);
    }
    return remove_it(state);
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, open_new, compare_and_remove)
#define CASES(name) cmocka_unit_test_setup_teardown(name, open_new, read_back_and_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASES(test_channel_codes),
        CASES(test_channel_severity),
        CASES(test_channel_identity),
        CASES(test_fiber_codes),
        CASES(test_fiber_sites),
        CASES(test_cell_codes),
        CASES(test_cell_sums_callers),
        CASES(test_products_beyond_64_bits),
        CASES(test_hardware_codes),
        CASES(test_counter_names),
        CASES(test_sharing_codes),
        CASES(test_freeze),
        CASES(test_tiny_blocks),
        CASES(test_temporary_blocks),
        CASES(test_quadratic_growth),
        CASES(test_quiet_sites),
        CASES(test_searched_or_lived),
        CASES(test_tables_of_the_start),
        CASES(test_growth),
        CASES(test_peak),
        CASES(test_thread_codes),
        CASES(test_busy_wait),
        CASES(test_polling),
        CASES(test_spin_loops),
        CASES(test_map_churn),
        CASES(test_fragmentation),
        CASES(test_hot_calls),
        CASES(test_own_code),
        CASES(test_lines),
        CASES(test_lines_of_blocks),
        CASES(test_unbounded),
        CASES(test_clock_readers),
        CASES(test_io_codes),
        CASES(test_frequent_sync),
        CASES(test_wait_codes),
        CASES(test_wait_objects),
        CASES(test_crowded),
        CASES(test_slow_flush),
        CASES(test_losses),
        TEST(test_every_code),
        TEST(test_advice_names_languages),
        TEST(test_one_run_is_searched),
        TEST(test_users_views_join),
        TEST(test_views_of_another_clear),
        TEST(test_users_views_that_fail),
        TEST(test_users_rows_that_fail),
        TEST(test_users_views_that_break),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
