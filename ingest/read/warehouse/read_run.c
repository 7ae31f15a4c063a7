#include "ingest/read/run_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/readers.h"
#include "ingest/read/scan.h"
#include "ingest/read/warehouse/copy_rows.h"
#include "ingest/read/warehouse/merge.h"
#include "ingest/read/warehouse/run_order.h"
#include "schema/schema.h"

static bool recognise(const struct input *input) {
    return input_starts_with(input, RUN_TEXT_TITLE);
}

/* ---- the rows there ---------------------------------------------------------------------------------------------- */

/* A table of the file. */
struct text_table {
    char *insert;            /* SQL; NULL: the table is unknown, and its rows are passed over */
    sqlite3_stmt *statement; /* of the database there */
    struct buffer places;    /* int for each column of the file: which parameter, 0: the column is unknown */
};

struct run_text {
    struct ingest *ingest;
    struct db there; /* the rows of the file, in tables without constraints, as those of a warehouse that is merged */
    struct copy_plan plan;
    struct input_lines lines;
    struct map known; /* tables there */
    struct map told;  /* name of a table of the file -> its index */
    struct text_table *tables;
    struct buffer value; /* scratch: a text without its escapes */
    uint64_t rows;
    bool has_end;
};

static int fail(const struct run_text *text, const char *place, const char *what, struct error *err) {
    return input_fail_line(err, &text->lines, place ? span_column(&text->lines, place) : 0, "%s", what);
}

static int make_table(struct run_text *text, const char *table, struct error *err) {
    bool is_new;
    map_put(&text->known, table, strlen(table), &is_new);
    if (!is_new) return 0;
    sqlite3_stmt *row = db_prepare(text->ingest->db, embedded_text("ingest/read_run/create"), err);
    if (!row) return -1;
    db_bind_text(row, ":table", table);
    int code = db_step(text->ingest->db, row, err);
    if (code == 1) code = db_exec(&text->there, db_text(row, 0), err);
    sqlite3_reset(row);
    return code;
}

/* Tables of names, and of the sites, which are copied apart. */
static int make_tables(struct run_text *text, struct error *err) {
    static const char *const others[] = {"mappings",  "functions",  "locations", "location_lines",
                                         "traces",    "label_sets", "objects",   "source_texts",
                                         "site_keys", "site_rows",  "run_places"};
    for (size_t i = 0; i < text->plan.count; i++)
        if (make_table(text, text->plan.tables[i].name, err)) return -1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (make_table(text, others[i], err)) return -1;
    return db_exec(&text->there, "CREATE INDEX main.lines_of_location ON location_lines(location_id, position)", err);
}

/* 1: the table there has the column, 0, -1. */
static int has_column(struct run_text *text, const char *table, const char *column, struct error *err) {
    sqlite3_stmt *row = db_prepare(&text->there, embedded_text("ingest/read_run/has_column"), err);
    if (!row) return -1;
    db_bind_text(row, ":table", table);
    db_bind_text(row, ":column", column);
    int code = db_step(&text->there, row, err);
    int has = code == 1 && sqlite3_column_int(row, 0) != 0;
    if (code == 1) sqlite3_reset(row);
    return code < 0 ? -1 : has;
}

/* ---- its lines --------------------------------------------------------------------------------------------------- */

/* Names of columns are put into SQL only when the table has them. */
static int take_columns(struct run_text *text, struct text_table *table, const char *name, struct span rest,
                        struct error *err) {
    struct buffer insert = {0}, values = {0};
    struct arena names = {0};
    struct span field;
    int parameters = 0, has = 1;
    /* layers-ok: the name of a table of clear's own schema, and below those of its columns, no value */
    buffer_printf(&insert, "INSERT INTO main.\"%s\"", name);
    while (has >= 0 && span_field(&rest, '\t', &field)) {
        const char *column = span_copy(field, &names);
        has = has_column(text, name, column, err);
        int place = has > 0 ? ++parameters : 0;
        if (place) buffer_printf(&insert, "%s\"%s\"", place == 1 ? "(" : ", ", column);
        if (place) buffer_add_text(&values, place == 1 ? ") VALUES (?" : ", ?");
        buffer_add(&table->places, &place, sizeof place);
    }
    buffer_printf(&insert, "%s)", buffer_text(&values));
    if (parameters) table->insert = buffer_take(&insert);
    buffer_free(&insert);
    buffer_free(&values);
    arena_free(&names);
    return has < 0 ? -1 : 0;
}

static int take_table(struct run_text *text, struct span line, struct error *err) {
    struct span field;
    bool is_new;
    if (!span_field(&line, '\t', &field) || span_size(field) == 0)
        return fail(text, NULL, "expected the name of a table", err);
    struct map_entry *entry = map_put(&text->told, field.at, span_size(field), &is_new);
    if (!is_new) return fail(text, field.at, "a table that was told before", err);
    entry->value = (int64_t)text->told.count - 1;
    text->tables = xrealloc(text->tables, text->told.count * sizeof *text->tables);
    struct text_table *table = &text->tables[entry->value];
    *table = (struct text_table){0};
    const struct map_entry *known = map_find(&text->known, field.at, span_size(field));
    if (!known || !line.at) return 0;
    struct arena names = {0};
    int code = take_columns(text, table, span_copy(field, &names), line, err);
    arena_free(&names);
    if (code == 0 && table->insert && !(table->statement = db_prepare(&text->there, table->insert, err))) return -1;
    return code;
}

/* The text of a field; NULL is NULL. Valid until the next call. */
static bool unescape(struct run_text *text, struct span field) {
    static const char codes[] = "tnr\\", bytes[] = "\t\n\r\\";
    buffer_clear(&text->value);
    for (const char *at = field.at; at < field.end; at++) {
        const char *code = *at != '\\' ? NULL : at + 1 < field.end ? strchr(codes, at[1]) : codes + sizeof codes - 1;
        if (*at == '\\' && (!code || !*code)) return false;
        buffer_add_char(&text->value, code ? bytes[code - codes] : *at);
        at += code != NULL;
    }
    return true;
}

static int bind_field(struct run_text *text, sqlite3_stmt *insert, int place, struct span field, struct error *err) {
    if (span_is(field, "\\N")) return 0; /* as it is */
    if (!memchr(field.at, '\\', span_size(field))) {
        sqlite3_bind_text(insert, place, field.at, (int)span_size(field), SQLITE_STATIC); /* within the input */
        return 0;
    }
    if (!unescape(text, field)) return fail(text, field.at, "expected \\\\, \\t, \\n, \\r or \\N", err);
    sqlite3_bind_text(insert, place, buffer_text(&text->value), (int)text->value.size, SQLITE_TRANSIENT);
    return 0;
}

/* The types of the columns there make numbers of texts. */
static int take_row(struct run_text *text, struct span line, struct error *err) {
    struct span field;
    span_field(&line, '\t', &field);
    const struct map_entry *entry = map_find(&text->told, field.at, span_size(field));
    if (!entry) return fail(text, field.at, "expected a table that was told before", err);
    text->rows++;
    struct text_table *table = &text->tables[entry->value];
    if (!table->insert) return 0;
    const int *places = (const int *)(void *)table->places.data;
    size_t count = table->places.size / sizeof *places, column = 0;
    sqlite3_reset(table->statement);
    sqlite3_clear_bindings(table->statement);
    while (line.at && span_field(&line, '\t', &field)) {
        if (column == count) return fail(text, field.at, "expected no further column", err);
        int place = places[column++];
        if (place && bind_field(text, table->statement, place, field, err)) return -1;
    }
    if (column < count) return fail(text, NULL, "expected more columns", err);
    if (db_run(&text->there, table->statement, err) == 0) return 0;
    return error_prefix(err, "%s:%zu: ", text->ingest->input->path, text->lines.number);
}

static int take_end(struct run_text *text, struct span number, struct error *err) {
    uint64_t rows;
    if (span_unsigned(&number, 10, &rows) != NUMBER_OK || span_size(number) || rows != text->rows)
        return fail(text, number.at, "is not how many rows there were", err);
    text->has_end = true;
    return 0;
}

static int take_line(struct run_text *text, struct error *err) {
    struct span line = span_of_line(&text->lines);
    if (text->has_end) return fail(text, line.at, "expected nothing behind the end", err);
    if (span_take(&line, RUN_TEXT_TABLE)) return take_table(text, line, err);
    if (span_take(&line, RUN_TEXT_END)) return take_end(text, line, err);
    if (span_size(line) && *line.at == '#') return 0;
    return take_row(text, line, err);
}

static int take_lines(struct run_text *text, const struct input *input, struct error *err) {
    enum { BETWEEN_REPORTS = 4096 };
    text->lines = (struct input_lines){.input = input};
    while (input_next_line(&text->lines)) {
        if (take_line(text, err)) return -1;
        if (text->lines.number % BETWEEN_REPORTS == 0) ingest_progress(text->ingest, text->lines.offset);
    }
    return text->has_end ? 0 : fail(text, NULL, "the end is missing: the file was cut", err);
}

/* ---- into the warehouse ------------------------------------------------------------------------------------------ */

static int shift(struct run_text *text, int64_t later, struct error *err) {
    static const char *const statements[] = {"ingest/read_run/shift_runs", "ingest/read_run/shift_processes",
                                             "ingest/read_run/shift_profiles"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        sqlite3_stmt *update = db_prepare(&text->there, embedded_text(statements[i]), err);
        if (!update) return -1;
        db_bind_int(update, ":later", later);
        if (db_run(&text->there, update, err)) return -1;
    }
    return 0;
}

/* 1: the warehouse has the run of `row` of the statement run_there already, as ingest->run_id; 0: it has not, or had an unfinished copy, which has
 * made way; -1. */
static int find_here(struct ingest *ingest, sqlite3_stmt *row, struct error *err) {
    sqlite3_stmt *known = db_prepare(ingest->db, embedded_text("merge/known_run.sql"), err);
    bool is_dropped = false;
    if (!known) return -1;
    db_bind_text(known, ":uuid", db_text(row, 1));
    db_bind_text(known, ":hash", sqlite3_column_type(row, 2) == SQLITE_NULL ? NULL : db_text(row, 2));
    int code = db_step(ingest->db, known, err);
    if (code != 1) return code;
    int64_t here = sqlite3_column_int64(known, 0);
    bool is_unfinished = sqlite3_column_int(known, 1) != 0;
    sqlite3_reset(known);
    if (is_unfinished && !sqlite3_column_int(row, 5) && merge_drop_copy(ingest->db, here, &is_dropped, err)) return -1;
    if (!is_dropped) ingest->run_id = here;
    return !is_dropped;
}

/* As find_here, of the one run of the file, `there`; one that is new is at the time that the caller says. */
static int find_run(struct run_text *text, int64_t *there, struct error *err) {
    const struct ingest_options *options = &text->ingest->options;
    sqlite3_stmt *row = db_prepare(&text->there, embedded_text("ingest/read_run/run_there"), err);
    int code = row ? db_step(&text->there, row, err) : -1;
    if (code < 0) return -1;
    if (code == 0 || sqlite3_column_int64(row, 4) != 1) {
        if (code) sqlite3_reset(row);
        return error_fail(err, "%s: expected the rows of one run", text->ingest->input->path);
    }
    *there = sqlite3_column_int64(row, 0);
    int64_t later = (int64_t)((uint64_t)options->time_ns - (uint64_t)sqlite3_column_int64(row, 3));
    code = find_here(text->ingest, row, err);
    sqlite3_reset(row);
    return code == 0 && options->has_time ? shift(text, later, err) : code;
}

/* Names first, in the order of their numbers, so that exports list them as the run does. */
static int prepare_names(struct run_text *text, struct source_names *names, int64_t there, bool *has_same_order,
                         struct error *err) {
    source_names_open(names, &text->there, &text->ingest->writer);
    if (db_exec(&text->there, embedded_text("merge/wanted.sql"), err)) return -1;
    sqlite3_stmt *insert = db_prepare(&text->there, "INSERT INTO temp.wanted_runs(id) VALUES (:run)", err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", there);
    return db_run(&text->there, insert, err) ? -1 : run_order_prepare(names, has_same_order, err);
}

static int label_run(struct ingest *ingest, struct error *err) {
    sqlite3_stmt *update = db_prepare(ingest->db, embedded_text("ingest/read_run/run_here"), err);
    if (!update) return -1;
    db_bind_int(update, ":run", ingest->run_id);
    db_bind_text(update, ":label", ingest->options.label);
    return db_run(ingest->db, update, err) ? -1
                                           : run_tags_insert(ingest->options.tags, ingest->db, ingest->run_id, err);
}

static int copy(struct run_text *text, int64_t there, struct error *err) {
    struct ingest *ingest = text->ingest;
    struct source_names names;
    struct copying copying = {.plan = &text->plan, .source = &text->there, .db = ingest->db, .names = &names};
    bool has_same_order;
    int code = prepare_names(text, &names, there, &has_same_order, err);
    if (code == 0) code = copy_run(&copying, there, err);
    if (code == 0 && !has_same_order) code = run_order_keep(&names, there, copying.run_id, err);
    if (code == 0) code = writer_flush(&ingest->writer, err);
    ingest->run_id = copying.run_id;
    ingest->rows_added += (uint64_t)copying.rows;
    ingest->profiles += copying.profiles.count;
    copying_free(&copying);
    source_names_free(&names);
    if (code == 0) code = label_run(ingest, err);
    return code ? error_prefix(err, "%s, nothing of it was stored: ", ingest->input->path) : 0;
}

static void close_text(struct run_text *text) {
    struct error ignored = {0};
    for (size_t i = 0; i < text->told.count; i++) {
        free(text->tables[i].insert);
        buffer_free(&text->tables[i].places);
    }
    free(text->tables);
    map_free(&text->told);
    map_free(&text->known);
    buffer_free(&text->value);
    copy_plan_free(&text->plan);
    db_close(&text->there, &ignored);
}

static int read_run(struct ingest *ingest, const struct input *input, struct error *err) {
    struct run_text text = {.ingest = ingest};
    int64_t there = 0;
    if (db_open_bare(&text.there, input->path, err)) return -1;
    copy_plan_make(&text.plan, COPY_RECORDED);
    int code = make_tables(&text, err);
    if (code == 0) code = take_lines(&text, input, err);
    if (code == 0) code = find_run(&text, &there, err);
    if (code == 1)
        ingest->is_known = true;
    else if (code == 0)
        code = copy(&text, there, err);
    close_text(&text);
    return code < 0 ? -1 : 0;
}

const struct format format_run_text = {
    .name = "clear-run",
    .help = "run.txt.gz of a directory NAME.profile/ that clear wrote: all rows of a run",
    .recognise = recognise,
    .read = read_run,
};
