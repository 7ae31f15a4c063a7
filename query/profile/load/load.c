#include "query/profile/load/load.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "query/profile/load/load_header.h"
#include "query/profile/load/load_names.h"
#include "query/profile/load/load_rows.h"
#include "schema/schema.h"

/* ---- kinds ---- */

int profile_check_kind(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/load/run_kinds"), err);
    if (!row) return -1;
    kind_bind(row, kind);
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) < 0) return -1;
    bool has_it = sqlite3_column_int(row, 1);
    if (!has_it)
        error_usage(err, "%s: run %lld has no %s profile; it has: %s", db->path, (long long)run_id, kind,
                    *db_text(row, 0) ? db_text(row, 0) : "none");
    sqlite3_reset(row);
    return has_it ? 0 : -1;
}

int profile_common_kinds(struct db *db, const struct run_set *runs, char **lines, struct error *err) {
    struct buffer ids = {0}, order = {0}, found = {0};
    buffer_add_json_integers(&ids, runs->ids, runs->count);
    sqlite3_stmt *rows = db_prepare(db, embedded_text("export/load/common_kind"), err);
    for (const struct kind *kind = kinds; kind->name; kind++)
        buffer_printf(&order, "%s\"%s\"", kind == kinds ? "[" : ",", kind->name);
    buffer_add_char(&order, ']');
    if (rows) db_bind_text(rows, ":runs", buffer_text(&ids));
    if (rows) db_bind_text(rows, ":order", buffer_text(&order));
    buffer_free(&ids);
    buffer_free(&order);
    if (!rows) return -1;
    int code;
    while ((code = db_step(db, rows, err)) == 1)
        buffer_printf(&found, "%s\n", db_text(rows, 0));
    *lines = buffer_take(&found);
    return code;
}

/* ---- the profile ---- */

struct loading {
    struct db *db;
    const struct load_request *request;
    struct profile *profile;
    struct load_types types;
    struct profile_builder builder;
    struct profile_names names;
};

static bool is_whole(const struct load_request *request) {
    return !request->spans || (request->spans->from_ns == INT64_MIN && request->spans->to_ns == INT64_MAX);
}

/* Samples need no sums: those of one run that came in with sample types of its own, and those of a table, which are summed over the
 * windows before they have stacks. */
static bool is_streamed(const struct loading *load) {
    const struct load_request *request = load->request;
    if (!request->stream || !request->is_exact || request->runs->count != 1) return false;
    if (load->types.is_stored) return is_whole(request) && load->types.table->table;
    return !kind_find(request->kind)->query;
}

static int add_samples(struct loading *load, struct load_rows *rows, struct error *err) {
    const struct load_request *request = load->request;
    struct error ignored = {0}; /* who asks for a type that is not there is told so where it is used */
    rows->table.keeps_zero = load->builder.keeps_zero;
    if (request->type && profile_find_type(load->profile, request->type, &rows->table.only, &ignored) < 0)
        rows->table.only = SIZE_MAX;
    for (size_t i = 0; i < request->runs->count; i++) {
        const struct timespan *span = request->spans ? &request->spans[i] : &timespan_all;
        if (load_rows_add(rows, request->runs->ids[i], span, false, err) < 0) return -1;
    }
    return 0;
}

static int stream_samples(struct loading *load, struct load_rows *rows, struct error *err) {
    const struct profile_stream *stream = load->request->stream;
    if (stream->begin(stream->context, load->profile, err) < 0) return -1;
    load->names.stream = stream;
    if (!load->types.is_stored) return add_samples(load, rows, err);
    return load_rows_stream(rows, load->request->runs->ids[0], err);
}

static int read_samples(struct loading *load, struct error *err) {
    struct load_rows rows;
    load_rows_open(&rows, &load->names, load->request->kind, &load->types);
    int code = is_streamed(load) ? stream_samples(load, &rows, err) : add_samples(load, &rows, err);
    load_rows_free(&rows);
    return code;
}

static int read_profile(struct loading *load, struct error *err) {
    const struct load_request *request = load->request;
    (request->is_exact ? profile_build_exact : profile_build)(&load->builder, load->profile, load->types.types,
                                                              load->types.count);
    load->builder.keeps_zero = request->keeps_zero && load->types.is_stored;
    profile_names_open(&load->names, load->db, &load->builder);
    int code =
        profile_head_read(&load->names, request->runs, request->spans, request->kind, load->types.is_stored, err);
    if (code == 0) code = read_samples(load, err);
    profile_names_free(&load->names);
    profile_built(&load->builder);
    if (code < 0) profile_free(load->profile);
    return code;
}

/* One snapshot for all statements, so that a recording that goes on does not show through. (db_begin would take the write
 * lock.) */
int profile_load(struct profile *profile, struct db *db, const struct load_request *request, struct error *err) {
    struct loading load = {.db = db, .request = request, .profile = profile};
    struct error ignored = {0};
    *profile = (struct profile){0};
    if (db_exec(db, "SAVEPOINT profile", err) < 0) return -1;
    int code = load_types_find(&load.types, db, request->runs, request->kind, request->may_have_none, err);
    if (code == 0) code = read_profile(&load, err);
    load_types_free(&load.types);
    (void)db_exec(db, "RELEASE profile", &ignored);
    return code;
}
