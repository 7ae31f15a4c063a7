#include "query/profile/load/table_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/integers.h"
#include "schema/bulk.h"
#include "schema/schema.h"

enum { TRACE, LABEL_SET, FIRST_VALUE };
enum { SAMPLE_COLUMNS = 8 }; /* of `samples`: v0 to v7, then `more` */
enum { COLUMNS_MAX = FIRST_VALUE + (KIND_TYPES_MAX > SAMPLE_COLUMNS + 1 ? (int)KIND_TYPES_MAX : SAMPLE_COLUMNS + 1) };

/* ---- SQL, of parts that schema/kinds.c declares ---- */

static bool is_read(const struct table_rows *rows, size_t type) {
    return rows->only == SIZE_MAX || rows->only == type;
}

/* The view `sites`, whose tables are read by heap_rows. */
static bool is_heap(const struct kind *kind) {
    return kind == &kinds[KIND_HEAP];
}

/* What is no state is 0 in a profile that does not count. */
static void add_column(const struct table_rows *rows, size_t type, bool is_counted, struct buffer *sql) {
    const struct kind_type *declared = kind_type_find(rows->kind, rows->types[type].type);
    buffer_add_text(sql, ", ");
    buffer_add_text(sql, declared && (is_counted || declared->is_state) ? declared->column : "0");
}

static void add_sample_column(const struct table_rows *rows, size_t type, struct buffer *sql) {
    (void)rows;
    if (type < SAMPLE_COLUMNS) {
        buffer_add_text(sql, ", v");
        buffer_add_char(sql, (char)('0' + type));
    } else if (type == SAMPLE_COLUMNS) {
        buffer_add_text(sql, ", more");
    }
}

/* Where the run has places of its own, SQLite looks each up; else the rows come sorted. */
static void add_order(const struct table_rows *rows, struct buffer *sql) {
    if (!rows->places.count) {
        buffer_add_text(sql, " ORDER BY 1, 2");
        return;
    }
    buffer_add_text(sql, " ORDER BY (SELECT place FROM run_places"
                         " WHERE run_id = :run AND thing = 'trace' AND id = trace_id)");
    if (strcmp(rows->kind->label_set_id, "0") != 0)
        buffer_add_text(sql, ", (SELECT place FROM run_places"
                             " WHERE run_id = :run AND thing = 'label_set' AND id = label_set_id)");
}

/* The rows of a sorted one are steps: SQLite does not say in which order an aggregate has the rows of an ordered subquery. */
static char *compose(const struct table_rows *rows, bool is_counted, bool is_sorted) {
    struct buffer sql = {0};
    buffer_add_text(&sql, is_sorted ? "SELECT trace_id, " : "SELECT take_row(:into, trace_id, ");
    buffer_add_text(&sql, rows->kind->label_set_id);
    for (size_t i = 0; i < rows->type_count; i++)
        if (!rows->kind->name)
            add_sample_column(rows, i, &sql);
        else if (is_read(rows, i))
            add_column(rows, i, is_counted, &sql);
    buffer_add_text(&sql, is_sorted ? " FROM " : ") FROM ");
    buffer_add_text(&sql, rows->kind->table);
    buffer_add_text(&sql, " WHERE profile_id = :profile");
    if (is_sorted) add_order(rows, &sql);
    return buffer_take(&sql);
}

/* ---- a row ---- */

/* The ninth value and those after it; none where it is NULL. */
static int read_more(struct table_rows *rows, const char *json, struct error *err) {
    const char *at = *json ? integers_first(json) : "]";
    memset(rows->values + SAMPLE_COLUMNS, 0, (rows->type_count - SAMPLE_COLUMNS) * sizeof *rows->values);
    for (size_t i = SAMPLE_COLUMNS; at && *at != ']'; i++) {
        int64_t value;
        at = integers_next(at, &value);
        if (at && i < rows->type_count) rows->values[i] = value;
    }
    return integers_ended(at) ? 0 : error_fail(err, "invalid list of sample values: %.100s", json);
}

static int read_samples(struct table_rows *rows, sqlite3_value **row, struct error *err) {
    for (size_t i = 0; i < rows->type_count && i < SAMPLE_COLUMNS; i++)
        rows->values[i] = sqlite3_value_int64(row[FIRST_VALUE + i]);
    if (rows->type_count <= SAMPLE_COLUMNS) return 0;
    const char *more = (const char *)sqlite3_value_text(row[FIRST_VALUE + SAMPLE_COLUMNS]);
    return read_more(rows, more ? more : "", err);
}

static int read_values(struct table_rows *rows, sqlite3_value **row, struct error *err) {
    int column = FIRST_VALUE;
    if (!rows->kind->name) return read_samples(rows, row, err);
    for (size_t i = 0; i < rows->type_count; i++)
        if (is_read(rows, i)) rows->values[i] = sqlite3_value_int64(row[column++]);
    return 0;
}

static bool has_value(const struct table_rows *rows, const int64_t *values) {
    for (size_t i = 0; i < rows->type_count; i++)
        if (values[i]) return true;
    return false;
}

static int compare_rows(const void *left, const void *right) {
    const struct table_row *a = left, *b = right;
    if (a->trace_id != b->trace_id) return a->trace_id < b->trace_id ? -1 : 1;
    if (a->label_set_id != b->label_set_id) return a->label_set_id < b->label_set_id ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int add_values(const struct table_rows *rows, int64_t *sums, const int64_t *values, struct error *err) {
    for (size_t i = 0; i < rows->type_count; i++)
        if (__builtin_add_overflow(sums[i], values[i], &sums[i]))
            return error_fail(err, "the sum of %s/%s is larger than 2^63 - 1", rows->types[i].type,
                              rows->types[i].unit);
    return 0;
}

/* ---- sums: rows of one stack and label set become one, so that memory goes with the stacks, however many windows a run has ---- */

static bool is_of(const struct table_row *row, int64_t trace_id, int64_t label_set_id) {
    return row->trace_id == trace_id && row->label_set_id == label_set_id;
}

/* The slot of the row of that stack and label set, or where it belongs. */
static uint32_t *slot_of(const struct table_rows *rows, int64_t trace_id, int64_t label_set_id) {
    size_t mask = rows->slot_count - 1;
    size_t slot = hash_mix(hash_combine((uint64_t)label_set_id, (uint64_t)trace_id)) & mask;
    while (rows->slots[slot] && !is_of(&rows->rows[rows->slots[slot] - 1], trace_id, label_set_id))
        slot = (slot + 1) & mask;
    return &rows->slots[slot];
}

/* Makes room for twice as many as there are. */
static void index_rows(struct table_rows *rows) {
    free(rows->slots);
    for (rows->slot_count = 1024; rows->slot_count < rows->count * 4;)
        rows->slot_count *= 2;
    rows->slots = xcalloc(rows->slot_count, sizeof *rows->slots);
    for (size_t i = 0; i < rows->count; i++)
        *slot_of(rows, rows->rows[i].trace_id, rows->rows[i].label_set_id) = (uint32_t)i + 1;
}

/* The row that was collected of another profile; NULL: none. Windows list their stacks in one order, so that the next one is mostly
 * the one behind the last. */
static struct table_row *find_collected(struct table_rows *rows, int64_t trace_id, int64_t label_set_id) {
    size_t next = rows->found + 1;
    if (next >= rows->count || !is_of(&rows->rows[next], trace_id, label_set_id)) {
        uint32_t slot = *slot_of(rows, trace_id, label_set_id);
        if (!slot) return NULL;
        next = slot - 1;
    }
    rows->found = next;
    return &rows->rows[next];
}

static void add_row(struct table_rows *rows, int64_t trace_id, int64_t label_set_id, const int64_t *values) {
    if (rows->count == rows->room) {
        rows->room = rows->room ? rows->room * 2 : 1024;
        rows->rows = xrealloc(rows->rows, rows->room * sizeof *rows->rows);
        rows->collected = xrealloc(rows->collected, rows->room * rows->type_count * sizeof *rows->collected);
    }
    rows->rows[rows->count] = (struct table_row){trace_id, label_set_id, rows->count};
    memcpy(rows->collected + rows->count++ * rows->type_count, values, rows->type_count * sizeof *values);
}

static int collect(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *values, struct error *err) {
    struct table_rows *rows = context;
    if (rows->profile_count > 1) {
        const struct table_row *known = find_collected(rows, trace_id, label_set_id);
        if (known) return add_values(rows, rows->collected + known->index * rows->type_count, values, err);
        if (rows->count * 2 >= rows->slot_count) index_rows(rows);
        *slot_of(rows, trace_id, label_set_id) = (uint32_t)rows->count + 1;
    }
    add_row(rows, trace_id, label_set_id, values);
    return 0;
}

/* ---- all rows of a profile ---- */

struct table_reading {
    struct table_rows *rows;
    table_row_use *use;
    void *context;
};

static int take_row(void *context, sqlite3_value **row, struct error *err) {
    const struct table_reading *reading = context;
    struct table_rows *rows = reading->rows;
    if (read_values(rows, row, err)) return -1;
    if (!rows->keeps_zero && !has_value(rows, rows->values)) return 0;
    return reading->use(reading->context, sqlite3_value_int64(row[TRACE]), sqlite3_value_int64(row[LABEL_SET]),
                        rows->values, err);
}

static int take_site(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *figures, struct error *err) {
    struct table_rows *rows = context;
    for (size_t i = 0; i < rows->type_count; i++)
        rows->values[i] = figures[rows->figures[i]];
    if (!rows->keeps_zero && !has_value(rows, rows->values)) return 0;
    return collect(rows, trace_id, label_set_id, rows->values, err);
}

/* What is no state is 0 in a profile that does not count. */
static void choose_figures(struct table_rows *rows, bool is_counted) {
    for (size_t i = 0; i < rows->type_count; i++) {
        const struct kind_type *declared = kind_type_find(rows->kind, rows->types[i].type);
        bool is_taken = declared && is_read(rows, i) && (is_counted || declared->is_state);
        rows->figures[i] = is_taken ? (enum heap_figure)(declared - rows->kind->types) : HEAP_NOTHING;
    }
}

static int read_rows(const struct table_reading *reading, const char *sql, int64_t profile_id, struct error *err) {
    sqlite3_stmt *statement = bulk_prepare(reading->rows->db, sql, err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    return bulk_read(reading->rows->db, statement, take_row, (void *)reading, err);
}

static int read_sorted(const struct table_reading *reading, const char *sql, int64_t profile_id, struct error *err) {
    struct db *db = reading->rows->db;
    sqlite3_stmt *row = db_prepare(db, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":profile", profile_id);
    if (sqlite3_bind_parameter_index(row, ":run")) db_bind_int(row, ":run", reading->rows->places.run_id);
    sqlite3_value *values[COLUMNS_MAX];
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        for (int i = 0; i < sqlite3_column_count(row); i++)
            values[i] = sqlite3_column_value(row, i);
        if (take_row((void *)reading, values, err) < 0) {
            sqlite3_reset(row);
            return -1;
        }
    }
    return code;
}

int table_rows_collect(struct table_rows *rows, int64_t profile_id, bool is_counted, struct error *err) {
    if (++rows->profile_count == 2) index_rows(rows);
    if (is_heap(rows->kind)) {
        choose_figures(rows, is_counted);
        return heap_rows_read(&rows->heap, rows->db, profile_id, take_site, rows, err);
    }
    if (!rows->sql[is_counted]) rows->sql[is_counted] = compose(rows, is_counted, false);
    return read_rows(&(struct table_reading){rows, collect, rows}, rows->sql[is_counted], profile_id, err);
}

int table_rows_stream(struct table_rows *rows, int64_t profile_id, table_row_use *use, void *context,
                      struct error *err) {
    char *sql = compose(rows, true, true);
    int code = read_sorted(&(struct table_reading){rows, use, context}, sql, profile_id, err);
    free(sql);
    return code;
}

/* ---- in the order of another file ---- */

struct placed_row {
    int64_t trace_place, label_set_place;
    const struct table_row *row;
};

static int compare_placed(const void *left, const void *right) {
    const struct placed_row *a = left, *b = right;
    if (a->trace_place != b->trace_place) return a->trace_place < b->trace_place ? -1 : 1;
    if (a->label_set_place != b->label_set_place) return a->label_set_place < b->label_set_place ? -1 : 1;
    return (a->row->index > b->row->index) - (a->row->index < b->row->index);
}

static int give_placed(const struct table_rows *rows, table_row_use *use, void *context, struct error *err) {
    struct placed_row *placed = xcalloc(rows->count + 1, sizeof *placed);
    int code = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct table_row *row = &rows->rows[i];
        placed[i] = (struct placed_row){run_places_find(&rows->places, RUN_PLACE_TRACE, row->trace_id),
                                        run_places_find(&rows->places, RUN_PLACE_LABEL_SET, row->label_set_id), row};
    }
    qsort(placed, rows->count, sizeof *placed, compare_placed);
    for (size_t i = 0; code == 0 && i < rows->count; i++) {
        const struct table_row *row = placed[i].row;
        const int64_t *values = rows->collected + row->index * rows->type_count;
        if (rows->keeps_zero || has_value(rows, values))
            code = use(context, row->trace_id, row->label_set_id, values, err);
    }
    free(placed);
    return code;
}

int table_rows_of_run(struct table_rows *rows, int64_t run_id, struct error *err) {
    run_places_free(&rows->places);
    return run_places_read(&rows->places, rows->db, run_id, err);
}

/* ---- sorted here, which takes SQLite twice as long ---- */

/* The last rows of a table come in order as a rule: those before them are sorted, then both are merged. Sorting all of them was a
 * sixteenth of a report, and took memory for as many again. */
static int give_sorted(struct table_rows *rows, table_row_use *use, void *context, struct error *err) {
    size_t tail = rows->count ? rows->count - 1 : 0;
    int code = 0;
    while (tail && compare_rows(&rows->rows[tail - 1], &rows->rows[tail]) < 0)
        tail--;
    if (tail > 1) qsort(rows->rows, tail, sizeof *rows->rows, compare_rows);
    for (size_t head = 0, next = tail; code == 0 && (head < tail || next < rows->count);) {
        bool is_head = head < tail && (next == rows->count || compare_rows(&rows->rows[head], &rows->rows[next]) < 0);
        const struct table_row *row = &rows->rows[is_head ? head++ : next++];
        const int64_t *values = rows->collected + row->index * rows->type_count;
        if (rows->keeps_zero || has_value(rows, values))
            code = use(context, row->trace_id, row->label_set_id, values, err);
    }
    return code;
}

int table_rows_give(struct table_rows *rows, table_row_use *use, void *context, struct error *err) {
    int code = rows->places.count ? give_placed(rows, use, context, err) : give_sorted(rows, use, context, err);
    heap_rows_pause(&rows->heap);
    free(rows->slots);
    free(rows->rows);
    free(rows->collected);
    rows->slots = NULL;
    rows->rows = NULL;
    rows->collected = NULL;
    rows->count = rows->room = rows->profile_count = rows->slot_count = rows->found = 0;
    return code;
}

void table_rows_open(struct table_rows *rows, struct db *db, const struct kind *kind, const struct profile_type *types,
                     size_t type_count) {
    *rows = (struct table_rows){.db = db, .kind = kind, .types = types, .type_count = type_count, .only = SIZE_MAX};
    rows->values = xcalloc(type_count + 1, sizeof *rows->values);
    rows->figures = xcalloc(type_count + 1, sizeof *rows->figures);
}

void table_rows_free(struct table_rows *rows) {
    heap_rows_free(&rows->heap);
    free(rows->values);
    free(rows->figures);
    free(rows->slots);
    free(rows->rows);
    free(rows->collected);
    run_places_free(&rows->places);
    free(rows->sql[0]);
    free(rows->sql[1]);
    *rows = (struct table_rows){0};
}
