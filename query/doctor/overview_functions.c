/* overview_functions.c: the functions that cost most. All but samples of other tools is read from facts, so that a run of any size takes some
 * milliseconds. */
#include "query/doctor/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "query/profile/usual_name.h"
#include "schema/schema.h"

enum { FUNCTIONS_SHOWN = 5, VALUES_MAX = 8 /* v0 to v7 */ };

static void open_list(struct buffer *out, const char *kind, const char *type, const char *unit, int64_t total) {
    buffer_add_text(out, out->data[out->size - 1] == '[' ? "{" : ",{");
    buffer_add_json_field(out, "kind", kind);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "type", type);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", unit);
    buffer_printf(out, ",\"total\":%" PRId64 ",\"rows\":[", total);
}

/* `name` is the usual one, as reports print it. */
static void add_function(struct overview *overview, const char *function, int64_t value, bool is_first) {
    struct buffer plain = {0}, *out = overview->out;
    usual_name(&plain, function);
    buffer_add_text(out, is_first ? "{" : ",{");
    buffer_add_json_field(out, "function", function);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "name", buffer_text(&plain));
    buffer_printf(out, ",\"value\":%" PRId64 "}", value);
    if (!overview->has_first && !overview->top.size && *function != '[') { /* [unsampled] is no function */
        overview->top_value = value;
        buffer_add_text(&overview->top, buffer_text(&plain));
    }
    buffer_free(&plain);
}

/* The functions of a kind that facts have. */
static int add_list(struct overview *overview, const char *kind, const char *type, const char *unit, int64_t total,
                    struct error *err) {
    char *name = xasprintf("report/overview/%s", kind);
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text(name), err);
    int code = row ? 1 : -1;
    bool is_first = true;
    free(name);
    if (row) db_bind_int(row, ":run", overview->report->options->run_id);
    if (row) db_bind_int(row, ":limit", FUNCTIONS_SHOWN);
    while (code == 1 && (code = db_step(overview->report->db, row, err)) == 1) {
        if (is_first) open_list(overview->out, kind, type, unit, total);
        add_function(overview, db_text(row, 0), sqlite3_column_int64(row, 1), is_first);
        is_first = false;
    }
    if (!is_first) buffer_add_text(overview->out, "]}");
    overview->has_first |= !is_first;
    return code < 0 ? -1 : 0;
}

/* Samples of another tool have no facts. SQLite would sort what it groups: half a million stacks take 0.13 s of CPU time in memory, 0.22 s there. */
struct sampled {
    char *kind, *type, *unit;
    int64_t value, total; /* value: its place in the types */
};

static int larger_first(const void *left, const void *right) {
    const int64_t *const *a = left, *const *b = right;
    if ((*a)[2] != (*b)[2]) return (*a)[2] < (*b)[2] ? 1 : -1;
    return (*a)[3] < (*b)[3] ? -1 : (*a)[3] > (*b)[3];
}

static int add_largest(struct overview *overview, const struct sampled *sampled, const struct sums *sums,
                       struct error *err) {
    const int64_t **rows = xcalloc(sums->count + 1, sizeof *rows);
    int code = 0;
    for (size_t i = 0; i < sums->count; i++)
        rows[i] = sums->cells + i * sums->width;
    qsort(rows, sums->count, sizeof *rows, larger_first);
    for (size_t i = 0; i < sums->count && i < FUNCTIONS_SHOWN && rows[i][2] > 0 && code == 0; i++) {
        sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/place"), err);
        if (row) db_bind_int(row, ":trace", rows[i][3]);
        code = row && db_step(overview->report->db, row, err) >= 0 ? 0 : -1;
        if (code == 0 && i == 0) open_list(overview->out, sampled->kind, sampled->type, sampled->unit, sampled->total);
        if (code == 0) add_function(overview, db_text(row, 0), rows[i][2], i == 0);
        if (row) sqlite3_reset(row);
    }
    if (code == 0 && sums->count && rows[0][2] > 0) buffer_add_text(overview->out, "]}");
    free(rows);
    return code;
}

static int add_samples(struct overview *overview, struct sampled *sampled, struct error *err) {
    struct db *db = overview->report->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("report/overview/samples"), err);
    struct sums sums;
    int code = row ? 1 : -1;
    if (!row) return -1;
    db_bind_int(row, ":run", overview->report->options->run_id);
    db_bind_text(row, ":kind", sampled->kind);
    db_bind_int(row, ":value", sampled->value);
    sums_init(&sums, 2, 2, 1u << 3); /* the value is summed; of the stacks one is kept */
    while (code == 1 && (code = db_step(db, row, err)) == 1) {
        const int64_t cells[] = {sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                 sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
        if (sums_add(&sums, cells) || __builtin_add_overflow(sampled->total, cells[2], &sampled->total))
            code = error_fail(err, "%s: the sum is larger than 2^63 - 1", sampled->kind);
    }
    sqlite3_reset(row);
    if (code == 0) code = add_largest(overview, sampled, &sums, err);
    sums_free(&sums);
    return code;
}

/* The type that viewers show first: the default, else the last. */
static int choose_type(struct overview *overview, const char *types, const char *wanted, struct sampled *sampled,
                       struct error *err) {
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/type"), err);
    if (!row) return -1;
    db_bind_text(row, ":types", types);
    db_bind_text(row, ":wanted", wanted);
    int code = db_step(overview->report->db, row, err);
    sampled->value = code == 1 ? sqlite3_column_int64(row, 0) : 0;
    sampled->type = xstrdup(code == 1 ? db_text(row, 1) : "");
    sampled->unit = xstrdup(code == 1 ? db_text(row, 2) : "");
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* The first kind of them alone: a page has room for one list. */
static int add_sampled(struct overview *overview, struct error *err) {
    struct sampled sampled = {0};
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/kinds"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", overview->report->options->run_id);
    int code = db_step(overview->report->db, row, err);
    if (code == 1) {
        sampled.kind = xstrdup(db_text(row, 0));
        code = choose_type(overview, db_text(row, 1), db_text(row, 2), &sampled, err);
        if (code == 0 && sampled.value < VALUES_MAX) code = add_samples(overview, &sampled, err);
    }
    sqlite3_reset(row);
    if (code == 0 && sampled.kind && overview->top.size)
        overview_note_samples(overview, sampled.type, sampled.unit, sampled.total);
    free(sampled.kind);
    free(sampled.type);
    free(sampled.unit);
    return code;
}

int overview_add_functions(struct overview *overview, struct error *err) {
    size_t before;
    buffer_add_text(overview->out, ",\"functions\":[");
    before = overview->out->size;
    if (add_list(overview, "cpu", "cpu", "nanoseconds", overview->cpu_ns, err)) return -1;
    overview->has_cpu = overview->out->size > before;
    if (add_list(overview, "heap", "alloc_space", "bytes", overview->alloc_bytes, err)) return -1;
    bool has_none = overview->out->size == before;
    if (has_none && add_list(overview, "lock", "delay", "nanoseconds", overview->lock_wait_ns, err)) return -1;
    overview->has_lock = has_none && overview->out->size > before;
    if (overview->out->size == before && add_sampled(overview, err)) return -1;
    buffer_add_char(overview->out, ']');
    return 0;
}
