#include "query/history/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/nearest.h"
#include "query/history/figure_change.h"
#include "schema/figure_kinds.h"
#include "schema/schema.h"

/* ---- runs ---- */

static char *text_or_null(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NULL : xstrdup(db_text(row, column));
}

static void add_run(struct trend *trend, sqlite3_stmt *row) {
    if (!sqlite3_column_int(row, 5)) {
        trend->unfinished++;
        return;
    }
    if (trend->run_count % 256 == 0)
        trend->runs = xrealloc(trend->runs, (trend->run_count + 256) * sizeof *trend->runs);
    trend->runs[trend->run_count++] = (struct trend_run){.id = sqlite3_column_int64(row, 0),
                                                         .started_ns = sqlite3_column_int64(row, 2),
                                                         .uuid = xstrdup(db_text(row, 1)),
                                                         .label = text_or_null(row, 3),
                                                         .commit = text_or_null(row, 4),
                                                         .is_estimated = sqlite3_column_int(row, 6) != 0};
}

static int read_runs(struct trend *trend, struct db *db, const struct trend_request *request, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/trend/runs"), err);
    struct buffer ids = {0};
    int code;
    if (!row) return -1;
    db_bind_int(row, ":bisected", request->has_bisected);
    if (request->runs) buffer_add_json_integers(&ids, request->runs, request->run_count);
    db_bind_text(row, ":runs", request->runs ? buffer_text(&ids) : NULL);
    while ((code = db_step(db, row, err)) == 1)
        add_run(trend, row);
    buffer_free(&ids);
    if (code == 0 && trend->run_count == 0)
        return error_usage(err, "%s: none of these runs is over; `clear runs` lists them", db->path);
    return code;
}

/* ---- values ---- */

static struct trend_series *series_of(struct trend *trend, const char *figure, const char *subject) {
    struct buffer key = {0};
    bool is_new;
    buffer_printf(&key, "%s\n%s", figure, subject);
    struct map_entry *entry = map_put(&trend->index, buffer_text(&key), key.size, &is_new);
    buffer_free(&key);
    if (!is_new) return &trend->series[entry->value];
    entry->value = (int64_t)trend->series_count;
    if (trend->series_count % 64 == 0)
        trend->series = xrealloc(trend->series, (trend->series_count + 64) * sizeof *trend->series);
    struct trend_series *series = &trend->series[trend->series_count++];
    *series = (struct trend_series){.figure = xstrdup(figure), .subject = xstrdup(subject)};
    series->values = xcalloc(trend->run_count, sizeof *series->values);
    for (size_t i = 0; i < trend->run_count; i++)
        series->values[i] = NAN;
    return series;
}

/* Adds rows of run, figure, subject, value. `places`: run id -> index. */
static int add_rows(struct trend *trend, struct db *db, sqlite3_stmt *row, const struct map *places,
                    struct error *err) {
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        int64_t run = sqlite3_column_int64(row, 0);
        const struct map_entry *place = map_find(places, &run, sizeof run);
        if (!place) continue;
        struct trend_series *series = series_of(trend, db_text(row, 1), db_text(row, 2));
        double *value = &series->values[place->value];
        *value = (isnan(*value) ? 0 : *value) + sqlite3_column_double(row, 3);
    }
    return code;
}

static int add_findings(struct trend *trend, struct db *db, const char *of, const struct map *places,
                        struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/trend/findings"), err);
    int code = row ? 0 : -1;
    for (size_t i = 0; i < trend->run_count && code == 0; i++) {
        sqlite3_reset(row);
        db_bind_text(row, ":of", of);
        db_bind_int(row, ":run", trend->runs[i].id);
        code = add_rows(trend, db, row, places, err);
    }
    return code;
}

/* The first word of a pattern, if it is none itself: free() it. NULL: any scope. */
static char *scope_of(const char *of) {
    size_t size = strcspn(of, " *?[");
    return of[size] == ' ' ? xasprintf("%.*s", (int)size, of) : NULL;
}

/* Sites have no facts, and are nearly all rows of a file with many runs, so they have a statement of their own. Of a store there are no rows
 * of sites, but the view series has what the one site of the name allocated. */
static const char *subjects_sql(const struct db *db, const char *figure, const char *scope) {
    bool is_of_stacks = !scope || (!db->source && strcmp(scope, "site") == 0);
    return embedded_text(is_of_stacks && figure_is_of_sums(figure) ? "history/trend/sites" : "history/trend/subjects");
}

static int add_subjects(struct trend *trend, struct db *db, const struct trend_request *request, const char *runs,
                        const struct map *places, struct error *err) {
    char *scope = scope_of(request->of);
    sqlite3_stmt *rows = db_prepare(db, subjects_sql(db, request->figure, scope), err);
    if (rows) {
        db_bind_text(rows, ":figure", request->figure);
        db_bind_text(rows, ":of", request->of);
        db_bind_text(rows, ":scope", scope);
        db_bind_text(rows, ":runs", runs);
    }
    free(scope);
    return rows ? add_rows(trend, db, rows, places, err) : -1;
}

static int add_series(struct trend *trend, struct db *db, const struct trend_request *request, const struct map *places,
                      struct error *err) {
    struct buffer runs = {0};
    sqlite3_stmt *totals = db_prepare(db, embedded_text("history/trend/totals"), err);
    if (!totals) return -1;
    for (size_t i = 0; i < trend->run_count; i++)
        buffer_printf(&runs, "%s%lld", i ? "," : "[", (long long)trend->runs[i].id);
    buffer_add_char(&runs, ']');
    db_bind_text(totals, ":figure", request->figure);
    db_bind_text(totals, ":runs", buffer_text(&runs));
    int code = add_rows(trend, db, totals, places, err);
    if (code == 0 && request->of) code = add_subjects(trend, db, request, buffer_text(&runs), places, err);
    buffer_free(&runs);
    return code;
}

static void drop_series(struct trend_series *series) {
    for (size_t i = 0; i < series->change_count; i++)
        series->changes[i].accepted = NULL;
    free(series->figure);
    free(series->subject);
    free(series->values);
    free(series->changes);
}

/* A subject without a row in a run that has the figure was 0 in it. The totals, which say which runs these are, go if subjects were asked
 * for. Every run is diagnosed, so a finding that is not there is 0. */
static void fill_zeros(struct trend *trend, const struct trend_request *request) {
    bool is_finding = request->figure && strcmp(request->figure, "findings") == 0, has_total = false;
    size_t kept = 0;
    if (!request->of && !is_finding) return;
    double *total = xcalloc(trend->run_count, sizeof *total);
    for (size_t i = 0; i < trend->series_count; i++)
        if (!*trend->series[i].subject) {
            has_total = true;
            memcpy(total, trend->series[i].values, trend->run_count * sizeof *total);
        }
    for (size_t i = 0; i < trend->series_count; i++) {
        struct trend_series *series = &trend->series[i];
        if (!*series->subject) {
            drop_series(series);
            continue;
        }
        for (size_t run = 0; run < trend->run_count; run++)
            if (isnan(series->values[run]) && (is_finding || (has_total && !isnan(total[run]))))
                series->values[run] = 0;
        trend->series[kept++] = *series;
    }
    trend->series_count = kept;
    free(total);
}

static int read_values(struct trend *trend, struct db *db, const struct trend_request *request, struct error *err) {
    struct map places = {0};
    bool is_finding = request->figure && strcmp(request->figure, "findings") == 0;
    for (size_t i = 0; i < trend->run_count; i++)
        map_put(&places, &trend->runs[i].id, sizeof trend->runs[i].id, NULL)->value = (int64_t)i;
    int code = is_finding ? add_findings(trend, db, request->of ? request->of : "*", &places, err)
                          : add_series(trend, db, request, &places, err);
    map_free(&places);
    if (code == 0) fill_zeros(trend, request);
    return code;
}

static int check_found(const struct trend *trend, struct db *db, const struct trend_request *request,
                       struct error *err) {
    struct nearest nearest = {.word = request->figure ? request->figure : ""};
    if (trend->series_count || !request->figure || strcmp(request->figure, "findings") == 0) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/run_totals.sql"), err);
    if (!row) return -1;
    if (request->of)
        return error_usage(err, "%s: no run has a figure '%s' of '%s'; names are like 'function parse_*' or 'lock *'",
                           db->path, request->figure, request->of);
    db_bind_int(row, ":run", trend->runs[trend->run_count - 1].id);
    int code;
    while ((code = db_step(db, row, err)) == 1)
        nearest_offer(&nearest, db_text(row, 0));
    if (code < 0) return -1;
    if (*nearest.found)
        return error_usage(err, "%s: no run has a figure '%s'; did you mean %s?", db->path, request->figure,
                           nearest.found);
    return error_usage(err, "%s: no run has a figure '%s'; `clear schema series` lists them", db->path,
                       request->figure);
}

/* ---- changes ---- */

static bool is_exact_figure(const char *figure) {
    const struct figure_kind *kind = figure_kind_find(figure);
    return kind && kind->is_exact;
}

static bool varies(const struct trend *trend, const struct trend_series *series) {
    double first = NAN;
    for (size_t i = 0; i < trend->run_count; i++) {
        if (isnan(series->values[i])) continue;
        if (isnan(first)) first = series->values[i];
        if (series->values[i] != first) return true;
    }
    return false;
}

/* A change, of the values that there are, as one of runs. */
static void add_change(const struct trend *trend, struct trend_series *series, const struct change_point *point,
                       const size_t *places) {
    struct trend_change *change = &series->changes[series->change_count++];
    *change = (struct trend_change){.point = *point, .before_first = places[point->first - 1]};
    change->point.at = places[point->at];
    change->point.first = places[point->first];
    change->point.last = places[point->last];
    int64_t *ids = xcalloc(trend->run_count, sizeof *ids);
    size_t count = 0;
    for (size_t run = change->point.first; run <= change->point.last; run++)
        ids[count++] = trend->runs[run].id;
    change->accepted = known_changes_find(&trend->accepted, series->figure, series->subject, ids, count);
    free(ids);
}

static void find_changes(const struct trend *trend, struct trend_series *series, struct change_search *search) {
    double *values = xcalloc(trend->run_count, sizeof *values);
    size_t *places = xcalloc(trend->run_count, sizeof *places);
    struct change_point *points;
    search->is_exact = is_exact_figure(series->figure);
    for (size_t i = 0; i < trend->run_count; i++) {
        if (isnan(series->values[i])) continue;
        search->is_exact &= !trend->runs[i].is_estimated;
        places[series->value_count] = i;
        values[series->value_count++] = series->values[i];
    }
    size_t count = change_points_find(values, series->value_count, search, &points);
    series->changes = xcalloc(count + 1, sizeof *series->changes);
    for (size_t i = 0; i < count; i++)
        add_change(trend, series, &points[i], places);
    free(points);
    free(values);
    free(places);
}

static int judge(struct trend *trend, struct db *db, struct error *err) {
    struct figure_limits limits;
    struct change_search search = {0};
    int64_t floor_ns;
    if (figure_limits_read(&limits, db, err) || known_changes_read(&trend->accepted, db, err) ||
        db_int(db, "SELECT value FROM rules WHERE name = 'diff_floor_ns'", 1000000, &floor_ns, err))
        return -1;
    for (size_t i = 0; i < trend->series_count; i++)
        search.series_count += varies(trend, &trend->series[i]);
    if (!search.series_count) search.series_count = 1;
    search.floor_percent = limits.floor_percent;
    for (size_t i = 0; i < trend->series_count; i++) {
        const char *figure = trend->series[i].figure;
        const struct figure_kind *kind = figure_kind_find(figure);
        search.floor = kind && kind->unit == FIGURE_NS ? (double)floor_ns : 0;
        find_changes(trend, &trend->series[i], &search);
    }
    return 0;
}

/* ---- all of it ---- */

double trend_latest(const struct trend *trend, const struct trend_series *series) {
    for (size_t i = trend->run_count; i > 0; i--)
        if (!isnan(series->values[i - 1])) return series->values[i - 1];
    return NAN;
}

bool trend_has_news(const struct trend_series *series) {
    for (size_t i = 0; i < series->change_count; i++)
        if (!series->changes[i].accepted) return true;
    return false;
}

static int larger_first(const void *left, const void *right, void *context) {
    const struct trend_series *a = left, *b = right;
    double x = trend_latest(context, a), y = trend_latest(context, b);
    if (x != y) return x > y ? -1 : 1;
    return strcmp(a->subject, b->subject);
}

int trend_make(struct trend *trend, struct db *db, const struct trend_request *request, struct error *err) {
    *trend = (struct trend){.is_of_store = db->source != NULL};
    db_cache_more(db);
    if (read_runs(trend, db, request, err) || read_values(trend, db, request, err) ||
        check_found(trend, db, request, err) || judge(trend, db, err))
        return -1;
    if (request->figure) qsort_r(trend->series, trend->series_count, sizeof *trend->series, larger_first, trend);
    return 0;
}

void trend_free(struct trend *trend) {
    for (size_t i = 0; i < trend->run_count; i++) {
        free(trend->runs[i].uuid);
        free(trend->runs[i].label);
        free(trend->runs[i].commit);
    }
    for (size_t i = 0; i < trend->series_count; i++)
        drop_series(&trend->series[i]);
    free(trend->runs);
    free(trend->series);
    map_free(&trend->index);
    known_changes_free(&trend->accepted);
    *trend = (struct trend){0};
}
