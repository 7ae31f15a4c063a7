#include "query/sql/result_table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/grid.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/utf8.h"

static const char *const format_names[] = {"table", "csv", "json", "jsonl", "arrays", "markdown"};

int table_format_of(const char *name, enum table_format *format, struct error *err) {
    if (strcmp(name, "ndjson") == 0) name = "jsonl"; /* its other name */
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++) {
        if (strcmp(name, format_names[i]) != 0) continue;
        *format = (enum table_format)i;
        return 0;
    }
    return error_usage(err, "unknown format '%s'; formats are table, csv, json, jsonl, arrays, markdown", name);
}

#define FLUSH_NS INT64_C(50000000)

/* The state of one table; `line` is the row that is being written. */
struct table_writer {
    FILE *out;
    sqlite3_stmt *statement;
    const struct table_options *options;
    int columns;
    int64_t rows, bytes; /* read; written */
    bool headed;         /* the header of a text table was printed */
    bool is_shown;       /* on a terminal */
    bool is_cut;         /* there are more rows than rows_max */
    int64_t flushed_ns;
    struct buffer line;
    struct grid grid;
};

static void add_hex(struct buffer *line, sqlite3_stmt *statement, int column) {
    const void *bytes = sqlite3_column_blob(statement, column);
    buffer_add_hex(line, bytes, (size_t)sqlite3_column_bytes(statement, column));
}

/* Text, or a number as SQLite writes it: 15 significant digits, a real number always with a point or an exponent. */
static void add_plain(struct buffer *line, sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    buffer_add(line, text ? text : "", (size_t)sqlite3_column_bytes(statement, column));
}

/* ---- table ---- */

static bool ends_in(const char *name, const char *suffix) {
    size_t size = strlen(name), tail = strlen(suffix);
    return size >= tail && strcmp(name + size - tail, suffix) == 0;
}

static bool is_id(const char *name) {
    return strcmp(name, "id") == 0 || ends_in(name, "_id") || strcmp(name, "line") == 0 || ends_in(name, "pid");
}

static struct units_text in_units(const char *name, int64_t value) {
    struct units_text plain;
    if (ends_in(name, "bytes")) return units_bytes(value);
    if (ends_in(name, "_ns") && value > 1000000000000000000) return units_time(value); /* a time after 2001 */
    if (ends_in(name, "_ns")) return units_ns(value);
    if (!is_id(name)) return units_count(value);
    snprintf(plain.text, sizeof plain.text, "%lld", (long long)value);
    return plain;
}

static bool is_number(const struct table_writer *table, int column) {
    int type = sqlite3_column_type(table->statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* A value for people. */
static void add_shown(struct buffer *line, const struct table_writer *table, int column) {
    int type = sqlite3_column_type(table->statement, column);
    if (type == SQLITE_NULL)
        buffer_add_text(line, "NULL");
    else if (type == SQLITE_INTEGER && table->options->human)
        buffer_add_text(line, in_units(sqlite3_column_name(table->statement, column),
                                       sqlite3_column_int64(table->statement, column))
                                  .text);
    else if (type == SQLITE_BLOB) {
        buffer_add_text(line, "x'");
        add_hex(line, table->statement, column);
        buffer_add_char(line, '\'');
    } else {
        add_plain(line, table->statement, column);
    }
}

static void grid_value(struct table_writer *table, int column) {
    buffer_clear(&table->line);
    add_shown(&table->line, table, column);
    grid_add(&table->grid, buffer_text(&table->line), table->line.size, is_number(table, column));
}

enum { BLOCK_BYTES = 16 << 20, BLOCK_CELLS = 500000 };

static void text_start(struct table_writer *table) {
    table->grid.columns = (size_t)(table->columns - table->options->has_notes);
    table->grid.width = table->options->width;
    table->grid.is_cut = table->options->width > 0;
    for (int i = 0; i < (int)table->grid.columns && !table->options->no_header; i++)
        grid_left(&table->grid, sqlite3_column_name(table->statement, i));
}

static void text_flush(struct table_writer *table) {
    table->bytes += grid_print(&table->grid, table->out, !table->headed && !table->options->no_header);
    grid_free(&table->grid);
    table->headed = true;
}

static void text_note(struct table_writer *table) {
    static const char indent[] = "    ";
    struct buffer note = {0};
    const char *text = db_text(table->statement, table->columns - 1);
    if (!*text) return;
    buffer_add_text(&note, indent);
    grid_visible(&note, text, table->options->width ? table->options->width - (int)strlen(indent) : INT32_MAX);
    grid_note(&table->grid, buffer_text(&note));
    buffer_free(&note);
}

/* Otherwise an accidental cross join would fill the memory in 30 s and print nothing. */
static void text_row(struct table_writer *table) {
    bool is_full =
        table->grid.text.size > BLOCK_BYTES || table->grid.count > BLOCK_CELLS || table->rows % TABLE_BLOCK_ROWS == 0;
    if (table->rows && is_full) text_flush(table);
    for (int i = 0; i < (int)table->grid.columns; i++)
        grid_value(table, i);
    if (table->options->has_notes) text_note(table);
}

/* ---- csv ---- */

/* An empty text is quoted, to be different from NULL. A file has the text exactly; a terminal gets nothing to execute. */
static void csv_field(struct table_writer *table, const char *text, size_t size) {
    struct buffer visible = {0};
    if (table->is_shown) escape_controls(&visible, text, size);
    if (!size)
        buffer_add_text(&table->line, "\"\"");
    else if (table->is_shown)
        escape_csv(&table->line, visible.data, visible.size);
    else
        escape_csv(&table->line, text, size);
    buffer_free(&visible);
}

static void write_line(struct table_writer *table, const char *end) {
    buffer_add_text(&table->line, end);
    fwrite(table->line.data, 1, table->line.size, table->out);
    table->bytes += (int64_t)table->line.size;
    buffer_clear(&table->line);
}

static void csv_start(struct table_writer *table) {
    if (table->options->no_header) return;
    for (int i = 0; i < table->columns; i++) {
        const char *name = sqlite3_column_name(table->statement, i);
        if (i) buffer_add_char(&table->line, ',');
        csv_field(table, name, strlen(name));
    }
    write_line(table, "\r\n");
}

static void csv_row(struct table_writer *table) {
    for (int i = 0; i < table->columns; i++) {
        int type = sqlite3_column_type(table->statement, i);
        if (i) buffer_add_char(&table->line, ',');
        if (type == SQLITE_BLOB)
            add_hex(&table->line, table->statement, i);
        else if (type == SQLITE_TEXT)
            csv_field(table, (const char *)sqlite3_column_text(table->statement, i),
                      (size_t)sqlite3_column_bytes(table->statement, i));
        else
            add_plain(&table->line, table->statement, i);
    }
    write_line(table, "\r\n");
}

/* ---- json ---- */

static void json_value(struct buffer *line, sqlite3_stmt *statement, int column) {
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(statement, column)))) {
        buffer_add_text(line, "null");
    } else if (type == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        buffer_add_json_string(line, text, (size_t)sqlite3_column_bytes(statement, column));
    } else if (type == SQLITE_BLOB) {
        buffer_add_char(line, '"');
        add_hex(line, statement, column);
        buffer_add_char(line, '"');
    } else {
        add_plain(line, statement, column);
    }
}

static void json_object(struct table_writer *table) {
    buffer_add_char(&table->line, '{');
    for (int i = 0; i < table->columns; i++) {
        const char *name = sqlite3_column_name(table->statement, i);
        if (i) buffer_add_char(&table->line, ',');
        buffer_add_json_string(&table->line, name, strlen(name));
        buffer_add_char(&table->line, ':');
        if (i < table->columns - table->options->json_columns)
            json_value(&table->line, table->statement, i);
        else
            buffer_add_json_value(&table->line, db_text(table->statement, i));
    }
    buffer_add_char(&table->line, '}');
}

static void json_row(struct table_writer *table) {
    buffer_add_text(&table->line, table->rows ? ",\n" : "[");
    json_object(table);
    write_line(table, "");
}

static void json_end(struct table_writer *table) {
    fputs(table->rows ? "]\n" : "[]\n", table->out);
}

static void jsonl_row(struct table_writer *table) {
    json_object(table);
    write_line(table, "\n");
}

/* ---- arrays ---- */

static void arrays_start(struct table_writer *table) {
    buffer_add_text(&table->line, "{\"columns\":[");
    for (int i = 0; i < table->columns; i++) {
        const char *name = sqlite3_column_name(table->statement, i);
        if (i) buffer_add_char(&table->line, ',');
        buffer_add_json_string(&table->line, name, strlen(name));
    }
    write_line(table, "]}\n");
}

/* Somebody watches the rows come: those of a slow statement do not wait for a full buffer. */
static void arrays_row(struct table_writer *table) {
    int64_t now_ns = clock_monotonic_ns();
    buffer_add_char(&table->line, '[');
    for (int i = 0; i < table->columns; i++) {
        if (i) buffer_add_char(&table->line, ',');
        json_value(&table->line, table->statement, i);
    }
    write_line(table, "]\n");
    if (now_ns - table->flushed_ns < FLUSH_NS) return;
    fflush(table->out);
    table->flushed_ns = now_ns;
}

static void arrays_end(struct table_writer *table) {
    fprintf(table->out, "{\"end\":true,\"rows\":%lld,\"truncated\":%s}\n", (long long)table->rows,
            table->is_cut ? "true" : "false");
}

/* ---- markdown ---- */

static bool is_inside_word(const char *text, size_t size, size_t i) {
    return i > 0 && i + 1 < size && isalnum((unsigned char)text[i - 1]) && isalnum((unsigned char)text[i + 1]);
}

/* A Markdown reader would take std::vector<int> for an HTML tag and hide it. A '_' inside a word needs no escape. */
static void markdown_cell(struct buffer *line, const char *text, size_t size) {
    buffer_add_text(line, "| ");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            buffer_add_text(line, "&lt;");
        else if (text[i] == '&')
            buffer_add_text(line, "&amp;");
        else if (text[i] == '\n')
            buffer_add_text(line, "<br>");
        else if (utf8_is_control(text + i, size - i)) {
            buffer_add_char(line, ' ');
            i += utf8_length(text + i, size - i) - 1;
        } else {
            if (strchr("\\`*_|~[]", text[i]) && !(text[i] == '_' && is_inside_word(text, size, i)))
                buffer_add_char(line, '\\');
            buffer_add_char(line, text[i]);
        }
    }
    buffer_add_char(line, ' ');
}

/* Called after the first row was read, if there is one: its values show which columns are numbers. */
static void markdown_header(struct table_writer *table, bool has_row) {
    for (int i = 0; i < table->columns; i++) {
        const char *name = sqlite3_column_name(table->statement, i);
        markdown_cell(&table->line, name, strlen(name));
    }
    buffer_add_text(&table->line, "|\n");
    for (int i = 0; i < table->columns; i++)
        buffer_add_text(&table->line, has_row && is_number(table, i) ? "| ---: " : "| --- ");
    write_line(table, "|\n");
}

static void markdown_row(struct table_writer *table) {
    struct buffer value = {0};
    if (table->rows == 0) markdown_header(table, true);
    for (int i = 0; i < table->columns; i++) {
        buffer_clear(&value);
        add_shown(&value, table, i);
        markdown_cell(&table->line, buffer_text(&value), value.size);
    }
    write_line(table, "|\n");
    buffer_free(&value);
}

static void markdown_end(struct table_writer *table) {
    if (table->rows == 0) markdown_header(table, false);
}

/* ---- all formats ---- */

static const struct {
    void (*start)(struct table_writer *table); /* before the first row; may be NULL */
    void (*row)(struct table_writer *table);
    void (*end)(struct table_writer *table); /* after the last one; may be NULL */
} formats[] = {
    [TABLE_TEXT] = {text_start, text_row, text_flush},
    [TABLE_CSV] = {csv_start, csv_row, NULL},
    [TABLE_JSON] = {NULL, json_row, json_end},
    [TABLE_JSONL] = {NULL, jsonl_row, NULL},
    [TABLE_ARRAYS] = {arrays_start, arrays_row, arrays_end},
    [TABLE_MARKDOWN] = {NULL, markdown_row, markdown_end},
};

int table_print(FILE *out, struct db *db, sqlite3_stmt *statement, table_step *step,
                const struct table_options *options, struct error *err) {
    struct table_writer table = {.out = out,
                                 .statement = statement,
                                 .options = options,
                                 .columns = sqlite3_column_count(statement),
                                 .is_shown = terminal_is_shown(out)};
    if (formats[options->format].start) formats[options->format].start(&table);
    int row;
    while ((row = step(db, statement, err)) == 1 && !ferror(out)) {
        table.is_cut = options->rows_max && table.rows == options->rows_max;
        if (table.is_cut) {
            sqlite3_reset(statement);
            row = 0;
            break;
        }
        formats[options->format].row(&table);
        table.rows++;
        if (options->bytes_max && table.bytes > options->bytes_max) {
            error_fail(err, "stopped after %s of output; raise the limit with --max-output",
                       units_bytes(options->bytes_max).text);
            sqlite3_reset(statement);
            row = -1;
            break;
        }
    }
    if (row == 1) sqlite3_reset(statement);
    if (row == 0 && formats[options->format].end) formats[options->format].end(&table);
    buffer_free(&table.line);
    grid_free(&table.grid);
    return row < 0 ? -1 : 0;
}
