/* unit_bulk: rows out of memory into a table, in their order, and what becomes of one that the table refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/bulk.h"

static void number_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const int *numbers = rows;
    if (column == 0) sqlite3_result_int64(result, numbers[row]);
    if (column == 1) sqlite3_result_text(result, numbers[row] % 2 ? "odd" : "even", -1, SQLITE_STATIC);
    /* column 2 stays NULL */
}

static int put(struct db *db, const int *numbers, size_t count, struct error *err) {
    const struct bulk bulk = {count, numbers, number_value};
    return bulk_insert(db, "INSERT OR FAIL INTO counted(number, text, absent) SELECT c0, c1, c2 FROM memory_rows",
                       &bulk, err);
}

static int64_t ask(struct db *db, const char *sql) {
    struct error err = {0};
    int64_t value = -1;
    assert_int_equal(db_int(db, sql, -1, &value, &err), 0);
    return value;
}

static void open_table(struct db *db) {
    struct error err = {0};
    if (db_open_private(db, "bulk", &err) != 0) fail_msg("%s", err.message);
    assert_int_equal(
        db_exec(db, "CREATE TABLE counted(id INTEGER PRIMARY KEY, number INTEGER UNIQUE, text TEXT, absent TEXT)",
                &err),
        0);
}

static void close_table(struct db *db) {
    struct error err = {0};
    assert_int_equal(db_close(db, &err), 0);
}

static void puts_rows_in_their_order(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    const int numbers[] = {7, 4, 9, 2};
    open_table(&db);
    assert_int_equal(put(&db, numbers, 4, &err), 0);
    assert_int_equal(put(&db, numbers, 0, &err), 0);
    assert_int_equal(put(&db, (const int[]){1}, 1, &err), 0);
    assert_int_equal(ask(&db, "SELECT group_concat(number || text, '') = '7odd4even9odd2even1odd' FROM (SELECT * FROM "
                              "counted ORDER BY id)"),
                     1);
    assert_int_equal(ask(&db, "SELECT count(absent) FROM counted"), 0);
    close_table(&db);
}

static void a_refused_row_is_an_error(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    open_table(&db);
    assert_int_equal(db_begin(&db, &err), 0);
    assert_int_equal(put(&db, (const int[]){1, 2, 1}, 3, &err), -1);
    assert_int_not_equal(err.status, ERROR_NONE);
    db_rollback(&db);
    assert_int_equal(ask(&db, "SELECT count(*) FROM counted"), 0);
    err = (struct error){0};
    assert_int_equal(put(&db, (const int[]){1, 2}, 2, &err), 0); /* and the next is not disturbed */
    assert_int_equal(ask(&db, "SELECT count(*) FROM counted"), 2);
    close_table(&db);
}

/* Outside of bulk_insert the module has no rows, and nobody can make a table of the file of it. */
static void is_empty_and_not_in_the_file(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    open_table(&db);
    assert_int_equal(put(&db, (const int[]){1, 2}, 2, &err), 0);
    assert_int_equal(ask(&db, "SELECT count(*) FROM memory_rows"), 0);
    assert_int_equal(
        ask(&db, "SELECT count(*) FROM sqlite_schema WHERE name = 'memory_rows' OR sql LIKE '%memory_rows%'"), 0);
    assert_int_equal(db_exec(&db, "CREATE VIRTUAL TABLE other USING memory_rows", &err), -1);
    close_table(&db);
}

struct taken {
    int64_t numbers[8];
    size_t count, most;
};

static int take(void *context, sqlite3_value **row, struct error *err) {
    struct taken *taken = context;
    if (taken->count == taken->most) return error_fail(err, "that is enough");
    assert_string_equal((const char *)sqlite3_value_text(row[1]), sqlite3_value_int64(row[0]) % 2 ? "odd" : "even");
    taken->numbers[taken->count++] = sqlite3_value_int64(row[0]);
    return 0;
}

static void takes_rows(void **state) {
    (void)state;
    struct db db;
    struct error err = {0};
    static const char sql[] = "SELECT take_row(:into, number, text) FROM counted WHERE number < :limit";
    open_table(&db);
    assert_int_equal(put(&db, (const int[]){7, 4, 9, 2}, 4, &err), 0);
    struct taken taken = {.most = 8};
    for (int limit = 0; limit <= 9; limit += 9) {
        sqlite3_stmt *statement = bulk_prepare(&db, sql, &err);
        db_bind_int(statement, ":limit", limit);
        assert_int_equal(bulk_read(&db, statement, take, &taken, &err), 0);
        assert_int_equal(taken.count, limit ? 3 : 0);
    }
    assert_int_equal(taken.numbers[0] + taken.numbers[1] + taken.numbers[2], 7 + 4 + 2);
    taken = (struct taken){.most = 2};
    sqlite3_stmt *statement = bulk_prepare(&db, sql, &err);
    db_bind_int(statement, ":limit", 10);
    assert_int_equal(bulk_read(&db, statement, take, &taken, &err), -1);
    assert_string_equal(err.message, "that is enough");
    assert_int_equal(taken.count, 2);
    assert_int_equal(ask(&db, "SELECT take_row(1, 2) IS NULL"), 1); /* in anybody's SQL it does nothing */
    assert_int_equal(ask(&db, "SELECT take_row() IS NULL"), 1);
    close_table(&db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_rows_in_their_order),
        cmocka_unit_test(a_refused_row_is_an_error),
        cmocka_unit_test(is_empty_and_not_in_the_file),
        cmocka_unit_test(takes_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
