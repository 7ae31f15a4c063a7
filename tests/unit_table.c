/* grid.c, table.c, units.c: widths, alignment, what is shown of strange text, and figures at the edges of their units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grid.h"
#include "base/units.h"
#include "query/sql/result_table.h"

static void widths(void **state) {
    (void)state;
    assert_int_equal(grid_width("", 0), 0);
    assert_int_equal(grid_width("abc", 3), 3);
    assert_int_equal(grid_width("größe", strlen("größe")), 5);
    assert_int_equal(grid_width("日本", strlen("日本")), 4); /* wide */
    assert_int_equal(grid_width("e\xcc\x81", 3), 1);         /* e and a combining acute */
    assert_int_equal(grid_width("\xff\xc3", 2), 2);          /* no UTF-8, and UTF-8 cut short */
    assert_int_equal(grid_width("\x1b[2J", 4), 4 + 3);       /* \x1b takes four columns, [2J three */
    assert_int_equal(grid_width("a\0b", 3), 1 + 4 + 1);
}

static void visible(void **state) {
    static const struct {
        const char *text;
        int width;
        const char *want;
    } cases[] = {
        {"short", 5, "short"},    {"longer", 5, "lo..."},    {"日本日本", 8, "日本日本"},   {"日本日本", 7, "日本..."},
        {"日本日本", 6, "日..."}, {"ab\ncd", 20, "ab\\ncd"}, {"\x1b[31m", 20, "\\x1b[31m"}, {"größer", 5, "gr..."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out = {0};
        grid_visible(&out, cases[i].text, cases[i].width);
        assert_string_equal(buffer_text(&out), cases[i].want);
        assert_true(grid_width(out.data, out.size) <= cases[i].width);
        buffer_free(&out);
    }
}

static void notes_and_styles(void **state) {
    struct grid grid = {.columns = 2, .indent = "> "};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    grid_left(&grid, "name");
    grid_left(&grid, "n");
    grid_left(&grid, "x");
    grid_style(&grid, "<");
    grid_right(&grid, "10");
    grid_note(&grid, "note");
    grid_left(&grid, "longer");
    grid_right(&grid, "");
    grid_print(&grid, out, true);
    grid_free(&grid);
    fclose(out);
    assert_string_equal(text, "> name     n\n> ------  --\n> <x" GRID_PLAIN "       10\nnote\n> longer\n");
    free(text);
}

static void units(void **state) {
    (void)state;
    assert_string_equal(units_count(0).text, "0");
    assert_string_equal(units_count(999).text, "999");
    assert_string_equal(units_count(1000).text, "1,000");
    assert_string_equal(units_count(-1234567).text, "-1,234,567");
    assert_string_equal(units_count(INT64_MIN).text, "-9,223,372,036,854,775,808");
    assert_string_equal(units_bytes(1023).text, "1023 B");
    assert_string_equal(units_bytes(1024).text, "1.0 KiB");
    assert_string_equal(units_bytes(1048575).text, "1.0 MiB"); /* and not 1024.0 KiB */
    assert_string_equal(units_bytes(-1536).text, "-1.5 KiB");
    assert_string_equal(units_bytes(INT64_MAX).text, "8.0 EiB");
    assert_string_equal(units_ns(999).text, "999 ns");
    assert_string_equal(units_ns(1000).text, "1.0 us");
    assert_string_equal(units_ns(999999).text, "1.0 ms");
    assert_string_equal(units_ns(1500000000).text, "1.5 s");
    assert_string_equal(units_ns(60000000000).text, "1m 00s");
    assert_string_equal(units_percent(0.123).text, "0.12 %");
    assert_string_equal(units_percent(99.4).text, "99 %");
    assert_string_equal(units_percent(99.5).text, "100 %");
    assert_string_equal(units_percent(-1234.5).text, "-1,235 %");
    assert_string_equal(units_ns(3599000000000).text, "59m 59s");
    assert_string_equal(units_ns(3600000000000).text, "1h 00m");
    assert_string_equal(units_ns(90000000000000).text, "1d 01h");
    setenv("TZ", "UTC", 1);
    assert_string_equal(units_time(0).text, "1970-01-01 00:00:00");
    assert_string_equal(units_time(-1).text, "1969-12-31 23:59:59");
    assert_string_equal(units_time(1700000000999999999).text, "2023-11-14 22:13:20");
}

/* A statement that fails after two rows. */
static int rows_left;
static int failing_step(struct db *db, sqlite3_stmt *statement, struct error *err) {
    return rows_left-- ? db_step(db, statement, err) : error_fail(err, "no more");
}

static void failures(void **state) {
    struct db db;
    struct error err = {0};
    const struct table_options options = {.format = TABLE_JSONL};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(db_open(&db, ":memory:", DB_WRITE, &err), 0);
    sqlite3_stmt *row = db_prepare(&db, "SELECT value FROM json_each('[1,2,3]')", &err);
    assert_non_null(row);
    FILE *out = open_memstream(&text, &size);
    rows_left = 2;
    assert_int_equal(table_print(out, &db, row, failing_step, &options, &err), -1);
    fclose(out);
    assert_string_equal(err.message, "no more");
    assert_string_equal(text, "{\"value\":1}\n{\"value\":2}\n"); /* what was there was streamed */
    free(text);

    err = (struct error){0};
    sqlite3_reset(row);
    out = fopen("/dev/full", "w");
    setvbuf(out, NULL, _IONBF, 0);
    assert_int_equal(table_print(out, &db, row, db_step, &options, &err), 0); /* quiet: the stream's owner looks */
    assert_true(ferror(out));
    assert_int_equal(sqlite3_stmt_busy(row), 0);
    fclose(out);
    assert_int_equal(db_close(&db, &err), 0);
}

static void formats(void **state) {
    struct error err = {0};
    enum table_format format = TABLE_TEXT;
    (void)state;
    assert_int_equal(table_format_of("jsonl", &format, &err), 0);
    assert_int_equal(format, TABLE_JSONL);
    assert_int_equal(table_format_of("json", &format, &err), 0);
    assert_int_equal(format, TABLE_JSON);
    assert_int_equal(table_format_of("xml", &format, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths), cmocka_unit_test(visible),  cmocka_unit_test(notes_and_styles),
        cmocka_unit_test(units),  cmocka_unit_test(failures), cmocka_unit_test(formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
