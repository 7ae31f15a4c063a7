#include "query/profile/load/series.h"

#include <stdlib.h>
#include <string.h>

#include "query/profile/load/load_header.h"
#include "query/profile/load/load_rows.h"
#include "schema/schema.h"

struct profile_series {
    struct load_types types;
    struct profile sums; /* of all that was read; and of its samples what they were at the mark: */
    struct profile_builder builder;
    struct profile_names names;
    struct load_rows rows;
    int64_t *marked; /* [sample][type], of the first marked_count samples */
    size_t marked_count;
    int64_t mark_ns; /* the end of the newest window that was read; 0: none was */
    bool is_open;
};

struct profile_series *profile_series_new(void) {
    return xcalloc(1, sizeof(struct profile_series));
}

static void forget(struct profile_series *series) {
    if (!series->is_open) return;
    load_rows_free(&series->rows);
    profile_names_free(&series->names);
    series->builder.keeps_zero = true; /* nothing is to be made of it */
    profile_built(&series->builder);
    profile_free(&series->sums);
    load_types_free(&series->types);
    free(series->marked);
    *series = (struct profile_series){0};
}

void profile_series_free(struct profile_series *series) {
    if (!series) return;
    forget(series);
    free(series);
}

static int open_sums(struct profile_series *series, struct db *db, int64_t run_id, const char *kind,
                     struct error *err) {
    const struct run_set run = {&run_id, 1};
    if (load_types_find(&series->types, db, &run, kind, true, err) < 0) {
        load_types_free(&series->types);
        return -1;
    }
    profile_build_exact(&series->builder, &series->sums, series->types.types, series->types.count);
    profile_names_open(&series->names, db, &series->builder);
    load_rows_open(&series->rows, &series->names, kind, &series->types);
    series->is_open = true;
    return 0;
}

/* ---- sums ---- */

static size_t size_of(const struct profile_series *series, size_t samples) {
    return samples * series->types.count * sizeof *series->marked;
}

static void mark(struct profile_series *series, int64_t end_ns) {
    size_t count = series->sums.sample_count;
    series->marked = xrealloc(series->marked, size_of(series, count) + 1);
    if (count) memcpy(series->marked, series->sums.values, size_of(series, count));
    series->marked_count = count;
    series->mark_ns = end_ns;
}

/* As they were at the mark, or all of them nothing. */
static void reset(struct profile_series *series, bool to_mark) {
    size_t kept = to_mark ? size_of(series, series->marked_count) : 0;
    size_t all = size_of(series, series->sums.sample_count);
    if (kept) memcpy(series->sums.values, series->marked, kept);
    if (all > kept) memset((char *)series->sums.values + kept, 0, all - kept);
}

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Of a maximum there is no sum. */
static bool are_sums(const struct profile_series *series) {
    for (size_t i = 0; i < series->types.count; i++)
        if (begins_with(series->types.types[i].type, "max_")) return false;
    return true;
}

/* In the snapshot in which the windows are read: a flush between the two could fold the newest into one that ends later. */
static int newest_window(struct db *db, int64_t run_id, int64_t *end_ns, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT coalesce(max(time_ns), 0) FROM profiles WHERE run_id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    *end_ns = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return 0;
}

/* 1 where what came since the mark is in windows of its own. */
static int is_apart(const struct profile_series *series, struct db *db, int64_t run_id, const char *kind,
                    struct error *err) {
    if (!series->mark_ns || !are_sums(series)) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/is_apart.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":mark", series->mark_ns);
    kind_bind(row, kind);
    int code = db_step(db, row, err);
    if (code == 1) code = sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return code;
}

/* What came since is added to what was read, or all is read again. */
static int read_sums(struct profile_series *series, struct db *db, int64_t run_id, const char *kind, int64_t end_ns,
                     struct error *err) {
    if (!series->is_open && open_sums(series, db, run_id, kind, err) < 0) return -1;
    series->names.db = series->rows.db = series->rows.table.db = db;
    int apart = is_apart(series, db, run_id, kind, err);
    if (apart < 0) return -1;
    if (!apart) reset(series, false);
    const struct timespan span = {apart ? series->mark_ns : INT64_MIN, end_ns};
    int code = load_rows_add(&series->rows, run_id, &span, apart, err);
    profile_names_pause(&series->names);
    return code;
}

int profile_series_mark(struct profile_series *series, struct db *db, int64_t run_id, const char *kind,
                        struct error *err) {
    int64_t end_ns = 0;
    forget(series);
    if (db_exec(db, "SAVEPOINT series", err) < 0) return -1;
    int code = newest_window(db, run_id, &end_ns, err);
    if (code == 0) code = read_sums(series, db, run_id, kind, end_ns, err);
    struct error ignored = {0};
    (void)db_exec(db, "RELEASE series", &ignored);
    if (code == 0)
        mark(series, end_ns);
    else
        forget(series);
    return code;
}

/* ---- differences ---- */

static int64_t since_mark(const struct profile_series *series, size_t sample, size_t type) {
    const char *name = series->types.types[type].type;
    int64_t value = profile_value(&series->sums, sample, type);
    int64_t before = sample < series->marked_count ? series->marked[sample * series->types.count + type] : 0;
    if (begins_with(name, "max_")) return value == before ? 0 : value;
    return begins_with(name, "inuse_") ? value : value - before;
}

/* The sums with the differences in their place. */
static int add_differences(const struct profile_series *series, struct profile_builder *builder, struct error *err) {
    struct profile differences = series->sums;
    differences.values = xmalloc(size_of(series, differences.sample_count) + 1);
    for (size_t sample = 0; sample < differences.sample_count; sample++)
        for (size_t type = 0; type < differences.type_count; type++)
            differences.values[sample * differences.type_count + type] = since_mark(series, sample, type);
    int code = profile_build_profile(builder, &differences, err);
    free(differences.values);
    return code;
}

static int build(const struct profile_series *series, struct profile *profile, struct db *db, int64_t run_id,
                 const char *kind, const struct timespan *span, struct error *err) {
    const struct run_set run = {&run_id, 1};
    struct profile_builder builder;
    struct profile_names names;
    profile_build_exact(&builder, profile, series->types.types, series->types.count);
    profile_names_open(&names, db, &builder);
    int code = profile_head_read(&names, &run, span, kind, series->types.is_stored, err);
    profile_names_free(&names);
    /* A window that was folded across the mark would make it begin too early. */
    if (series->mark_ns) {
        profile->time_ns = span->to_ns;
        profile->duration_ns = span->to_ns - span->from_ns;
    }
    if (code == 0) code = add_differences(series, &builder, err);
    profile_built(&builder);
    if (code < 0) profile_free(profile);
    return code;
}

static int read_next(struct profile_series *series, struct profile *profile, struct db *db, int64_t run_id,
                     const char *kind, struct error *err) {
    struct timespan span = {.from_ns = series->mark_ns};
    if (newest_window(db, run_id, &span.to_ns, err) < 0 || read_sums(series, db, run_id, kind, span.to_ns, err) < 0 ||
        build(series, profile, db, run_id, kind, &span, err) < 0) {
        reset(series, true);
        return -1;
    }
    mark(series, span.to_ns);
    return 0;
}

int profile_series_next(struct profile_series *series, struct profile *profile, struct db *db, int64_t run_id,
                        const char *kind, struct error *err) {
    struct error ignored = {0};
    if (db_exec(db, "SAVEPOINT series", err) < 0) return -1;
    int code = read_next(series, profile, db, run_id, kind, err);
    (void)db_exec(db, "RELEASE series", &ignored);
    return code;
}
