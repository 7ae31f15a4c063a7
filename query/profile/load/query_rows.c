#include "query/profile/load/query_rows.h"

#include <stdlib.h>
#include <string.h>

int query_rows_open(struct query_rows *rows, sqlite3_stmt *statement, struct error *err) {
    if (columns_open(&rows->columns, statement, err) < 0) return -1;
    for (int i = 0; i < rows->columns.count; i++) {
        enum role role = rows->columns.items[i].role;
        rows->has_labels |= role == ROLE_LABEL;
        rows->has_frames |= role == ROLE_FUNCTION || role == ROLE_STACK || role == ROLE_OPEN;
    }
    rows->values = xcalloc((size_t)rows->columns.slots + 1, sizeof *rows->values);
    rows->values[rows->columns.slots] = 1;
    return 0;
}

void query_rows_free(struct query_rows *rows) {
    columns_free(&rows->columns);
    free(rows->values);
    buffer_free(&rows->frames);
    buffer_free(&rows->labels);
    *rows = (struct query_rows){0};
}

/* Puts the row before an error that does not know it. */
static int in_row(const struct query_rows *rows, struct error *err) {
    return error_prefix(err, "row %lld: ", (long long)rows->row);
}

/* ---- values ---- */

/* One that is open to the end is NULL in every row, which is 0. */
static bool is_value(const struct query_column *column) {
    return column->role == ROLE_VALUE || column->role == ROLE_OPEN;
}

struct profile_type *query_rows_types(const struct query_rows *rows, size_t *count) {
    *count = (size_t)rows->columns.slots + 1;
    struct profile_type *types = xcalloc(*count, sizeof *types);
    for (int i = 0; i < rows->columns.count; i++) {
        const struct query_column *column = &rows->columns.items[i];
        if (is_value(column)) types[column->slot] = (struct profile_type){column->type, column->unit};
    }
    types[rows->columns.slots] = (struct profile_type){"rows", "count"};
    return types;
}

size_t *query_rows_values(const struct query_rows *rows, size_t *count) {
    size_t *kept = xcalloc((size_t)rows->columns.slots + 1, sizeof *kept);
    *count = 0;
    for (int i = 0; i < rows->columns.count; i++)
        if (is_value(&rows->columns.items[i])) kept[(*count)++] = (size_t)rows->columns.items[i].slot;
    if (*count == 0) kept[(*count)++] = (size_t)rows->columns.slots;
    return kept;
}

static int read_values(struct query_rows *rows, sqlite3_stmt *statement, struct error *err) {
    const struct query_columns *columns = &rows->columns;
    for (int i = 0; i < columns->count; i++) {
        const struct query_column *column = &columns->items[i];
        if (column->role == ROLE_VALUE &&
            columns_number(columns, statement, i, rows->row, &rows->values[column->slot], err) < 0)
            return -1;
    }
    return 0;
}

static bool has_value(const struct query_rows *rows) {
    for (int i = 0; i < rows->columns.slots; i++)
        if (rows->values[i]) return true;
    return false;
}

/* ---- labels ---- */

/* NULL is none. */
static int read_label(struct query_rows *rows, sqlite3_stmt *statement, int index, struct error *err) {
    const struct query_column *column = &rows->columns.items[index];
    struct profile_label label = {.key = column->type, .unit = column->unit};
    int type = sqlite3_column_type(statement, index);
    if (type == SQLITE_NULL) return 0;
    if ((type == SQLITE_TEXT || type == SQLITE_BLOB) && !*column->unit)
        label.text = db_text(statement, index);
    else if (columns_number(&rows->columns, statement, index, rows->row, &label.number, err) < 0)
        return -1;
    buffer_add(&rows->labels, &label, sizeof label);
    return 0;
}

/* The set of label_set_id, and the columns label:KEY. */
static int read_labels(struct query_rows *rows, sqlite3_stmt *statement, uint32_t *labels, struct error *err) {
    const struct query_columns *columns = &rows->columns;
    const struct profile *profile = rows->names->builder->profile;
    int64_t label_set_id = 0;
    if (columns->label_set >= 0 &&
        columns_number(columns, statement, columns->label_set, rows->row, &label_set_id, err) < 0)
        return -1;
    if (profile_names_labels(rows->names, label_set_id, labels, err) < 0) return in_row(rows, err);
    if (!rows->has_labels) return 0;
    const struct profile_labels *set = &profile->label_sets[*labels];
    buffer_clear(&rows->labels);
    if (set->count) buffer_add(&rows->labels, profile->labels + set->first, set->count * sizeof *profile->labels);
    for (int i = 0; i < columns->count; i++)
        if (columns->items[i].role == ROLE_LABEL && read_label(rows, statement, i, err) < 0) return -1;
    *labels = profile_build_labels(rows->names->builder, (const struct profile_label *)(const void *)rows->labels.data,
                                   rows->labels.size / sizeof *profile->labels);
    return 0;
}

/* ---- stacks ---- */

static void add_frame(struct query_rows *rows, const char *function, const char *file, int64_t line) {
    if (!*function) return;
    uint32_t frame = profile_names_location(rows->names, function, file, line);
    buffer_add(&rows->frames, &frame, sizeof frame);
}

/* "root;...;leaf", from its end. */
static void add_folded(struct query_rows *rows, const char *folded) {
    char *copy = xstrdup(folded);
    for (char *semicolon; (semicolon = strrchr(copy, ';')); *semicolon = '\0')
        add_frame(rows, semicolon + 1, "", 0);
    add_frame(rows, copy, "", 0);
    free(copy);
}

static int add_function(struct query_rows *rows, sqlite3_stmt *statement, int index, struct error *err) {
    const struct query_columns *columns = &rows->columns;
    int64_t line = 0;
    if (columns->line >= 0 && columns_number(columns, statement, columns->line, rows->row, &line, err) < 0) return -1;
    add_frame(rows, db_text(statement, index), columns->file >= 0 ? db_text(statement, columns->file) : "", line);
    return 0;
}

static int add_trace(struct query_rows *rows, sqlite3_stmt *statement, uint32_t *stack, struct error *err) {
    int64_t trace_id = 0;
    int column = rows->columns.trace;
    if (column >= 0 && columns_number(&rows->columns, statement, column, rows->row, &trace_id, err) < 0) return -1;
    return profile_names_trace(rows->names, trace_id, stack, err) < 0 ? in_row(rows, err) : 0;
}

static int add_trace_frames(struct query_rows *rows, sqlite3_stmt *statement, struct error *err) {
    const struct profile *profile = rows->names->builder->profile;
    uint32_t stack;
    if (add_trace(rows, statement, &stack, err) < 0) return -1;
    const struct profile_stack *trace = &profile->stacks[stack];
    if (trace->depth) buffer_add(&rows->frames, profile->frames + trace->first, trace->depth * sizeof *profile->frames);
    return 0;
}

static int add_frames(struct query_rows *rows, sqlite3_stmt *statement, int index, struct error *err) {
    switch (rows->columns.items[index].role) {
    case ROLE_TRACE: return add_trace_frames(rows, statement, err);
    case ROLE_FUNCTION: return add_function(rows, statement, index, err);
    case ROLE_STACK: add_folded(rows, db_text(statement, index)); return 0;
    case ROLE_FRAME: add_frame(rows, db_text(statement, index), "", 0); return 0;
    case ROLE_NONE:
    case ROLE_LABEL_SET:
    case ROLE_LABEL:
    case ROLE_VALUE:
    case ROLE_FILE:
    case ROLE_LINE:
    case ROLE_OPEN: return 0;
    }
    return 0;
}

/* Columns from right to left are frames from the leaf to the root. */
static int read_stack(struct query_rows *rows, sqlite3_stmt *statement, uint32_t *stack, struct error *err) {
    struct profile_builder *builder = rows->names->builder;
    if (!rows->has_frames) {
        if (add_trace(rows, statement, stack, err) < 0) return -1;
        if (builder->profile->stacks[*stack].depth || !rows->names_empty) return 0;
    }
    buffer_clear(&rows->frames);
    for (int i = rows->columns.count - 1; rows->has_frames && i >= 0; i--)
        if (add_frames(rows, statement, i, err) < 0) return -1;
    if (rows->frames.size == 0 && rows->names_empty) add_frame(rows, "[no stack]", "", 0);
    *stack = profile_build_stack(builder, (const uint32_t *)(const void *)rows->frames.data,
                                 rows->frames.size / sizeof(uint32_t));
    return 0;
}

int query_rows_add(struct query_rows *rows, sqlite3_stmt *statement, struct error *err) {
    uint32_t stack, labels;
    rows->row++;
    columns_decide(&rows->columns, statement);
    if (read_values(rows, statement, err) < 0) return -1;
    if (!rows->keeps_zero && !has_value(rows)) return 0;
    if (read_stack(rows, statement, &stack, err) < 0 || read_labels(rows, statement, &labels, err) < 0) return -1;
    return profile_build_sample(rows->names->builder, stack, labels, rows->values, err) < 0 ? in_row(rows, err) : 0;
}
