#include "query/profile/load/load_rows.h"

#include <stdlib.h>

#include "schema/schema.h"

enum { ID, IS_STORED, SAMPLE_TYPES, IS_COUNTED }; /* of export/kind_profiles.sql */

void load_rows_open(struct load_rows *rows, struct profile_names *names, const char *kind,
                    const struct load_types *types) {
    *rows = (struct load_rows){.db = names->db, .kind = kind, .types = types, .names = names};
    rows->query.names = names;
    table_rows_open(&rows->table, rows->db, types->table, types->types, types->count);
}

void load_rows_free(struct load_rows *rows) {
    table_rows_free(&rows->table);
    query_rows_free(&rows->query);
}

/* ---- samples of a table ---- */

static int find_labels(struct load_rows *rows, int64_t trace_id, int64_t label_set_id, uint32_t *labels,
                       struct error *err) {
    if (rows->types->table->addressed && !rows->is_stored)
        return profile_names_addressed(rows->names, trace_id, label_set_id, labels, err);
    return profile_names_labels(rows->names, label_set_id, labels, err);
}

static int add_sample(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *values, struct error *err) {
    struct load_rows *rows = context;
    uint32_t stack, labels;
    if (profile_names_trace(rows->names, trace_id, &stack, err) < 0 ||
        find_labels(rows, trace_id, label_set_id, &labels, err) < 0)
        return -1;
    return (rows->is_first ? profile_build_new_sample : profile_build_sample)(rows->names->builder, stack, labels,
                                                                              values, err);
}

static int stream_sample(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                         struct error *err) {
    struct load_rows *rows = context;
    const struct profile_stream *stream = rows->names->stream;
    size_t depth;
    uint32_t labels;
    if (profile_names_frames(rows->names, trace_id, &depth, err) < 0 ||
        find_labels(rows, trace_id, label_set_id, &labels, err) < 0)
        return -1;
    return stream->sample(stream->context, rows->names->frames, depth, labels, values, err);
}

/* ---- the profiles of a run ---- */

struct listed {
    struct listed_profile {
        int64_t id;
        bool is_counted;
    } * items;
    size_t count;
};

/* Lists those that end up to the span's end. */
static int list_profiles(struct load_rows *rows, int64_t run_id, const struct timespan *span, struct listed *listed,
                         struct error *err) {
    sqlite3_stmt *row = db_prepare(rows->db, embedded_text("export/kind_profiles.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    kind_bind(row, rows->kind);
    timespan_bind(row, span);
    rows->is_stored = true;
    int code;
    while ((code = db_step(rows->db, row, err)) == 1) {
        listed->items = xrealloc(listed->items, (listed->count + 1) * sizeof *listed->items);
        listed->items[listed->count++] =
            (struct listed_profile){sqlite3_column_int64(row, ID), sqlite3_column_int(row, IS_COUNTED)};
        rows->is_stored &= sqlite3_column_int(row, IS_STORED) &&
                           !kind_is_made_again(kind_find(rows->kind), db_text(row, SAMPLE_TYPES));
    }
    return code;
}

/* In the order in which the table keeps them, profile after profile; then all windows together by stack. */
static int add_tables(struct load_rows *rows, const struct listed *listed, bool has_before, struct error *err) {
    bool has_state = kind_has_state(rows->types->table);
    for (size_t i = 0; i < listed->count; i++) {
        const struct listed_profile *profile = &listed->items[i];
        bool is_read = profile->is_counted || (has_state && !has_before);
        if (is_read && table_rows_collect(&rows->table, profile->id, profile->is_counted, err) < 0) return -1;
    }
    return table_rows_give(&rows->table, rows->names->stream ? stream_sample : add_sample, rows, err);
}

/* Kinds with frames and labels of their own, or with values that are no sums, are grouped over windows by their query. */
static int add_query(struct load_rows *rows, int64_t run_id, const struct timespan *span, struct error *err) {
    sqlite3_stmt *row = db_prepare(rows->db, embedded_text(kind_find(rows->kind)->query), err);
    if (!row) return -1;
    if (!rows->query.columns.items && query_rows_open(&rows->query, row, err) < 0) return -1;
    db_bind_int(row, ":run", run_id);
    kind_bind(row, rows->kind);
    timespan_bind(row, span);
    int code;
    while ((code = db_step(rows->db, row, err)) == 1)
        if (query_rows_add(&rows->query, row, err) < 0) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

/* What came in stands in the kind's table; of calls of input and output, which have their name as a label, the query makes samples. */
static bool is_by_query(const struct load_rows *rows) {
    return kind_find(rows->kind)->query && (!rows->is_stored || !rows->types->table->table);
}

int load_rows_add(struct load_rows *rows, int64_t run_id, const struct timespan *span, bool has_before,
                  struct error *err) {
    struct listed listed = {0};
    rows->is_first = rows->names->builder->profile->sample_count == 0;
    int code = list_profiles(rows, run_id, span, &listed, err);
    if (code == 0) code = table_rows_of_run(&rows->table, run_id, err);
    if (code == 0 && listed.count)
        code = is_by_query(rows) ? add_query(rows, run_id, span, err) : add_tables(rows, &listed, has_before, err);
    free(listed.items);
    return code < 0 ? error_prefix(err, "run %lld, %s: ", (long long)run_id, rows->kind) : 0;
}

int load_rows_stream(struct load_rows *rows, int64_t run_id, struct error *err) {
    struct listed listed = {0};
    rows->table.keeps_zero = true;
    int code = list_profiles(rows, run_id, &timespan_all, &listed, err);
    if (code == 0) code = table_rows_of_run(&rows->table, run_id, err);
    for (size_t i = 0; code == 0 && i < listed.count; i++)
        code = table_rows_stream(&rows->table, listed.items[i].id, stream_sample, rows, err);
    free(listed.items);
    return code < 0 ? error_prefix(err, "run %lld, %s: ", (long long)run_id, rows->kind) : 0;
}
