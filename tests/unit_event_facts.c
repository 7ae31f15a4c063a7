/* unit_event_facts: the facts of single events (schema/event_facts.h) are what joins of the events with each other say, which take too long
 * for large runs; events that no recording has do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/event_log.h"
#include "schema/event_sweep.h"
#include "tests/unit_warehouse.h"

/* ---- events at random, always the same ---------------------------------------------------------------------------- */

static uint64_t state; /* of the random numbers */

static int64_t below(int64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % limit;
}

static void put_event(int64_t tid, const char *kind, int64_t start_ns, int64_t duration_ns, int64_t lock, int64_t trace,
                      int64_t owner) {
    char *sql = xasprintf(
        "INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid) "
        "VALUES (1, %lld, %lld, %lld, '%s', %lld, %lld, %lld, nullif(%lld, 0))",
        (long long)tid, (long long)start_ns, (long long)duration_ns, kind, (long long)lock,
        (long long)(1000 - 64 * lock), (long long)trace, (long long)owner);
    ran(sql);
    free(sql);
}

/* Threads that do one thing after the other: no two events begin or end at one time, because `number` is in the last digits of each. */
static void put_random(int events) {
    static const char *const kinds[] = {"mutex",   "mutex", "rwlock", "read", "mutex",  "release",
                                        "syscall", "sleep", "hold",   "cond", "region", "mark"};
    enum { KINDS = sizeof kinds / sizeof *kinds, THREADS = 5, LOCKS = 4, TRACES = 12 };
    int64_t now[THREADS] = {0};
    for (int number = 0; number < events; number++) {
        int64_t thread = below(THREADS), lock = 1 + below(LOCKS);
        const char *kind = kinds[below(KINDS)];
        bool is_moment = strcmp(kind, "release") == 0 || strcmp(kind, "mark") == 0;
        bool is_around = strcmp(kind, "hold") == 0 || strcmp(kind, "region") == 0;
        int64_t length = is_moment ? 0 : (1 + below(40)) * (is_around ? 4 : 1);
        now[thread] += below(9);
        put_event(thread + 1, kind, now[thread] * 100000 + 2 * number, length ? length * 100000 + 1 : 0, lock,
                  1 + below(TRACES), below(5) ? 1 + below(THREADS) : 0);
        now[thread] += is_around ? 1 : length + 1;
    }
}

static void put_run(void) {
    ran("INSERT INTO runs(id, uuid, started_ns, source, duration_ns) VALUES (1, 'a', 1, 'profile', 1000000);"
        "INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 1, 1, 'a', 1);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)"
        " INSERT INTO traces(id, hash, signature, stack) SELECT i, i, i, '[]' FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
        " INSERT INTO objects(id, kind, identity, name) SELECT i, 'lock', 'l' || i, 'l' || i FROM n");
}

/* ---- by joins ------------------------------------------------------------------------------------------------------ */

#define LOCKED "('mutex', 'rwlock', 'read', 'spin', 'own')"
#define WAITS                                                                                                          \
    "WITH span AS (SELECT *, start_ns + duration_ns AS end_ns FROM events), wait AS (SELECT * FROM span WHERE kind "   \
    "IN " LOCKED "), "

/* Both queries have the same rows, at least `least`. */
static void expect_same(const char *what, const char *joined, const char *facts, int64_t least) {
    char *more = xasprintf("SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))", joined, facts);
    char *less = xasprintf("SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))", facts, joined);
    char *rows = xasprintf("SELECT count(*) FROM (%s)", facts);
    if (number(more) || number(less) || number(rows) < least)
        fail_msg("%s: %lld rows, %lld missing, %lld too many", what, (long long)number(rows), (long long)number(more),
                 (long long)number(less));
    free(more);
    free(less);
    free(rows);
}

static const char depths[] =
    WAITS "depth AS (SELECT address, (SELECT count(*) FROM wait AS other WHERE other.address = wait.address AND "
          "other.start_ns <= wait.start_ns"
          " AND other.end_ns > wait.start_ns) AS waiters FROM wait WHERE address IN (SELECT address FROM convoy_facts))"
          " SELECT address, waiters, (SELECT count(*) FROM depth AS other WHERE other.address = depth.address AND "
          "other.waiters >= depth.waiters)"
          " FROM depth GROUP BY address, waiters";

static const char convoys[] = WAITS
    "longest AS (SELECT address, max(duration_ns) AS ns, count(*) AS count, "
    "sum(duration_ns) AS time_ns FROM wait GROUP BY address)"
    " SELECT longest.address, object_id, trace_id, count, time_ns FROM longest"
    " JOIN wait ON wait.address = longest.address AND wait.duration_ns = ns"
    " AND wait.id = (SELECT min(id) FROM wait AS other WHERE other.address = wait.address AND other.duration_ns = ns)"
    " WHERE count >= 10 AND EXISTS (SELECT 1 FROM wait AS other WHERE other.address = "
    "wait.address AND EXISTS (SELECT 1 FROM wait AS third"
    "  WHERE third.address = other.address AND third.id <> other.id AND third.start_ns "
    "< other.end_ns AND third.end_ns > other.start_ns))";

/* A thread that waits for `inner` while another one waits for `outer` that found it so, or in its own hold of `outer`. */
static const char orders[] = WAITS
    "nested AS ("
    " SELECT outer.address AS outer, inner.address AS inner, inner.id, inner.duration_ns, inner.trace_id FROM wait AS "
    "outer"
    " JOIN wait AS inner ON inner.tid = outer.owner_tid AND inner.start_ns < outer.end_ns AND inner.end_ns > "
    "outer.start_ns"
    " WHERE inner.address <> outer.address AND NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.kind = 'release' "
    "AND gone.tid = inner.tid"
    "  AND gone.address = outer.address AND gone.start_ns BETWEEN outer.start_ns AND inner.start_ns)"
    " UNION SELECT outer.address, inner.address, inner.id, iif(inner.kind = 'hold', 0, inner.duration_ns), "
    "inner.trace_id FROM span AS outer"
    " JOIN span AS inner ON inner.tid = outer.tid AND inner.start_ns > outer.start_ns AND inner.start_ns < outer.end_ns"
    " WHERE outer.kind = 'hold' AND inner.kind IN ('hold', 'mutex', 'rwlock', 'read') AND inner.address <> "
    "outer.address)"
    " SELECT min(outer, inner), max(outer, inner), sum(outer < inner), sum(outer > inner), sum(duration_ns),"
    "  max(iif(outer < inner, trace_id, 0)), max(iif(outer > inner, trace_id, 0))"
    " FROM nested GROUP BY 1, 2 HAVING max(outer < inner) AND max(outer > inner)";

static const char blocks[] = WAITS
    "during AS ("
    " SELECT wait.address, inner.trace_id, wait.id, wait.trace_id AS waiter,"
    "  min(wait.end_ns, inner.end_ns) - max(wait.start_ns, inner.start_ns) AS ns FROM wait"
    " JOIN span AS inner ON inner.tid = wait.owner_tid AND inner.start_ns < wait.end_ns AND inner.end_ns > "
    "wait.start_ns"
    " WHERE inner.kind IN ('sleep', 'syscall') AND NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.kind = 'release'"
    "  AND gone.tid = inner.tid AND gone.address = wait.address AND gone.start_ns BETWEEN wait.start_ns AND "
    "inner.start_ns))"
    " SELECT address, trace_id, count(DISTINCT id), sum(ns), max(waiter) FROM during GROUP BY 1, 2 HAVING sum(ns) >= "
    "100000";

static const char regions[] =
    "WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY object_id ORDER BY duration_ns, id) AS rank,"
    "  count(*) OVER (PARTITION BY object_id) AS n FROM events WHERE kind = 'region'),"
    " off AS (SELECT * FROM events WHERE kind IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'io', 'sleep')))"
    " SELECT object_id, n, (SELECT sum(duration_ns) FROM ranked AS other WHERE other.object_id = ranked.object_id),"
    "  (SELECT duration_ns FROM ranked AS other WHERE other.object_id = ranked.object_id AND rank = (n * 50 + 99) / "
    "100),"
    "  (SELECT duration_ns FROM ranked AS other WHERE other.object_id = ranked.object_id AND rank = (n * 99 + 99) / "
    "100),"
    "  duration_ns, tid, start_ns, trace_id,"
    "  coalesce((SELECT sum(duration_ns) FROM off WHERE off.tid = ranked.tid"
    "   AND off.start_ns BETWEEN ranked.start_ns AND ranked.start_ns + ranked.duration_ns), 0),"
    "  coalesce((SELECT trace_id FROM off WHERE off.tid = ranked.tid AND off.start_ns BETWEEN ranked.start_ns AND"
    "   ranked.start_ns + ranked.duration_ns ORDER BY duration_ns DESC, id LIMIT 1), 0) FROM ranked WHERE rank = n";

static void test_as_joined(void **unused) {
    (void)unused;
    enum { RUNS = 20 };
    put_run();
    for (int run = 1; run <= RUNS; run++) {
        state = (uint64_t)run;
        ran("DELETE FROM events");
        put_random(40 + 15 * run);
        seal_all();
        expect_same("depths", depths, "SELECT address, waiters, count FROM convoy_depth_facts", 0);
        expect_same("convoys", convoys, "SELECT address, object_id, trace_id, count, time_ns FROM convoy_facts",
                    run == RUNS ? 4 : 0);
        expect_same(
            "orders", orders,
            "SELECT address, other_address, count, back_count, time_ns, trace_id, back_trace_id FROM lock_order_facts",
            run == RUNS ? 4 : 0);
        expect_same("blocks", blocks,
                    "SELECT address, trace_id, count, time_ns, waiter_trace_id FROM blocked_lock_facts",
                    run == RUNS ? 10 : 0);
        expect_same("regions", regions,
                    "SELECT object_id, count, time_ns, p50_ns, p99_ns, max_ns, tid, start_ns, trace_id, off_ns, "
                    "off_trace_id FROM region_facts",
                    run == RUNS ? 4 : 0);
    }
}

/* ---- what no recording has ----------------------------------------------------------------------------------------- */

/* Times at the ends of the range, waits of no length, a thread in two waits at once, who waits for himself. */
static void test_hostile(void **unused) {
    (void)unused;
    put_run();
    for (int i = 0; i < 20; i++) {
        put_event(1, "mutex", INT64_MAX - 5, INT64_MAX, 1, 1, 2);
        put_event(2, "mutex", INT64_MIN + 5, INT64_MAX, 1, 2, 2);
        put_event(2, "sleep", INT64_MIN + 5, INT64_MIN, 2, 3, 2);
        put_event(1, "region", INT64_MIN + 5, INT64_MAX, 2, 3, 0);
        put_event(1, "mutex", 10, 0, 1, 4, 2);
        put_event(1, "read", 10, 5, 2, 4, 1);
        put_event(1, "hold", 10, 5, 2, 4, 1);
        put_event(2, "syscall", 11, 2, 3, 5, 0);
        put_event(2, "release", 12, 0, 1, 5, 0);
    }
    seal_all();
    assert_int_equal(number("SELECT count(*) FROM convoy_facts"), 2);
    assert_int_equal(number("SELECT time_ns FROM convoy_facts WHERE address = 936"), INT64_MAX);
    assert_int_equal(number("SELECT count(*) FROM region_facts"), 1);
}

/* A thread that has more locks than are followed, while each of as many others waits for one of them: the first ones count. */
static void test_many_locks(void **unused) {
    (void)unused;
    put_run();
    for (int i = 1; i <= 100; i++)
        put_event(100 + i, "mutex", 1000 + i, 500000, i, 1, 1);
    for (int i = 1; i <= 100; i++)
        put_event(1, "hold", 1000 + i, 500000, i, 2, 0);
    put_event(1, "sleep", 2000, 400000, 100, 3, 0);
    put_event(1, "mutex", 500000, 1, 50, 4, 0);
    seal_all();
    assert_int_equal(number("SELECT count(*) FROM blocked_lock_facts"), SWEEP_LOCKS);
    assert_int_equal(number("SELECT sum(count = 1 AND time_ns = 400000) FROM blocked_lock_facts"), SWEEP_LOCKS);
}

/* ---- the log ------------------------------------------------------------------------------------------------------- */

static void test_classes(void **unused) {
    (void)unused;
    struct error err = {0};
    static const char *const classes[] = {"mark sample ready", "wait", "wait", "sleep io", "hold", "release", "region"};
    sqlite3_stmt *row = db_prepare(&db, "SELECT kind, class FROM event_kinds WHERE kind <> 'fiber'", &err);
    int kinds = 0;
    for (; row && db_step(&db, row, &err) == 1; kinds++)
        if (!strstr(classes[event_class_of(db_text(row, 0))], db_text(row, 1)))
            fail_msg("%s is of another class in the view event_kinds", db_text(row, 0));
    assert_true(kinds > 20);
    assert_int_equal(event_class_of("mutex"), EVENT_LOCK);
    assert_int_equal(event_class_of("cond"), EVENT_WAIT);
    assert_int_equal(event_class_of("fiber"), EVENT_LEFT_OUT);
    assert_int_equal(event_class_of("Mutex"), EVENT_LEFT_OUT);
}

static void test_sort(void **unused) {
    (void)unused;
    enum { POINTS = 5000 };
    static struct event_point points[POINTS];
    for (int digits = 0; digits < 64; digits += 7) {
        for (uint32_t i = 0; i < POINTS; i++)
            points[i] =
                (struct event_point){((uint64_t)below(INT32_MAX) << 33 ^ (uint64_t)below(INT32_MAX)) >> digits, i, 0};
        event_points_sort(points, POINTS);
        for (size_t i = 1; i < POINTS; i++)
            assert_true(points[i - 1].at < points[i].at ||
                        (points[i - 1].at == points[i].at && points[i - 1].event < points[i].event));
    }
    event_points_sort(points, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_as_joined, open_new, remove_it),
        cmocka_unit_test_setup_teardown(test_hostile, open_new, remove_it),
        cmocka_unit_test_setup_teardown(test_many_locks, open_new, remove_it),
        cmocka_unit_test_setup_teardown(test_classes, open_new, remove_it),
        cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
