/* unit_clear_dumps: dumps cut at every byte and with every bit flipped: stored whole, or an error that names the place and
 * not one row. What is stored of a cut file is what its whole lines say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/readers.h"

struct world {
    struct db db;
    struct ingest ingest;
    struct error err;
};

static void open_world(struct world *world, bool lenient) {
    *world = (struct world){0};
    const struct ingest_options options = {.lenient = lenient};
    if (db_open(&world->db, ":memory:", DB_WRITE, &world->err) != 0 ||
        ingest_open(&world->ingest, &world->db, &options, &world->err) != 0)
        fail_msg("%s", world->err.message);
}

static void close_world(struct world *world) {
    ingest_close(&world->ingest);
    db_close(&world->db, &world->err);
}

static int64_t ask(struct world *world, const char *sql) {
    int64_t value = 0;
    struct error err = {0};
    if (db_int(&world->db, sql, -1, &value, &err) != 0) fail_msg("%s", err.message);
    return value;
}

static int64_t count_rows(struct world *world) {
    return ask(world, "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM profiles) + (SELECT count(*) FROM"
                      " traces) + (SELECT count(*) FROM functions) + (SELECT count(*) FROM objects)");
}

/* 0, or -1 after checking the error and that nothing is left. */
static int read_bytes(struct world *world, const char *bytes, size_t size) {
    struct input input;
    struct ingest_result result;
    struct error err = {0};
    int64_t before = count_rows(world);
    assert_int_equal(input_open_memory(&input, "mem", (const uint8_t *)bytes, size, &err), 0);
    int code = format_clear_dump.recognise(&input)
                   ? ingest_input(&world->ingest, &input, &format_clear_dump, &result, &err)
                   : 1;
    if (code < 0) {
        assert_int_equal(strncmp(err.message, "mem:", 4), 0);
        assert_int_equal(count_rows(world), before);
    }
    input_close(&input);
    return code;
}

static const char alloc[] = "# alloc-profile v2\n# sample_n: 3\n0x10,0x20 7 70 3 30 40\n0x30 5 500 0 0 500\n";
static const char locks[] = "# lock-profile v3\n0x10\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t0x99,0x98\n";
static const char cells[] = "# mvcc-profile v2\n0x10\t1\t2\t3\t4\t5\t6\t-\n";
static const char channels[] = "# channel-profile v1\n0\t1\t2\t3\t4\t5\t6\n";
static const char fibers[] = "# fiber-profile v1\ntotal_fibers: 42\n# per-scheduler fibers\n0\t40\n1\t2\n"
                             "# per-site fibers\n4\t1\t2\t3\t4\t5\tlocal\tfsm\t0:1,1:2\n";
static const char calls[] = "% time     seconds  usecs/call     calls    errors syscall\n"
                            "------ ----------- ----------- --------- --------- ----------------\n"
                            " 60.00    0.000012           1         9         2 read\n"
                            "100.00    0.000012                     9         2 total\n";
static const char stat[] = " Performance counter stats for 'x':\n\n  1,234 cycles:u # 0.5 GHz\n 12.50 msec task-clock\n"
                           " <not supported> LLC-loads:u\n 0.5 seconds time elapsed\n";
static const struct {
    const char *text;
    size_t size;
} dumps[] = {{alloc, sizeof alloc - 1},       {locks, sizeof locks - 1},   {cells, sizeof cells - 1},
             {channels, sizeof channels - 1}, {fibers, sizeof fibers - 1}, {calls, sizeof calls - 1},
             {stat, sizeof stat - 1}};
enum { DUMPS = sizeof dumps / sizeof *dumps };

/* Each place in a dump is tried; under the sanitizers, which take ten times as long, one in three, and in the gate (tests/run --suite) one in
 * five, in all bits of a byte. */
static size_t step(void) {
    if (getenv("SANITIZED_CLEAR")) return 5;
    return getenv("SANITIZED") ? 3 : 1;
}

static void cut_at_every_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < DUMPS; i++) {
        int whole = 0, refused = 0;
        struct world world; /* of all cuts of a dump: to make one takes longer than to read a thousand */
        open_world(&world, false);
        for (size_t size = dumps[i].size % step(); size <= dumps[i].size; size += step()) {
            int code = read_bytes(&world, dumps[i].text, size);
            whole += code == 0;
            refused += code < 0;
            if (size == dumps[i].size) assert_int_equal(code, 0);
        }
        close_world(&world);
        assert_true(whole >= 2 && refused >= 2);
    }
}

static void with_every_bit_flipped(void **state) {
    (void)state;
    struct world world;
    open_world(&world, false);
    for (size_t i = 0; i < DUMPS; i++) {
        char *copy = xstrdup(dumps[i].text);
        for (size_t bit = 0; bit < dumps[i].size * 8; bit += step()) {
            copy[bit / 8] ^= (char)(1 << bit % 8);
            read_bytes(&world, copy, dumps[i].size);
            copy[bit / 8] ^= (char)(1 << bit % 8);
        }
        free(copy);
    }
    assert_int_equal(ask(&world, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    close_world(&world);
}

static void figures_arrive(void **state) {
    (void)state;
    struct world world;
    open_world(&world, false);
    for (size_t i = 0; i < DUMPS; i++)
        assert_int_equal(read_bytes(&world, dumps[i].text, dumps[i].size), 0);
    assert_int_equal(ask(&world, "SELECT sum(alloc_bytes - free_bytes) FROM sites"), 540);
    assert_int_equal(ask(&world, "SELECT sample_n FROM runs WHERE id = 1"), 3);
    assert_int_equal(ask(&world, "SELECT read_max_wait_ns FROM locks JOIN traces ON traces.id = trace_id"
                                 " AND json_array_length(stack) = 2"),
                     10);
    assert_int_equal(ask(&world, "SELECT retries * 100 + update_failures * 10 + multi_commits FROM cells"), 456);
    assert_int_equal(ask(&world, "SELECT max_depth * 10 + capacity FROM channels"), 56);
    assert_int_equal(ask(&world, "SELECT total_fibers FROM fibers"), 42);
    assert_int_equal(ask(&world, "SELECT fibers FROM schedulers WHERE scheduler = 1"), 2);
    assert_int_equal(ask(&world, "SELECT schedulers ->> '$.1' FROM task_sites WHERE form = 'fsm'"), 2);
    assert_int_equal(ask(&world, "SELECT time_ns FROM syscalls WHERE name = 'read' AND errors = 2"), 12000);
    assert_int_equal(ask(&world, "SELECT count(*) FROM syscalls"), 1);
    assert_int_equal(ask(&world, "SELECT value * 10 FROM counters WHERE name = 'task-clock' AND unit = 'msec'"), 125);
    assert_int_equal(ask(&world, "SELECT count(*) FROM counters WHERE value IS NULL AND name = 'LLC-loads:u'"), 1);
    assert_int_equal(ask(&world, "SELECT duration_ns FROM profiles WHERE kind = 'counters'"), 500000000);
    close_world(&world);
}

/* Rows of one stack are summed, and the greatest wait is kept; a second row of one lock by another caller is another row. */
static void equal_rows_are_summed(void **state) {
    (void)state;
    struct world world;
    static const char text[] = "# lock-profile v3\n0x10\t1\t1\t5\t5\t0\t0\t0\t0\t0\t0\t0x9\n"
                               "0x10\t2\t1\t7\t6\t0\t0\t0\t0\t0\t0\t0x9\n0x10\t4\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0x8\n";
    open_world(&world, false);
    assert_int_equal(read_bytes(&world, text, sizeof text - 1), 0);
    assert_int_equal(ask(&world, "SELECT count(*) FROM locks"), 2);
    assert_int_equal(ask(&world, "SELECT acquires * 100 + wait_ns FROM locks WHERE max_wait_ns = 6"), 312);
    static const char huge[] = "# alloc-profile v2\n0x1 1 9223372036854775807 0 0 0\n0x1 1 1 0 0 1\n";
    assert_int_equal(read_bytes(&world, huge, sizeof huge - 1), -1);
    close_world(&world);
}

static void lenient_skips_and_counts(void **state) {
    (void)state;
    struct world world;
    static const char text[] = "# alloc-profile v2\n# sample_n: none\n0x1 1 8 0 0 8\nbroken\n0x2 1 8 0 0 8\n0x3 1\n";
    open_world(&world, true);
    struct input input;
    struct ingest_result result;
    assert_int_equal(input_open_memory(&input, "mem", (const uint8_t *)text, sizeof text - 1, &world.err), 0);
    if (ingest_input(&world.ingest, &input, NULL, &result, &world.err) != 0) fail_msg("%s", world.err.message);
    assert_int_equal(result.rows_skipped, 3); /* two rows and a header */
    assert_int_equal(ask(&world, "SELECT sum(alloc_count) FROM sites"), 2);
    input_close(&input);
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_arrive),           cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(with_every_bit_flipped),   cmocka_unit_test(equal_rows_are_summed),
        cmocka_unit_test(lenient_skips_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
