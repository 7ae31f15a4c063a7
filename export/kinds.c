#include "export/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

enum { IN_COLUMNS = 8, FIRST_VALUE = 2 }; /* values of `samples` that have columns; the column of the first */

/* One profile on its way in. */
struct reading {
    struct db *db;
    struct rows *rows;
    const struct kind *kind;
    int64_t profile_id;
    const char *types; /* profiles.sample_types */
    bool is_counted;   /* the profile ends in the span, else before it */
    bool has_before;   /* what ends before the span is in the rows */
    int64_t *values;   /* scratch of a plain row */
    uint64_t *more;    /* scratch of further values */
    size_t more_capacity;
};

/* ---- kinds of their own types ---- */

/* [["alloc_objects","count"], ...] as columns. The names are copied. */
static int open_types(struct reading *reading, struct columns *columns, struct error *err) {
    sqlite3_stmt *pairs =
        db_prepare(reading->db, "SELECT value ->> 0, value ->> 1 FROM json_each(:types) ORDER BY key", err);
    if (!pairs) return -1;
    db_bind_text(pairs, ":types", reading->types);
    struct value_type *types = NULL;
    size_t count = 0;
    int code;
    while ((code = db_step(reading->db, pairs, err)) == 1) {
        types = xrealloc(types, (count + 1) * sizeof *types);
        types[count++] = (struct value_type){xstrdup(db_text(pairs, 0)), xstrdup(db_text(pairs, 1))};
    }
    columns_open_types(columns, types, count);
    for (size_t i = 0; i < count; i++) {
        free((char *)types[i].type);
        free((char *)types[i].unit);
    }
    free(types);
    if (code == 0 && count == 0)
        return error_fail(err, "profile %lld has no sample types", (long long)reading->profile_id);
    return code;
}

static bool same_types(const struct columns *a, const struct columns *b) {
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0) return false;
    return true;
}

/* Profiles of one kind from unlike sources may have unlike types; their values cannot be added. */
static int take_types(struct reading *reading, struct error *err) {
    struct columns columns;
    if (open_types(reading, &columns, err) < 0) {
        columns_free(&columns);
        return -1;
    }
    if (!reading->rows->columns.items) {
        reading->rows->columns = columns;
        return 0;
    }
    int code = 0;
    if (!same_types(&reading->rows->columns, &columns))
        code = error_fail(err, "profile %lld has other sample types (%s ...) than those before it (%s ...)",
                          (long long)reading->profile_id, columns.items[0].name, reading->rows->columns.items[0].name);
    columns_free(&columns);
    return code;
}

static int read_more(struct reading *reading, sqlite3_stmt *statement, struct error *err) {
    size_t count, wanted = (size_t)reading->rows->columns.slots;
    if (wanted <= IN_COLUMNS) return 0;
    const char *json = db_text(statement, FIRST_VALUE + IN_COLUMNS);
    memset(reading->values + IN_COLUMNS, 0, (wanted - IN_COLUMNS) * sizeof *reading->values);
    if (!*json) return 0;
    if (names_parse_stack(json, &reading->more, &reading->more_capacity, &count, err) < 0) return -1;
    for (size_t i = 0; i < count && i < wanted - IN_COLUMNS; i++)
        reading->values[IN_COLUMNS + i] = (int64_t)reading->more[i];
    return 0;
}

/* ---- all kinds ---- */

static int add_plain(struct reading *reading, sqlite3_stmt *statement, struct error *err) {
    int slots = reading->rows->columns.slots;
    for (int i = 0; i < slots && (reading->kind->name || i < IN_COLUMNS); i++)
        reading->values[i] = sqlite3_column_int64(statement, FIRST_VALUE + i);
    if (!reading->kind->name && read_more(reading, statement, err) < 0) return -1;
    return rows_add_plain(reading->rows, sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                          reading->values, err);
}

static int read_profile(struct reading *reading, struct error *err) {
    sqlite3_stmt *statement = db_prepare(reading->db, embedded_text(reading->kind->query), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", reading->profile_id);
    if (kind_has_state(reading->kind)) db_bind_int(statement, ":counted", reading->is_counted);
    int code = reading->kind->name ? 0 : take_types(reading, err);
    reading->values = xcalloc((size_t)reading->rows->columns.slots + 1, sizeof *reading->values);
    while (code == 0 && (code = db_step(reading->db, statement, err)) == 1)
        code = add_plain(reading, statement, err);
    if (code < 0) sqlite3_reset(statement);
    free(reading->values);
    free(reading->more);
    reading->values = NULL;
    reading->more = NULL;
    reading->more_capacity = 0;
    return code;
}

/* The columns are known before the first profile, and where there is none. */
static int open_rows(struct reading *reading, struct error *err) {
    if (reading->rows->columns.items) return 0;
    if (reading->kind->name) {
        sqlite3_stmt *statement = db_prepare(reading->db, embedded_text(reading->kind->query), err);
        if (!statement || rows_open(reading->rows, statement, err) < 0) return -1;
    } else {
        *reading->rows = (struct rows){0};
    }
    reading->rows->by_trace = reading->kind->plain;
    return 0;
}

/* One statement a profile: in the order in which its table keeps them. */
static int read_profiles(struct reading *reading, int64_t run_id, const char *name, const struct timespan *span,
                         struct error *err) {
    sqlite3_stmt *profiles =
        db_prepare(reading->db,
                   "SELECT id, sample_types, process_id IS NOT NULL OR sample_types = '[]', time_ns > :from"
                   " FROM profiles WHERE run_id = :run AND kind IN (:kind, :also) AND time_ns <= :to ORDER BY id",
                   err);
    if (!profiles) return -1;
    db_bind_int(profiles, ":run", run_id);
    kind_bind(profiles, name);
    timespan_bind(profiles, span);
    int code;
    while ((code = db_step(reading->db, profiles, err)) == 1) {
        reading->profile_id = sqlite3_column_int64(profiles, 0);
        reading->types = db_text(profiles, 1);
        reading->is_counted = sqlite3_column_int(profiles, 3);
        reading->rows->addressed = reading->kind->addressed && sqlite3_column_int(profiles, 2);
        bool is_read = reading->is_counted || (kind_has_state(reading->kind) && !reading->has_before);
        if (is_read && read_profile(reading, err) < 0) {
            sqlite3_reset(profiles);
            return -1;
        }
    }
    return code;
}

/* Kinds with frames and labels of their own, or with values that are no sums, are grouped over windows by their query. */
static int read_grouped(struct reading *reading, int64_t run_id, const char *name, const struct timespan *span,
                        struct error *err) {
    sqlite3_stmt *statement = db_prepare(reading->db, embedded_text(reading->kind->query), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    kind_bind(statement, name);
    timespan_bind(statement, span);
    int code;
    while ((code = db_step(reading->db, statement, err)) == 1)
        if (rows_add(reading->rows, statement, err) < 0) {
            sqlite3_reset(statement);
            return -1;
        }
    return code;
}

static int read_span(struct reading *reading, int64_t run_id, const char *name, const struct timespan *span,
                     struct error *err) {
    if (open_rows(reading, err) < 0) return -1;
    reading->rows->sparse = span->from_ns != timespan_all.from_ns;
    return reading->kind->plain ? read_profiles(reading, run_id, name, span, err)
                                : read_grouped(reading, run_id, name, span, err);
}

int kind_read(struct rows *rows, struct db *db, int64_t run_id, const char *name, const struct timespan *span,
              struct error *err) {
    struct reading reading = {.db = db, .rows = rows, .kind = kind_find(name)};
    return read_span(&reading, run_id, name, span, err);
}

int kind_read_more(struct rows *rows, struct db *db, int64_t run_id, const char *name, const struct timespan *span,
                   struct error *err) {
    struct reading reading = {.db = db, .rows = rows, .kind = kind_find(name), .has_before = true};
    return read_span(&reading, run_id, name, span, err);
}
