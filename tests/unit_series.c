/* unit_series: what a delta path tells of a recording that goes on, time after time, is what happened in it since, whatever windows were
 * folded together meanwhile; and where none was folded across the last time, it does not read all of the run again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/export.h"
#include "export/format.h"
#include "query/profile/load/series.h"
#include "tests/unit_warehouse.h"

enum { SITES = 2000, MOVED = 20, STEP_NS = 1000, BLOCK = 48 };

static const char world[] =
    "INSERT INTO runs(id, uuid, started_ns, source, flags) VALUES (1, 'u1', 0, 'profile', 'unfinished');"
    "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 77, 1, '/bin/program', 0);"
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
    "  INSERT INTO functions(id, name) SELECT i, 'site_' || i FROM n;"
    "INSERT INTO locations(id, mapping_id, address) SELECT id, 0, 4096 + 16 * id FROM functions;"
    "INSERT INTO location_lines(location_id, position, function_id) SELECT id, 0, id FROM functions;"
    "INSERT INTO traces(id, hash, signature, stack) SELECT id, id, id, '[' || id || ']' FROM functions;"
    "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'channel', 'name:q', 'q');";

/* What the program did: all of it, and what of that was told. */
static int64_t allocs[SITES + 1], frees[SITES + 1], told[SITES + 1];
static int64_t now_ns;
static bool keeps_some;
static uint64_t random_state = 88172645463325252ull;
static struct error err;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void ok(int code) {
    if (code < 0 || err.status) fail_msg("%s", err.message);
}

static int open_world(void **state) {
    if (open_new(state)) return -1;
    ran(world);
    memset(allocs, 0, sizeof allocs), memset(frees, 0, sizeof frees), memset(told, 0, sizeof told);
    now_ns = 0;
    return 0;
}

static void run_sql(const char *sql, int64_t a, int64_t b, int64_t c, int64_t d) {
    sqlite3_stmt *statement = db_prepare(&db, sql, &err);
    ok(statement ? 0 : -1);
    const int64_t values[] = {a, b, c, d};
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
    ok(db_run(&db, statement, &err));
}

/* ---- a recording ------------------------------------------------------------------------------------------------- */

static void add_window(const char *kind) {
    sqlite3_stmt *statement = db_prepare(
        &db, "INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns) VALUES (1, 1, :kind, :now, :step)",
        &err);
    now_ns += STEP_NS;
    db_bind_text(statement, ":kind", kind);
    db_bind_int(statement, ":now", now_ns);
    db_bind_int(statement, ":step", STEP_NS);
    ok(db_run(&db, statement, &err));
}

/* A window in which `count` sites moved: all blocks are freed in it, or most, some later, some never. */
static void flush(unsigned count) {
    add_window("heap");
    int64_t profile = sqlite3_last_insert_rowid(db.handle);
    uint64_t first = next_random() % SITES;
    for (unsigned i = 0; i < count; i++) {
        uint64_t site = 1 + (first + i * 97) % SITES;
        int64_t more = 1 + (int64_t)(next_random() % 4), fewer = allocs[site] + more - frees[site];
        if (keeps_some && next_random() % 3 == 0) fewer -= fewer > 1;
        allocs[site] += more, frees[site] += fewer;
        run_sql("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)"
                " VALUES (?1, ?2, ?3, ?3 * 48, ?4, ?4 * 48)",
                profile, (int64_t)site, more, fewer);
    }
}

/* Of the window after so many others; 0 where there is none. */
static int64_t window_after(int64_t count) {
    sqlite3_stmt *statement =
        db_prepare(&db, "SELECT id FROM profiles WHERE kind = 'heap' ORDER BY time_ns LIMIT 1 OFFSET :count", &err);
    db_bind_int(statement, ":count", count);
    int64_t id = db_step(&db, statement, &err) == 1 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return id;
}

/* A window and the one after it become one, as the recorder folds them. */
static void fold(int64_t after) {
    int64_t one = window_after(after), other = window_after(after + 1);
    if (!other) return;
    run_sql("CREATE TEMP TABLE both AS SELECT trace_id, sum(alloc_count) AS a, sum(free_count) AS f FROM sites"
            " WHERE profile_id IN (?1, ?2) GROUP BY trace_id",
            one, other, 0, 0);
    run_sql("DELETE FROM site_rows WHERE profile_id IN (?1, ?2)", one, other, 0, 0);
    run_sql("UPDATE profiles SET duration_ns = time_ns - (SELECT time_ns - duration_ns FROM profiles WHERE id = ?1)"
            " WHERE id = ?2",
            one, other, 0, 0);
    run_sql("DELETE FROM profiles WHERE id = ?1", one, 0, 0, 0);
    run_sql("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)"
            " SELECT ?1, trace_id, a, a * 48, f, f * 48 FROM both",
            other, 0, 0, 0);
    ran("DROP TABLE temp.both");
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static char *ask(struct profile_series *series, const char *kind) {
    int64_t run_id = 1;
    struct buffer text = {0};
    const struct export_request request = {.source = {.kind = kind, .runs = {&run_id, 1}},
                                           .allows_none = true,
                                           .series = series,
                                           .format = export_format_find("csv", &err),
                                           .bytes = &text};
    ok(export_write(&db, &request, &err));
    return buffer_take(&text);
}

/* Each line but the first: of one site, what it allocated since the last time, and what it has in use now. */
static void expect_news(struct profile_series *series) {
    char *csv = ask(series, "heap"), *rest = csv;
    int64_t silent = 0;
    bool is_there[SITES + 1] = {false};
    strsep(&rest, "\n");
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        unsigned site;
        long long news, bytes, inuse, inuse_bytes;
        assert_int_equal(sscanf(line, "site_%u,%lld,%lld,%lld,%lld", &site, &news, &bytes, &inuse, &inuse_bytes), 5);
        assert_true(site >= 1 && site <= SITES && !is_there[site] && (news || inuse)); /* no row of zeros */
        assert_int_equal(news, allocs[site] - told[site]);
        assert_int_equal(bytes, news * BLOCK);
        assert_int_equal(inuse, allocs[site] - frees[site]); /* a state, and no difference */
        assert_int_equal(inuse_bytes, inuse * BLOCK);
        is_there[site] = true;
    }
    for (int site = 1; site <= SITES; site++) {
        silent += !is_there[site] && (allocs[site] != told[site] || allocs[site] != frees[site]);
        told[site] = allocs[site];
    }
    assert_int_equal(silent, 0);
    free(csv);
}

static void news_are_what_happened_since(void **state) {
    (void)state;
    struct profile_series *series = profile_series_new();
    unsigned asked = 0;
    keeps_some = true;
    expect_news(series); /* of nothing */
    for (int i = 0; i < 400; i++) {
        flush(1 + next_random() % MOVED);
        int64_t windows = (int64_t)(next_random() % 12);
        if (i > 12 && next_random() % 2) fold(i % 3 ? windows % 3 : windows);
        if (next_random() % 5 == 0) expect_news(series), asked++;
    }
    expect_news(series);
    expect_news(series); /* nothing new: what is in use, and no more */
    ran("UPDATE runs SET flags = ''");
    flush(MOVED);
    expect_news(series);
    assert_true(asked > 40);
    profile_series_free(series);
}

static int64_t steps;

static int count_steps(void *unused) {
    (void)unused;
    steps++;
    return 0;
}

static int64_t steps_of_news(struct profile_series *series) {
    steps = 0;
    sqlite3_progress_handler(db.handle, 10, count_steps, NULL);
    expect_news(series);
    sqlite3_progress_handler(db.handle, 0, NULL, NULL);
    return steps;
}

/* Counted are SQLite's instructions. A hundredth of the sites must not cost a fifth of the first time, unless a window was folded: a
 * name that is looked for alone takes some more steps than one among its neighbours. */
static void news_cost_what_is_new(void **state) {
    (void)state;
    struct profile_series *series = profile_series_new();
    keeps_some = false; /* what is in use is told whether it moved or not */
    flush(SITES);
    int64_t full = steps_of_news(series), moved;
    for (int i = 0; i < 30; i++)
        flush(SITES / 100), moved = steps_of_news(series);
    assert_true(full > 1000);
    if (moved * 5 > full) fail_msg("%lld0 steps for a hundredth of what took %lld0", (long long)moved, (long long)full);
    fold(2); /* all of it was told */
    flush(SITES / 100);
    assert_true(steps_of_news(series) * 5 <= full);
    flush(SITES / 100);
    fold(30); /* half of it was told */
    assert_true(steps_of_news(series) > 2 * moved);
    profile_series_free(series);
}

/* Of a maximum there is no difference: it is told where it rose, as in a window. */
static void a_maximum_is_told_where_it_rose(void **state) {
    (void)state;
    static const struct {
        int64_t pushes, max_depth;
        const char *said;
    } windows[] = {
        {10, 5, "channel#3,16,q,10,0,0,0,5"}, {20, 0, "channel#3,16,q,20,0,0,0,0"}, {1, 8, "channel#3,16,q,1,0,0,0,8"}};
    struct profile_series *series = profile_series_new();
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        add_window("channels");
        run_sql("INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, max_depth) VALUES (?1, 1, 3, "
                "16, ?2, ?3)",
                sqlite3_last_insert_rowid(db.handle), windows[i].pushes, windows[i].max_depth, 0);
        char *csv = ask(series, "channels");
        if (!strstr(csv, windows[i].said)) fail_msg("%s", csv);
        free(csv);
    }
    profile_series_free(series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(news_are_what_happened_since, open_world, remove_it),
        cmocka_unit_test_setup_teardown(news_cost_what_is_new, open_world, remove_it),
        cmocka_unit_test_setup_teardown(a_maximum_is_told_where_it_rose, open_world, remove_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
