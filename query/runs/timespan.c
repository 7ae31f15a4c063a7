#include "query/runs/timespan.h"

#include <string.h>

#include "base/number.h"
#include "base/units.h"
#include "schema/kinds.h"
#include "schema/schema.h"

const struct timespan timespan_all = {INT64_MIN, INT64_MAX};

/* ---- what a user asks for ---------------------------------------------------------------------------------------- */

#define RUN_MAX_NS (INT64_C(366) * 24 * 3600 * 1000000000)

int timespan_read_edge(struct timespan_edge *edge, const char *name, const char *text, struct error *err) {
    edge->text = text;
    edge->is_moment = strchr(text, '-') != NULL;
    return edge->is_moment ? 0 : number_duration(name, text, 0, RUN_MAX_NS, &edge->offset_ns, err);
}

int timespan_read_window(int64_t *window, const char *name, const char *text, struct error *err) {
    bool from_end = *text == '-';
    if (number_count(name, text + from_end, 1, INT32_MAX, window, err)) return -1;
    if (from_end) *window = -*window;
    return 0;
}

bool timespan_is_wanted(const struct timespan_request *request) {
    return request->from.text || request->to.text || request->window;
}

void timespan_bind(sqlite3_stmt *statement, const struct timespan *span) {
    db_bind_int(statement, ":from", span->from_ns);
    db_bind_int(statement, ":to", span->to_ns);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* Start and length of a run. */
struct times {
    int64_t started_ns, duration_ns;
};

static int read_times(struct db *db, int64_t run_id, struct times *times, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT started_ns, duration_ns FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code < 0) return -1;
    times->started_ns = code ? sqlite3_column_int64(row, 0) : 0;
    times->duration_ns = code ? sqlite3_column_int64(row, 1) : 0;
    sqlite3_reset(row);
    return 0;
}

/* A date as SQLite reads it, to the millisecond; UTC if it has no time zone. 1 found, 0 not a date, -1 the error is set. */
static int read_moment(struct db *db, const char *text, int64_t *ns, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/moment.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":text", text);
    if (db_step(db, row, err) < 0) return -1;
    bool is_moment = sqlite3_column_type(row, 0) != SQLITE_NULL;
    *ns = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return is_moment;
}

static int read_edge(struct db *db, const char *option, const struct timespan_edge *edge, const struct times *times,
                     int64_t *ns, struct error *err) {
    if (!edge->is_moment) {
        *ns = times->started_ns + edge->offset_ns;
        return 0;
    }
    int is_moment = read_moment(db, edge->text, ns, err);
    if (is_moment == 0)
        error_usage(err, "%s %s: not a date and time, such as 2026-11-21T12:00:00Z", option, edge->text);
    return is_moment == 1 ? 0 : -1;
}

static int find_span(struct db *db, int64_t run_id, const struct timespan_request *request, struct timespan *span,
                     struct error *err) {
    const struct timespan_edge *from = &request->from, *to = &request->to;
    struct times times;
    if (read_times(db, run_id, &times, err)) return -1;
    if (from->text && read_edge(db, "--from", from, &times, &span->from_ns, err)) return -1;
    if (to->text && read_edge(db, "--to", to, &times, &span->to_ns, err)) return -1;
    if (from->text && span->from_ns > times.started_ns + times.duration_ns)
        return error_usage(err, "--from %s: run %lld took %s", from->text, (long long)run_id,
                           units_ns(times.duration_ns).text);
    if (to->text && span->to_ns < times.started_ns)
        return error_usage(err, "--to %s: run %lld had not started", to->text, (long long)run_id);
    if (span->from_ns >= span->to_ns) return error_usage(err, "--from %s is not before --to %s", from->text, to->text);
    return 0;
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static int find_window(struct db *db, int64_t run_id, const char *kind, int64_t number, struct timespan *span,
                       struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/timespan/window"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    kind_bind(row, kind);
    db_bind_int(row, ":number", number);
    if (db_step(db, row, err) < 0) return -1;
    int64_t count = sqlite3_column_int64(row, 0);
    bool found = sqlite3_column_type(row, 2) != SQLITE_NULL;
    span->from_ns = sqlite3_column_type(row, 1) == SQLITE_NULL ? INT64_MIN : sqlite3_column_int64(row, 1);
    span->to_ns = sqlite3_column_int64(row, 2);
    sqlite3_reset(row);
    if (found) return 0;
    return error_usage(err, "--window %lld: run %lld has %s of kind %s (clear query @run-windows)", (long long)number,
                       (long long)run_id, units_things(count, "window").text, kind);
}

int timespan_find(struct db *db, int64_t run_id, const char *kind, const struct timespan_request *request,
                  struct timespan *span, struct error *err) {
    *span = timespan_all;
    if (request->window) return find_window(db, run_id, kind, request->window, span, err);
    return request->from.text || request->to.text ? find_span(db, run_id, request, span, err) : 0;
}

int timespan_describe(struct db *db, int64_t run_id, const char *kind, const struct timespan *span,
                      struct buffer *words, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/timespan/timespan"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    kind_bind(row, kind);
    timespan_bind(row, span);
    if (db_step(db, row, err) < 0) return -1;
    long long first = sqlite3_column_int64(row, 0), last = sqlite3_column_int64(row, 1);
    double from = (double)sqlite3_column_int64(row, 3) / 1e9, to = (double)sqlite3_column_int64(row, 4) / 1e9;
    long long count = sqlite3_column_int64(row, 2);
    sqlite3_reset(row);
    if (first == 0)
        buffer_printf(words, "none of the %lld windows of kind %s of run %lld ends in that time", count, kind,
                      (long long)run_id);
    else if (first == last)
        buffer_printf(words, "window %lld", first);
    else
        buffer_printf(words, "windows %lld to %lld", first, last);
    if (first) buffer_printf(words, " of %lld, %.3f s to %.3f s of run %lld", count, from, to, (long long)run_id);
    return 0;
}
