#include "export/rows.h"

#include <stdlib.h>
#include <string.h>

/* A sample as a key of the map: the head, then its frames, leaf first, then its labels. No padding, so that equal
 * samples are equal bytes. Texts are indices into `texts`. */
struct sample_head {
    int64_t trace_id, label_set_id;
    uint32_t frames, labels;
    uint64_t trace_at; /* how many of the frames are on the leaf's side of the trace */
};
struct sample_frame {
    int64_t function, file, line;
};
struct sample_label {
    int32_t column, is_text;
    int64_t value; /* the number, or the index of the text */
};
_Static_assert(sizeof(struct sample_head) == 32 && sizeof(struct sample_frame) == 24 &&
                   sizeof(struct sample_label) == 16,
               "no padding");

int rows_open(struct rows *rows, sqlite3_stmt *statement, struct error *err) {
    *rows = (struct rows){0};
    return columns_open(&rows->columns, statement, err);
}

void rows_free(struct rows *rows) {
    columns_free(&rows->columns);
    map_free(&rows->samples);
    map_free(&rows->texts);
    free(rows->values);
    free(rows->first_rows);
    buffer_free(&rows->frames);
    buffer_free(&rows->labels);
    buffer_free(&rows->key);
    *rows = (struct rows){0};
}

/* ---- reading ---- */

static int64_t intern(struct rows *rows, const char *text) {
    bool added;
    struct map_entry *entry =
        map_put(&rows->texts, text, strlen(text) + 1, &added); /* with the NUL, to be used as it is */
    if (added) entry->value = (int64_t)rows->texts.count - 1;
    return entry->value;
}

static void add_frame(struct rows *rows, const char *function, const char *file, int64_t line) {
    if (!*function) return;
    struct sample_frame frame = {intern(rows, function), intern(rows, file), line};
    buffer_add(&rows->frames, &frame, sizeof frame);
}

/* "root;...;leaf", from its end. */
static void add_folded(struct rows *rows, const char *folded) {
    char *copy = xstrdup(folded);
    for (char *semicolon; (semicolon = strrchr(copy, ';')); *semicolon = '\0')
        add_frame(rows, semicolon + 1, "", 0);
    add_frame(rows, copy, "", 0);
    free(copy);
}

static int add_function(struct rows *rows, sqlite3_stmt *statement, int column, struct error *err) {
    const struct columns *columns = &rows->columns;
    int64_t line = 0;
    if (columns->line >= 0 && columns_number(columns, statement, columns->line, rows->row, &line, err) < 0) return -1;
    add_frame(rows, db_text(statement, column), columns->file >= 0 ? db_text(statement, columns->file) : "", line);
    return 0;
}

static int add_label(struct rows *rows, sqlite3_stmt *statement, int column, struct error *err) {
    struct sample_label label = {.column = column};
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL) return 0;
    label.is_text = (type == SQLITE_TEXT || type == SQLITE_BLOB) && !*rows->columns.items[column].unit;
    if (label.is_text)
        label.value = intern(rows, db_text(statement, column));
    else if (columns_number(&rows->columns, statement, column, rows->row, &label.value, err) < 0)
        return -1;
    buffer_add(&rows->labels, &label, sizeof label);
    return 0;
}

static int read_cell(struct rows *rows, sqlite3_stmt *statement, int column, struct sample_head *head,
                     struct error *err) {
    switch (rows->columns.items[column].role) {
    case ROLE_TRACE:
        head->trace_at = rows->frames.size / sizeof(struct sample_frame);
        return columns_number(&rows->columns, statement, column, rows->row, &head->trace_id, err);
    case ROLE_LABEL_SET: return columns_number(&rows->columns, statement, column, rows->row, &head->label_set_id, err);
    case ROLE_LABEL: return add_label(rows, statement, column, err);
    case ROLE_FUNCTION: return add_function(rows, statement, column, err);
    case ROLE_STACK: add_folded(rows, db_text(statement, column)); return 0;
    case ROLE_FRAME: add_frame(rows, db_text(statement, column), "", 0); return 0;
    case ROLE_NONE:
    case ROLE_VALUE:
    case ROLE_FILE:
    case ROLE_LINE:
    case ROLE_OPEN: return 0;
    }
    return 0;
}

/* The row's stack and labels into `key`. Columns from right to left are frames from the leaf to the root. */
static int encode(struct rows *rows, sqlite3_stmt *statement, struct error *err) {
    struct sample_head head = {0};
    buffer_clear(&rows->frames);
    buffer_clear(&rows->labels);
    buffer_clear(&rows->key);
    for (int i = rows->columns.count - 1; i >= 0; i--)
        if (read_cell(rows, statement, i, &head, err) < 0) return -1;
    head.frames = (uint32_t)(rows->frames.size / sizeof(struct sample_frame));
    head.labels = (uint32_t)(rows->labels.size / sizeof(struct sample_label));
    buffer_add(&rows->key, &head, sizeof head);
    buffer_add(&rows->key, rows->frames.data, rows->frames.size);
    buffer_add(&rows->key, rows->labels.data, rows->labels.size);
    return 0;
}

/* The sums of the sample in `key`, zero where it is new. */
static int64_t *find_sums(struct rows *rows) {
    size_t width = (size_t)rows->columns.slots + 1;
    bool added;
    struct map_entry *entry = map_put(&rows->samples, rows->key.data, rows->key.size, &added);
    if (!added) return rows->values + (size_t)entry->value * width;
    size_t index = rows->samples.count - 1;
    if (index == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : 256;
        rows->values = xrealloc(rows->values, rows->capacity * width * sizeof *rows->values);
        rows->first_rows = xrealloc(rows->first_rows, rows->capacity * sizeof *rows->first_rows);
    }
    entry->value = (int64_t)index;
    rows->first_rows[index] = rows->row;
    return memset(rows->values + index * width, 0, width * sizeof *rows->values);
}

int rows_add(struct rows *rows, sqlite3_stmt *statement, struct error *err) {
    struct columns *columns = &rows->columns;
    rows->row++;
    columns_decide(columns, statement);
    if (encode(rows, statement, err) < 0) return -1;
    int64_t *sums = find_sums(rows), value;
    sums[columns->slots]++;
    for (int i = 0; i < columns->count; i++) {
        if (columns->items[i].role != ROLE_VALUE) continue;
        int64_t *sum = &sums[columns->items[i].slot];
        if (columns_number(columns, statement, i, rows->row, &value, err) < 0) return -1;
        if (__builtin_add_overflow(*sum, value, sum))
            return error_fail(err, "row %lld, column %s: the sum is larger than 2^63 - 1", (long long)rows->row,
                              columns->items[i].name);
    }
    return 0;
}

/* ---- writing ---- */

static const char *text_of(const struct rows *rows, int64_t index) {
    return rows->texts.entries[index].key;
}

static void add_frames(const struct rows *rows, struct names *names, const struct sample_frame *frames, size_t count,
                       struct buffer *stack) {
    for (size_t i = 0; i < count; i++) {
        uint64_t location =
            names_frame(names, text_of(rows, frames[i].function), text_of(rows, frames[i].file), frames[i].line);
        buffer_add(stack, &location, sizeof location);
    }
}

static int decode_stack(const struct rows *rows, struct names *names, const struct sample_head *head,
                        struct buffer *out, struct error *err) {
    const struct sample_frame *frames = (const struct sample_frame *)(head + 1);
    struct stack trace;
    add_frames(rows, names, frames, head->trace_at, out);
    if (names_trace(names, head->trace_id, &trace, err) < 0) return -1;
    buffer_add(out, trace.locations, trace.count * sizeof *trace.locations);
    add_frames(rows, names, frames + head->trace_at, head->frames - head->trace_at, out);
    return 0;
}

static int decode_labels(const struct rows *rows, struct names *names, const struct sample_head *head,
                         struct buffer *out, struct error *err) {
    const struct sample_frame *frames = (const struct sample_frame *)(head + 1);
    const struct sample_label *labels = (const struct sample_label *)(frames + head->frames);
    struct labels set;
    if (names_labels(names, head->label_set_id, &set, err) < 0) return -1;
    buffer_add(out, set.items, set.count * sizeof *set.items);
    for (size_t i = head->labels; i-- > 0;) { /* they were read from right to left */
        const struct column *column = &rows->columns.items[labels[i].column];
        struct pprof_label label = {.key = column->type, .unit = column->unit};
        if (labels[i].is_text)
            label.text = text_of(rows, labels[i].value);
        else
            label.number = labels[i].value;
        buffer_add(out, &label, sizeof label);
    }
    return 0;
}

static bool is_value(const struct column *column) {
    return column->role == ROLE_VALUE || column->role == ROLE_OPEN; /* open to the end: NULL in every row, which is 0 */
}

/* Fills `slots` with the places of the values in the order of the columns; without any, with that of the row count. */
static size_t write_types(const struct rows *rows, struct pprof_writer *writer, int *slots) {
    size_t count = 0;
    for (int i = 0; i < rows->columns.count; i++) {
        const struct column *column = &rows->columns.items[i];
        if (!is_value(column)) continue;
        pprof_sample_type(writer, column->type, column->unit);
        slots[count++] = column->slot;
    }
    if (count) return count;
    pprof_sample_type(writer, "rows", "count");
    slots[0] = rows->columns.slots;
    return 1;
}

struct sample_out {
    struct buffer stack, labels;
    int *slots;
    int64_t *values;
    size_t count;
};

static int write_sample(const struct rows *rows, size_t index, struct names *names, struct pprof_writer *writer,
                        struct sample_out *out, struct error *err) {
    const struct sample_head *head = rows->samples.entries[index].key;
    const int64_t *sums = rows->values + index * ((size_t)rows->columns.slots + 1);
    buffer_clear(&out->stack);
    buffer_clear(&out->labels);
    if (decode_stack(rows, names, head, &out->stack, err) < 0 ||
        decode_labels(rows, names, head, &out->labels, err) < 0)
        return error_prefix(err, "row %lld: ", (long long)rows->first_rows[index]);
    for (size_t i = 0; i < out->count; i++)
        out->values[i] = sums[out->slots[i]];
    return pprof_sample(writer, (const uint64_t *)(void *)out->stack.data, out->stack.size / sizeof(uint64_t),
                        out->values, (const struct pprof_label *)(void *)out->labels.data,
                        out->labels.size / sizeof(struct pprof_label), err);
}

int rows_write(struct rows *rows, struct names *names, struct pprof_writer *writer, struct error *err) {
    size_t width = (size_t)rows->columns.slots + 1;
    struct sample_out out = {.slots = xcalloc(width, sizeof *out.slots), .values = xcalloc(width, sizeof *out.values)};
    out.count = write_types(rows, writer, out.slots);
    int code = 0;
    for (size_t i = 0; code == 0 && i < rows->samples.count; i++)
        code = write_sample(rows, i, names, writer, &out, err);
    buffer_free(&out.stack);
    buffer_free(&out.labels);
    free(out.slots);
    free(out.values);
    return code;
}
