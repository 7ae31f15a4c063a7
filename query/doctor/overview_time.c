/* overview_time.c: what a run did over its time, by its windows. */
#include "query/doctor/overview.h"

#include <inttypes.h>
#include <string.h>

#include "schema/schema.h"

enum { COLUMNS = 240 }; /* more stretches of time than that are no longer told apart on a page */

static const struct {
    const char *name, *kind, *unit, *text;
    bool is_state; /* values add up from the start on */
} series[] = {
    {"cpu", "cpu", "nanoseconds", "report/overview/cpu_time", false},
    {"live", "heap", "bytes", "report/overview/live_bytes", true},
    {"waits", "lock", "nanoseconds", "report/overview/wait_time", false},
    {"io", "io", "nanoseconds", "report/overview/io_time", false},
};

/* The points of the group that the row begins; the row behind them is the next one's. */
static int add_group(struct overview *overview, sqlite3_stmt *row, bool is_state, struct error *err) {
    struct buffer name = {0}, *out = overview->out;
    int64_t state = 0;
    int code = 1;
    buffer_add_text(&name, db_text(row, 0));
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "name", buffer_text(&name));
    buffer_add_text(out, ",\"points\":[");
    for (const char *separator = ""; code == 1 && strcmp(db_text(row, 0), buffer_text(&name)) == 0; separator = ",") {
        int64_t value = sqlite3_column_int64(row, 3);
        if (is_state && !__builtin_add_overflow(state, value, &value)) state = value;
        buffer_printf(out, "%s[%lld,%lld,%" PRId64 "]", separator, sqlite3_column_int64(row, 1),
                      sqlite3_column_int64(row, 2), value);
        code = db_step(overview->report->db, row, err);
    }
    buffer_add_text(out, "]}");
    buffer_free(&name);
    return code;
}

/* ,"peak": {"at_ns", "bytes"} */
static int add_peak(struct overview *overview, struct error *err) {
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/peak"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", overview->report->options->run_id);
    int code = db_step(overview->report->db, row, err);
    if (code == 1)
        buffer_printf(overview->out, ",\"peak\":{\"at_ns\":%lld,\"bytes\":%lld}", sqlite3_column_int64(row, 0),
                      sqlite3_column_int64(row, 1));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static int add_series(struct overview *overview, size_t i, struct error *err) {
    struct buffer *out = overview->out;
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text(series[i].text), err);
    if (!row) return -1;
    db_bind_int(row, ":run", overview->report->options->run_id);
    db_bind_int(row, ":columns", COLUMNS);
    int code = db_step(overview->report->db, row, err);
    if (code < 1) return code;
    buffer_printf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"unit\":\"%s\",\"groups\":[",
                  out->data[out->size - 1] == '[' ? "" : ",", series[i].name, series[i].kind, series[i].unit);
    for (const char *separator = ""; code == 1; separator = ",") {
        buffer_add_text(out, separator);
        code = add_group(overview, row, series[i].is_state, err);
    }
    buffer_add_char(out, ']');
    if (code == 0 && series[i].is_state) code = add_peak(overview, err);
    buffer_add_char(out, '}');
    return code;
}

int overview_add_series(struct overview *overview, struct error *err) {
    buffer_add_text(overview->out, ",\"series\":[");
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        if (add_series(overview, i, err) < 0) return -1;
    buffer_add_char(overview->out, ']');
    return 0;
}
