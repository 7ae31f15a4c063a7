/* The output of `clear trend` for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "cli/history/trend_output.h"
#include "query/sql/result_table.h"
#include "schema/schema.h"

static void add_number(struct buffer *out, double value) {
    if (isfinite(value))
        buffer_printf(out, fabs(value) < 1e15 && value == round(value) ? "%.0f" : "%.17g", value);
    else
        buffer_add_text(out, "null");
}

static void add_text(struct buffer *out, const char *text) {
    if (text)
        buffer_add_json_text(out, text);
    else
        buffer_add_text(out, "null");
}

static void add_run(struct buffer *out, const struct trend_run *run) {
    buffer_printf(out, "{\"run_id\":%" PRId64 ",\"uuid\":", run->id);
    buffer_add_json_text(out, run->uuid);
    buffer_printf(out, ",\"started_ns\":%" PRId64 ",\"label\":", run->started_ns);
    add_text(out, run->label);
    buffer_add_text(out, ",\"commit\":");
    add_text(out, run->commit);
    buffer_add_char(out, '}');
}

static void add_field(struct buffer *out, const char *name, double value) {
    buffer_printf(out, ",\"%s\":", name);
    add_number(out, value);
}

static void add_change(struct buffer *out, const struct trend *trend, const struct trend_change *change) {
    const struct change_point *point = &change->point;
    buffer_printf(out, "{\"run_id\":%" PRId64 ",\"first_run_id\":%" PRId64 ",\"last_run_id\":%" PRId64,
                  trend->runs[point->at].id, trend->runs[point->first].id, trend->runs[point->last].id);
    buffer_add_text(out, ",\"commit_before\":");
    add_text(out, trend->runs[change->before_first].commit);
    buffer_add_text(out, ",\"commit_after\":");
    add_text(out, trend->runs[point->last].commit);
    add_field(out, "before", point->before);
    add_field(out, "after", point->after);
    add_field(out, "percent", point->percent);
    buffer_printf(out, ",\"exact\":%s", point->is_exact ? "true" : "false");
    add_field(out, "p", point->p);
    buffer_add_text(out, ",\"accepted\":");
    add_text(out, change->accepted ? change->accepted->why : NULL);
    buffer_add_char(out, '}');
}

static void add_series(struct buffer *out, const struct trend *trend, const struct trend_series *series) {
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "figure", series->figure);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "subject", series->subject);
    buffer_add_text(out, ",\"values\":[");
    for (size_t i = 0; i < trend->run_count; i++) {
        if (i) buffer_add_char(out, ',');
        add_number(out, series->values[i]);
    }
    buffer_add_text(out, "],\"changes\":[");
    for (size_t i = 0; i < series->change_count; i++) {
        if (i) buffer_add_char(out, ',');
        add_change(out, trend, &series->changes[i]);
    }
    buffer_add_text(out, "]}");
}

void trend_print_json(const struct trend *trend) {
    struct buffer out = {0};
    buffer_add_text(&out, "{\"runs\":[");
    for (size_t i = 0; i < trend->run_count; i++) {
        if (i) buffer_add_text(&out, ",\n");
        add_run(&out, &trend->runs[i]);
    }
    buffer_printf(&out, "],\n\"unfinished\":%zu,\n\"series\":[", trend->unfinished);
    for (size_t i = 0; i < trend->series_count; i++) {
        if (i) buffer_add_text(&out, ",\n");
        add_series(&out, trend, &trend->series[i]);
    }
    buffer_add_text(&out, "]}\n");
    fwrite(buffer_text(&out), 1, out.size, stdout);
    buffer_free(&out);
}

/* ---- CSV ---- */

static const struct trend_change *change_in(const struct trend_series *series, size_t run) {
    for (size_t i = 0; i < series->change_count; i++)
        if (series->changes[i].point.at == run) return &series->changes[i];
    return NULL;
}

static void add_point(struct buffer *out, const struct trend *trend, const struct trend_series *series, size_t at) {
    const struct trend_run *run = &trend->runs[at];
    const struct trend_change *change = change_in(series, at);
    buffer_printf(out, "%s[%" PRId64 ",", out->size > 1 ? "," : "", run->id);
    buffer_add_json_text(out, run->uuid);
    buffer_printf(out, ",%" PRId64 ",", run->started_ns);
    add_text(out, run->commit);
    buffer_add_char(out, ',');
    buffer_add_json_text(out, series->figure);
    buffer_add_char(out, ',');
    buffer_add_json_text(out, series->subject);
    buffer_add_char(out, ',');
    add_number(out, series->values[at]);
    buffer_add_char(out, ',');
    add_number(out, change ? change->point.percent : NAN);
    buffer_add_char(out, ',');
    add_text(out, change && change->accepted ? change->accepted->why : NULL);
    buffer_add_char(out, ']');
}

int trend_print_csv(const struct trend *trend, struct db *db, struct error *err) {
    struct buffer points = {0};
    sqlite3_stmt *rows = db_prepare(db, embedded_text("history/trend_points.sql"), err);
    if (!rows) return -1;
    buffer_add_char(&points, '[');
    for (size_t i = 0; i < trend->series_count; i++)
        for (size_t run = 0; run < trend->run_count; run++)
            if (!isnan(trend->series[i].values[run])) add_point(&points, trend, &trend->series[i], run);
    buffer_add_char(&points, ']');
    db_bind_text(rows, ":points", buffer_text(&points));
    buffer_free(&points);
    return table_print(stdout, db, rows, db_step, &(struct table_options){.format = TABLE_CSV}, err);
}
