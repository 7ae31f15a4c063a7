#include "export/rows.h"

#include <stdlib.h>
#include <string.h>

/* A sample as a key of the map: the head, then its frames, leaf first, then its labels. No padding, so that equal
 * samples are equal bytes. Texts are indices into `texts`. */
struct sample_head {
    int64_t trace_id, label_set_id;
    uint32_t frames, labels;
    uint32_t trace_at;  /* how many of the frames are on the leaf's side of the trace */
    uint32_t addressed; /* the label `addr` is wanted */
};
struct sample_frame {
    int64_t function, file, line;
};
enum { TEXT_LABEL = -1 };
struct sample_label {
    int32_t key, unit; /* indices of texts; the unit TEXT_LABEL where the value is a text */
    int64_t value;     /* the number, or the index of the text */
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
    free(rows->told);
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
    const struct column *about = &rows->columns.items[column];
    struct sample_label label = {.key = (int32_t)intern(rows, about->type), .unit = TEXT_LABEL};
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL) return 0;
    if ((type == SQLITE_TEXT || type == SQLITE_BLOB) && !*about->unit) {
        label.value = intern(rows, db_text(statement, column));
    } else {
        if (columns_number(&rows->columns, statement, column, rows->row, &label.value, err) < 0) return -1;
        label.unit = (int32_t)intern(rows, about->unit);
    }
    buffer_add(&rows->labels, &label, sizeof label);
    return 0;
}

static int read_cell(struct rows *rows, sqlite3_stmt *statement, int column, struct sample_head *head,
                     struct error *err) {
    switch (rows->columns.items[column].role) {
    case ROLE_TRACE:
        head->trace_at = (uint32_t)(rows->frames.size / sizeof(struct sample_frame));
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
    struct sample_head head = {.addressed = rows->addressed};
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

/* The sums of the sample of that key, zero where it is new. */
static int64_t *find_sums(struct rows *rows, const void *key, size_t size) {
    size_t width = (size_t)rows->columns.slots + 1;
    bool added;
    struct map_entry *entry = map_put(&rows->samples, key, size, &added);
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

static int add_value(const struct rows *rows, int column, int64_t value, int64_t *sums, struct error *err) {
    int64_t *sum = &sums[rows->columns.items[column].slot];
    if (!__builtin_add_overflow(*sum, value, sum)) return 0;
    return error_fail(err, "row %lld, column %s: the sum is larger than 2^63 - 1", (long long)rows->row,
                      rows->columns.items[column].name);
}

int rows_add(struct rows *rows, sqlite3_stmt *statement, struct error *err) {
    struct columns *columns = &rows->columns;
    rows->row++;
    columns_decide(columns, statement);
    if (encode(rows, statement, err) < 0) return -1;
    int64_t *sums = find_sums(rows, rows->key.data, rows->key.size), value;
    sums[columns->slots]++;
    for (int i = 0; i < columns->count; i++) {
        if (columns->items[i].role != ROLE_VALUE) continue;
        if (columns_number(columns, statement, i, rows->row, &value, err) < 0) return -1;
        if (add_value(rows, i, value, sums, err) < 0) return -1;
    }
    return 0;
}

int rows_add_plain(struct rows *rows, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                   struct error *err) {
    struct sample_head head = {.trace_id = trace_id, .label_set_id = label_set_id, .addressed = rows->addressed};
    rows->row++;
    int64_t *sums = find_sums(rows, &head, sizeof head);
    sums[rows->columns.slots]++;
    for (int i = 0, next = 0; i < rows->columns.count; i++)
        if (rows->columns.items[i].role == ROLE_VALUE && add_value(rows, i, values[next++], sums, err) < 0) return -1;
    return 0;
}

/* ---- a second time ---- */

static size_t width_of(const struct rows *rows) {
    return (size_t)rows->columns.slots + 1;
}

void rows_again(struct rows *rows) {
    size_t size = rows->samples.count * width_of(rows) * sizeof *rows->values;
    rows->told_count = rows->samples.count;
    rows->row = 0;
    if (!size) return;
    rows->told = xrealloc(rows->told, size);
    memcpy(rows->told, rows->values, size);
}

void rows_restart(struct rows *rows) {
    size_t size = rows->samples.count * width_of(rows) * sizeof *rows->values;
    if (size) memset(rows->values, 0, size);
}

static bool is_state(const char *type) {
    return strncmp(type, "inuse_", strlen("inuse_")) == 0;
}

static bool is_maximum(const char *type) {
    return strncmp(type, "max_", strlen("max_")) == 0;
}

bool rows_are_sums(const struct rows *rows) {
    for (int i = 0; i < rows->columns.count; i++)
        if (rows->columns.items[i].role == ROLE_VALUE && is_maximum(rows->columns.items[i].type)) return false;
    return true;
}

void rows_back(struct rows *rows) {
    size_t told = rows->told_count * width_of(rows), all = rows->samples.count * width_of(rows);
    if (told) memcpy(rows->values, rows->told, told * sizeof *rows->values);
    if (all > told) memset(rows->values + told, 0, (all - told) * sizeof *rows->values);
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
    buffer_clear(out);
    add_frames(rows, names, frames, head->trace_at, out);
    if (names_trace(names, head->trace_id, &trace, err) < 0) return -1;
    buffer_add(out, trace.locations, trace.count * sizeof *trace.locations);
    add_frames(rows, names, frames + head->trace_at, head->frames - head->trace_at, out);
    if (out->size == 0 && rows->named) {
        uint64_t none = names_frame(names, "[no stack]", "", 0);
        buffer_add(out, &none, sizeof none);
    }
    return 0;
}

static int add_address(struct names *names, int64_t trace_id, struct buffer *out, struct error *err) {
    struct pprof_label label = {.key = "addr"};
    if (names_address(names, trace_id, &label.text, err) < 0) return -1;
    if (label.text) buffer_add(out, &label, sizeof label);
    return 0;
}

static int decode_labels(const struct rows *rows, struct names *names, const struct sample_head *head,
                         struct buffer *out, struct error *err) {
    const struct sample_frame *frames = (const struct sample_frame *)(head + 1);
    const struct sample_label *labels = (const struct sample_label *)(frames + head->frames);
    struct labels set;
    buffer_clear(out);
    if (names_labels(names, head->label_set_id, &set, err) < 0) return -1;
    buffer_add(out, set.items, set.count * sizeof *set.items);
    if (head->addressed && add_address(names, head->trace_id, out, err) < 0) return -1;
    for (size_t i = head->labels; i-- > 0;) { /* they were read from right to left */
        struct pprof_label label = {.key = text_of(rows, labels[i].key)};
        if (labels[i].unit == TEXT_LABEL) {
            label.text = text_of(rows, labels[i].value);
        } else {
            label.number = labels[i].value;
            label.unit = text_of(rows, labels[i].unit);
        }
        buffer_add(out, &label, sizeof label);
    }
    return 0;
}

static bool is_value(const struct column *column) {
    return column->role == ROLE_VALUE || column->role == ROLE_OPEN; /* open to the end: NULL in every row, which is 0 */
}

static const struct value_type row_count = {"rows", "count"}; /* of a query without values */

/* The values in the order of the columns, with their places in the sums; without any, the count of rows. Room for one more
 * than there are slots. */
static size_t list_types(const struct rows *rows, struct value_type *types, int *slots) {
    size_t count = 0;
    for (int i = 0; i < rows->columns.count; i++) {
        const struct column *column = &rows->columns.items[i];
        if (!is_value(column)) continue;
        types[count] = (struct value_type){column->type, column->unit};
        slots[count++] = column->slot;
    }
    if (count) return count;
    types[0] = row_count;
    slots[0] = rows->columns.slots;
    return 1;
}

/* Rows on their way out. */
struct outgoing_rows {
    const struct rows *rows;
    struct names *names;
    struct pprof_writer *writer;
    struct buffer stack, labels;
    struct value_type *types;
    int *slots; /* [value of the profile]: its place in the sums */
    int64_t *values;
    size_t count;
    bool base; /* negated and marked */
};

static void open_outgoing(struct outgoing_rows *out) {
    size_t width = (size_t)out->rows->columns.slots + 1;
    out->types = xcalloc(width, sizeof *out->types);
    out->slots = xcalloc(width, sizeof *out->slots);
    out->count = list_types(out->rows, out->types, out->slots);
    out->values = xcalloc(out->count, sizeof *out->values);
}

static void free_outgoing(struct outgoing_rows *out) {
    buffer_free(&out->stack);
    buffer_free(&out->labels);
    free(out->types);
    free(out->slots);
    free(out->values);
}

/* What is to be told of a sum after what was told before. */
static int64_t since_told(const struct rows *rows, size_t index, int slot, const char *type) {
    size_t at = index * width_of(rows) + (size_t)slot;
    int64_t value = rows->values[at], told = index < rows->told_count ? rows->told[at] : 0;
    if (is_maximum(type)) return value == told ? 0 : value;
    return is_state(type) ? value : value - told;
}

static int fill_values(struct outgoing_rows *out, size_t index, struct error *err) {
    for (size_t i = 0; i < out->count; i++) {
        int64_t value = since_told(out->rows, index, out->slots[i], out->types[i].type);
        if (out->base && __builtin_sub_overflow((int64_t)0, value, &value))
            return error_fail(err, "%s/%s: -2^63 has no negative", out->types[i].type, out->types[i].unit);
        out->values[i] = value;
    }
    return 0;
}

static bool is_zero(const struct outgoing_rows *out, size_t index) {
    for (size_t i = 0; i < out->count; i++)
        if (since_told(out->rows, index, out->slots[i], out->types[i].type)) return false;
    return true;
}

static int write_sample(struct outgoing_rows *out, size_t index, struct error *err) {
    static const struct pprof_label mark = {.key = "pprof::base", .text = "true"};
    const struct sample_head *head = out->rows->samples.entries[index].key;
    if (fill_values(out, index, err) < 0)
        return error_prefix(err, "row %lld: ", (long long)out->rows->first_rows[index]);
    if (decode_stack(out->rows, out->names, head, &out->stack, err) < 0 ||
        decode_labels(out->rows, out->names, head, &out->labels, err) < 0)
        return error_prefix(err, "row %lld: ", (long long)out->rows->first_rows[index]);
    if (out->base) buffer_add(&out->labels, &mark, sizeof mark);
    return pprof_sample(out->writer, (const uint64_t *)(void *)out->stack.data, out->stack.size / sizeof(uint64_t),
                        out->values, (const struct pprof_label *)(void *)out->labels.data,
                        out->labels.size / sizeof(struct pprof_label), err);
}

/* ---- in which order ---- */

struct place {
    int64_t trace_id;
    size_t index;
};

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->trace_id != b->trace_id) return a->trace_id < b->trace_id ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int64_t trace_of(const struct rows *rows, size_t index) {
    return ((const struct sample_head *)rows->samples.entries[index].key)->trace_id;
}

static bool is_in_order(const struct rows *rows) {
    size_t i = 1;
    while (rows->by_trace && i < rows->samples.count && trace_of(rows, i - 1) <= trace_of(rows, i))
        i++;
    return !rows->by_trace || i >= rows->samples.count;
}

/* The samples to write. NULL where these are all as they came, which is so for a single profile. free() it. */
static struct place *choose(const struct outgoing_rows *out, size_t *count) {
    const struct rows *rows = out->rows;
    bool in_order = is_in_order(rows);
    *count = rows->samples.count;
    if (in_order && !rows->sparse) return NULL;
    struct place *places = xcalloc(rows->samples.count + 1, sizeof *places);
    *count = 0;
    for (size_t i = 0; i < rows->samples.count; i++)
        if (!rows->sparse || !is_zero(out, i)) places[(*count)++] = (struct place){trace_of(rows, i), i};
    if (!in_order) qsort(places, *count, sizeof *places, compare_places);
    return places;
}

static int write_samples(struct outgoing_rows *out, struct error *err) {
    size_t count;
    struct place *places = choose(out, &count);
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++)
        code = write_sample(out, places ? places[i].index : i, err);
    free(places);
    return code;
}

/* ---- the ways out ---- */

/* NAME or NAME/UNIT */
static bool is_type(const char *wanted, const char *type, const char *unit) {
    size_t size = strlen(type);
    if (strncmp(wanted, type, size) != 0) return false;
    return !wanted[size] || (wanted[size] == '/' && strcmp(wanted + size + 1, unit) == 0);
}

int rows_types(const struct rows *rows, const char *shown, struct pprof_writer *writer, struct error *err) {
    struct outgoing_rows out = {.rows = rows};
    struct buffer known = {0};
    bool found = false;
    open_outgoing(&out);
    for (size_t i = 0; i < out.count; i++) {
        pprof_sample_type(writer, out.types[i].type, out.types[i].unit);
        buffer_printf(&known, "%s%s", i ? ", " : "", out.types[i].type);
        if (!shown || found || !is_type(shown, out.types[i].type, out.types[i].unit)) continue;
        pprof_default_type(writer, out.types[i].type);
        found = true;
    }
    free_outgoing(&out);
    int code = shown && !found ? error_usage(err, "--type %s: the profile has %s", shown, buffer_text(&known)) : 0;
    buffer_free(&known);
    return code;
}

int rows_write(struct rows *rows, struct names *names, struct pprof_writer *writer, struct error *err) {
    struct outgoing_rows out = {.rows = rows, .names = names, .writer = writer};
    open_outgoing(&out);
    int code = write_samples(&out, err);
    free_outgoing(&out);
    return code;
}

/* Re-orders slots to the types of `wanted`. */
static int match_types(struct outgoing_rows *out, const struct outgoing_rows *wanted, struct error *err) {
    int *slots = xcalloc(wanted->count, sizeof *slots);
    size_t found = 0;
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t j = 0; j < out->count; j++)
            if (strcmp(wanted->types[i].type, out->types[j].type) == 0 &&
                strcmp(wanted->types[i].unit, out->types[j].unit) == 0) {
                slots[i] = out->slots[j];
                found++;
                break;
            }
    free(out->slots);
    out->slots = slots;
    if (found == wanted->count && out->count == wanted->count) return 0;
    return error_usage(err, "the base has other values (%s/%s ...: %zu) than what it is taken from (%s/%s ...: %zu)",
                       out->types[0].type, out->types[0].unit, out->count, wanted->types[0].type, wanted->types[0].unit,
                       wanted->count);
}

int rows_write_base(struct rows *base, const struct rows *rows, struct names *names, struct pprof_writer *writer,
                    struct error *err) {
    struct outgoing_rows wanted = {.rows = rows};
    struct outgoing_rows out = {.rows = base, .names = names, .writer = writer, .base = true};
    open_outgoing(&wanted);
    open_outgoing(&out);
    /* A base without a single row has decided nothing, and takes nothing away. */
    int code = base->samples.count ? match_types(&out, &wanted, err) : 0;
    if (code == 0) code = write_samples(&out, err);
    free_outgoing(&wanted);
    free_outgoing(&out);
    return code;
}
