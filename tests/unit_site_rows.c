/* unit_site_rows: what is put away as site_keys and site_rows is read back by the view `sites`, whatever the figures; what is
 * put into the view lies in the tables as our own writer would have it; and one profile, stack and label set is one row. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/writer/site_rows.h"

enum { TRACES = 40, SETS = 3 };

struct world {
    struct db db;
    struct row_writer writer;
    struct error err;
};

static void fail_on_error(const struct world *world) {
    if (world->err.status) fail_msg("%s", world->err.message);
}

static void run(struct world *world, const char *sql) {
    db_exec(&world->db, sql, &world->err);
    fail_on_error(world);
}

static int64_t number(struct world *world, const char *sql) {
    int64_t value = -1;
    db_int(&world->db, sql, -1, &value, &world->err);
    fail_on_error(world);
    return value;
}

/* Profiles 1, 2 of run 1 and 3 of run 2; stacks 1 to TRACES; label sets 1 to SETS. */
static void new_world(struct world *world) {
    *world = (struct world){0};
    db_open(&world->db, ":memory:", DB_WRITE, &world->err);
    sqlite3_db_config(world->db.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1,
                      NULL); /* of the view, as in the stock shell */
    fail_on_error(world);
    run(world, "INSERT INTO runs(id, uuid, started_ns, source) VALUES (1, 'one', 1, 'test'), (2, 'two', 2, 'test');"
               "INSERT INTO profiles(id, run_id, kind) VALUES (1, 1, 'heap'), (2, 1, 'heap'), (3, 2, 'heap');"
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
               " INSERT INTO traces(id, hash, signature, stack) SELECT i, i, i, '[]' FROM n;"
               "INSERT INTO label_sets(id, labels) VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    writer_open(&world->writer, &world->db, &world->err);
    fail_on_error(world);
}

/* As a later command meets the file: nothing in memory. */
static void forget(struct world *world) {
    writer_free(&world->writer);
    writer_open(&world->writer, &world->db, &world->err);
    fail_on_error(world);
}

static void end_world(struct world *world) {
    assert_int_equal(number(world, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    writer_free(&world->writer);
    db_close(&world->db, &world->err);
    fail_on_error(world);
}

static void put(struct world *world, int64_t profile_id, const struct site_row *rows, size_t count) {
    site_rows_put(&world->writer, profile_id, rows, count, &world->err);
    fail_on_error(world);
}

static void put_one(struct world *world, int64_t profile_id, struct site_row row) {
    put(world, profile_id, &row, 1);
}

static void insert(struct world *world, const char *sql, int64_t profile_id, const struct site_row *row) {
    sqlite3_stmt *statement = db_prepare(&world->db, sql, &world->err);
    fail_on_error(world);
    const int64_t cells[] = {profile_id,       row->trace_id,   row->label_set_id, row->alloc_count,
                             row->alloc_bytes, row->free_count, row->free_bytes};
    for (int i = 0; i < 7; i++)
        sqlite3_bind_int64(statement, i + 1, cells[i]);
    db_run(&world->db, statement, &world->err);
    fail_on_error(world);
}

static void insert_into_view(struct world *world, int64_t profile_id, const struct site_row *row) {
    insert(world, "INSERT INTO sites VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", profile_id, row);
}

/* The view has exactly these figures for the stack and label set, as integers, in exactly one row. */
static void expect(struct world *world, int64_t profile_id, struct site_row row) {
    sqlite3_stmt *select = db_prepare(&world->db,
                                      "SELECT alloc_count, alloc_bytes, free_count, free_bytes FROM sites"
                                      " WHERE profile_id = ?1 AND trace_id = ?2 AND label_set_id = ?3",
                                      &world->err);
    fail_on_error(world);
    sqlite3_bind_int64(select, 1, profile_id);
    sqlite3_bind_int64(select, 2, row.trace_id);
    sqlite3_bind_int64(select, 3, row.label_set_id);
    assert_int_equal(db_step(&world->db, select, &world->err), 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(sqlite3_column_type(select, i), SQLITE_INTEGER);
    assert_int_equal(sqlite3_column_int64(select, 0), row.alloc_count);
    assert_int_equal(sqlite3_column_int64(select, 1), row.alloc_bytes);
    assert_int_equal(sqlite3_column_int64(select, 2), row.free_count);
    assert_int_equal(sqlite3_column_int64(select, 3), row.free_bytes);
    assert_int_equal(db_step(&world->db, select, &world->err), 0);
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static const struct site_row strange[] = {
    {1, 0, 0, 0, 0, 0},                                  /* nothing at all */
    {2, 0, 3, 48, 3, 48},                                /* blocks of one size */
    {3, 0, 3, 50, 1, 17},                                /* of several */
    {4, 0, 0, 77, 0, 5},                                 /* bytes of no blocks */
    {5, 0, 9, 0, 9, 0},                                  /* blocks of no bytes */
    {6, 0, 0, 0, 4, 400},                                /* only frees, of what an earlier window allocated */
    {7, 0, -3, -48, -3, -48},                            /* a difference */
    {8, 0, 5, 80, 7, 112},                               /* more freed than allocated */
    {9, 0, 5, -80, -5, 80},                              /* signs that disagree */
    {10, 0, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN}, /* the ends of the range */
    {11, 0, INT64_MIN, INT64_MIN, -1, INT64_MIN},        /* whose quotient is beyond it */
    {12, 0, 1, 1000, INT64_MAX / 2, 3},                  /* a count whose product with the size is beyond */
    {13, 0, 1, 3, -3074457345618258603, INT64_MIN},      /* a product of -2^63 - 1, which as a REAL is -2^63 */
    {14, 0, 1, (int64_t)1 << 62, 2, INT64_MIN},          /* a product of 2^63 */
    {15, 1, 1, 16, 0, 0},
    {15, 2, 1, 32, 0, 0},
    {15, 0, 1, 8, 0, 0},  /* one stack, three label sets */
    {0, 0, 2, 64, 1, 32}, /* no stack */
};
enum { STRANGE = sizeof strange / sizeof *strange };

static void figures_come_back_as_they_were(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    put(&world, 1, strange, STRANGE);
    for (size_t i = 0; i < STRANGE; i++)
        expect(&world, 1, strange[i]);
    assert_int_equal(number(&world, "SELECT count(*) FROM sites"), STRANGE);
    end_world(&world);
}

static void bytes_are_stored_where_they_say_something(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    put_one(&world, 1, (struct site_row){2, 0, 3, 48, 1, 16});
    put_one(&world, 1, (struct site_row){3, 0, 3, 48, 1, 17});
    put_one(&world, 1, (struct site_row){4, 0, 3, 50, 0, 0});
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows WHERE alloc_bytes IS NULL"), 2);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows WHERE free_bytes IS NULL"), 2);
    assert_int_equal(number(&world, "SELECT sum(alloc_bytes) FROM site_rows"), 50);
    assert_int_equal(number(&world, "SELECT sum(free_bytes) FROM site_rows"), 17);
    assert_int_equal(number(&world, "SELECT sum(block_bytes) FROM site_keys"), 16 + 16 + 16);
    end_world(&world);
}

/* Flush after flush of a site that allocates larger and larger blocks: the row is replaced, the block size stays. */
static void a_mean_that_moves_is_right_at_every_flush(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    struct site_row row = {.trace_id = 5};
    for (int flush = 1; flush <= 50; flush++) {
        row.alloc_count += 3;
        row.alloc_bytes += 100 * flush;
        row.free_count += 1;
        row.free_bytes += 33 * flush;
        put_one(&world, 1, row);
        expect(&world, 1, row);
        if (flush % 10 == 0) forget(&world);
    }
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys"), 1);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows"), 1);
    assert_int_equal(number(&world, "SELECT block_bytes FROM site_keys"), 33);
    /* Back to what it was in the first flush: bytes are a product again and take no room. */
    put_one(&world, 1, (struct site_row){5, 0, 3, 99, 1, 33});
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows WHERE alloc_bytes IS NULL AND free_bytes IS NULL"),
                     1);
    end_world(&world);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* One pseudo-random row: of few sizes and small counts, so that bytes are a product in most. */
static struct site_row some_row(uint64_t *seed, int64_t trace_id, int64_t label_set_id) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *seed >> 20;
    int64_t count = (int64_t)(bits % 1000) - 100, size = 16 << (bits / 1000 % 5), freed = count ? count / 2 : 0;
    int64_t odd = bits / 5000 % 8 == 0 ? 7 : 0;
    return (struct site_row){trace_id, label_set_id, count, count * size + odd, freed, freed * size};
}

static size_t rows_of(uint64_t seed, size_t traces, struct site_row *rows) {
    size_t count = 0;
    for (size_t trace = 1; trace <= traces; trace++)
        for (int64_t set = 0; set <= SETS; set++)
            rows[count++] = some_row(&seed, (int64_t)trace, set);
    return count;
}

/* Keys are found by memory, by look-up (few rows of a file that has many) and by reading all: each gives the same rows. */
static void a_key_is_made_once(void **state) {
    (void)state;
    struct world world;
    struct site_row rows[TRACES * (SETS + 1)];
    new_world(&world);
    size_t count = rows_of(1, TRACES, rows);
    put(&world, 1, rows, count);
    put(&world, 2, rows, count); /* by memory */
    forget(&world);
    put(&world, 3, rows + 5, 2); /* by look-up */
    put(&world, 3, rows, count);
    forget(&world);
    put(&world, 3, rows, count); /* by reading all */
    for (size_t i = 0; i < count; i++)
        for (int profile = 1; profile <= 3; profile++)
            expect(&world, profile, rows[i]);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys"), (int64_t)count);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows"), 3 * (int64_t)count);
    end_world(&world);
}

/* An ingest that expects traces knows that those it made have no key; those that were there may have one. */
static void an_expected_trace_has_no_key(void **state) {
    (void)state;
    struct world world;
    struct site_row rows[TRACES * (SETS + 1)];
    new_world(&world);
    size_t count = rows_of(2, TRACES / 2, rows);
    put(&world, 1, rows, count);
    forget(&world);
    writer_expect(&world.writer, 100, &world.err);
    fail_on_error(&world);
    assert_false(writer_is_new_stack(&world.writer, TRACES));
    run(&world, "INSERT INTO traces(id, hash, signature, stack) VALUES (41, 41, 41, '[]')");
    assert_true(writer_is_new_stack(&world.writer, TRACES + 1));
    rows[count++] = (struct site_row){TRACES + 1, 0, 1, 2, 0, 0};
    rows[count++] = (struct site_row){TRACES, 0, 1, 2, 0, 0};
    put(&world, 2, rows, count);
    put(&world, 3, rows, count);
    writer_expect_end(&world.writer, &world.err);
    assert_false(writer_is_new_stack(&world.writer, TRACES + 1));
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys"), (int64_t)count);
    for (size_t i = 0; i < count; i++)
        expect(&world, 3, rows[i]);
    end_world(&world);
}

static void a_deleted_run_takes_its_rows_along(void **state) {
    (void)state;
    struct world world;
    struct site_row rows[TRACES * (SETS + 1)];
    new_world(&world);
    size_t count = rows_of(3, TRACES, rows);
    put(&world, 1, rows, count);
    put(&world, 3, rows, 10);
    run(&world, "DELETE FROM runs WHERE id = 1");
    assert_int_equal(number(&world, "SELECT count(*) FROM sites"), 10);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows"), 10);
    assert_int_equal(number(&world, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    put(&world, 3, rows, count); /* the keys that were left serve again */
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys"), (int64_t)count);
    for (size_t i = 0; i < count; i++)
        expect(&world, 3, rows[i]);
    end_world(&world);
}

/* ---- the view ---------------------------------------------------------------------------------------------------- */

/* Every cell of both tables, in one line of text. */
static char *tables_of(struct world *world) {
    sqlite3_stmt *select =
        db_prepare(&world->db,
                   "SELECT group_concat(cell, ';') FROM (SELECT id || ',' || trace_id || ',' || label_set_id || ',' ||"
                   " block_bytes AS cell FROM site_keys UNION ALL SELECT profile_id || ',' || site_key_id || ',' ||"
                   " alloc_count || ',' || free_count || ',' || coalesce(alloc_bytes, '-') || ',' ||"
                   " coalesce(free_bytes, '-') FROM site_rows)",
                   &world->err);
    fail_on_error(world);
    assert_int_equal(db_step(&world->db, select, &world->err), 1);
    char *text = xstrdup(db_text(select, 0));
    sqlite3_reset(select);
    return text;
}

static void the_view_writes_what_the_writer_writes(void **state) {
    (void)state;
    struct world ours, theirs;
    struct site_row rows[TRACES * (SETS + 1)];
    new_world(&ours);
    new_world(&theirs);
    for (int64_t profile = 1; profile <= 3; profile++) {
        size_t count = profile == 1 ? STRANGE : rows_of((uint64_t)profile, TRACES, rows);
        if (profile == 1) memcpy(rows, strange, sizeof strange);
        put(&ours, profile, rows, count);
        for (size_t i = 0; i < count; i++)
            insert_into_view(&theirs, profile, &rows[i]);
    }
    char *got = tables_of(&theirs), *want = tables_of(&ours);
    assert_true(strlen(want) > 1000);
    assert_string_equal(got, want);
    free(got);
    free(want);
    end_world(&ours);
    end_world(&theirs);
}

static void the_view_takes_columns_away_changes_and_refuses(void **state) {
    (void)state;
    struct world world;
    new_world(&world);
    run(&world,
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (1, 2, 4, 40), (1, 3, 5, 50)");
    expect(&world, 1, (struct site_row){2, 0, 4, 40, 0, 0});
    run(&world, "UPDATE sites SET free_count = free_count + 1, free_bytes = 10 WHERE trace_id = 2");
    expect(&world, 1, (struct site_row){2, 0, 4, 40, 1, 10});
    run(&world, "UPDATE sites SET profile_id = 2, label_set_id = 1 WHERE trace_id = 2");
    expect(&world, 2, (struct site_row){2, 1, 4, 40, 1, 10});
    assert_int_equal(number(&world, "SELECT count(*) FROM sites"), 2);
    run(&world, "DELETE FROM sites WHERE alloc_bytes = 40");
    assert_int_equal(number(&world, "SELECT count(*) FROM sites"), 1);
    static const char *const refused[] = {
        "INSERT INTO sites(profile_id, trace_id) VALUES (1, 3)",   /* it is there */
        "INSERT INTO sites(profile_id, trace_id) VALUES (99, 3)",  /* no such profile */
        "INSERT INTO sites(profile_id, trace_id) VALUES (1, 999)", /* no such stack */
        "INSERT INTO sites(profile_id, trace_id, label_set_id) VALUES (1, 3, 99)",
        "INSERT INTO sites(profile_id, trace_id, alloc_count) VALUES (1, 4, 'many')",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (db_exec(&world.db, refused[i], &world.err) == 0) fail_msg("was not refused: %s", refused[i]);
        world.err = (struct error){0};
    }
    assert_int_equal(number(&world, "SELECT count(*) FROM sites"), 1);
    run(&world, "INSERT OR REPLACE INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (1, 3, 6, 61)");
    expect(&world, 1, (struct site_row){3, 0, 6, 61, 0, 0});
    end_world(&world);
}

/* More keys than wait for each other: stacks in any order with gaps, several label sets of each, in a file with and without keys. */
static void many_keys_come_back(void **state) {
    (void)state;
    enum { STACKS = 4001, ROWS = 3 * STACKS };
    struct world world;
    struct site_row *rows = calloc(ROWS, sizeof *rows);
    new_world(&world);
    run(&world, "WITH RECURSIVE n(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM n WHERE i < 8100)"
                " INSERT INTO traces(id, hash, signature, stack) SELECT i, i, i, '[]' FROM n");
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t stack = i * 1607 % STACKS, set = (i / STACKS + stack) % 3; /* each pair once: 4001 is a prime */
        rows[i] =
            (struct site_row){100 + stack + (stack > 3000 ? 2000 : 0), set, i + 1, (i + 1) * (stack % 9), i, i * 7};
    }
    put(&world, 1, rows, ROWS / 2);
    put(&world, 2, rows, ROWS);
    forget(&world);
    put(&world, 3, rows, ROWS);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys"), ROWS);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_rows"), ROWS / 2 + 2 * ROWS);
    assert_int_equal(number(&world, "SELECT count(*) FROM site_keys WHERE id > 0"), STACKS);
    run(&world, "CREATE TEMP TABLE want AS SELECT * FROM sites WHERE false");
    for (size_t i = 0; i < ROWS; i++)
        for (int profile = i < ROWS / 2 ? 1 : 2; profile <= 3; profile++)
            insert(&world, "INSERT INTO want VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", profile, &rows[i]);
    assert_int_equal(number(&world, "SELECT count(*) FROM (SELECT * FROM sites EXCEPT SELECT * FROM want)"), 0);
    assert_int_equal(number(&world, "SELECT count(*) FROM (SELECT * FROM want EXCEPT SELECT * FROM sites)"), 0);
    free(rows);
    end_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_come_back_as_they_were),
        cmocka_unit_test(bytes_are_stored_where_they_say_something),
        cmocka_unit_test(a_mean_that_moves_is_right_at_every_flush),
        cmocka_unit_test(a_key_is_made_once),
        cmocka_unit_test(an_expected_trace_has_no_key),
        cmocka_unit_test(many_keys_come_back),
        cmocka_unit_test(a_deleted_run_takes_its_rows_along),
        cmocka_unit_test(the_view_writes_what_the_writer_writes),
        cmocka_unit_test(the_view_takes_columns_away_changes_and_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
