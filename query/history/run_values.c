#include "query/history/run_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"
#include "schema/figure_kinds.h"
#include "schema/schema.h"

/* SIZE_MAX: there is none. */
static size_t find(const struct run_values *values, const char *figure) {
    for (size_t i = 0; i < values->figure_count; i++)
        if (strcmp(values->figures[i], figure) == 0) return i;
    return SIZE_MAX;
}

static size_t find_or_add(struct run_values *values, const char *figure) {
    size_t place = find(values, figure);
    if (place != SIZE_MAX || values->figure_count == RUN_VALUES_MAX) return place;
    values->figures = xrealloc(values->figures, (values->figure_count + 1) * sizeof *values->figures);
    values->figures[values->figure_count] = xstrdup(figure);
    return values->figure_count++;
}

int run_values_add(struct run_values *values, struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/run_totals.sql"), err);
    if (!row) return -1;
    size_t run = values->run_count++;
    values->runs = xrealloc(values->runs, values->run_count * sizeof *values->runs);
    values->values = xrealloc(values->values, values->run_count * RUN_VALUES_MAX * sizeof *values->values);
    values->runs[run] = run_id;
    double *mine = values->values + run * RUN_VALUES_MAX;
    for (size_t i = 0; i < RUN_VALUES_MAX; i++)
        mine[i] = NAN;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        size_t figure = find_or_add(values, db_text(row, 0));
        if (figure != SIZE_MAX) mine[figure] = sqlite3_column_double(row, 1);
    }
    return code;
}

double run_values_get(const struct run_values *values, const char *figure, size_t run) {
    size_t place = find(values, figure);
    return place == SIZE_MAX ? NAN : values->values[run * RUN_VALUES_MAX + place];
}

size_t run_values_of(const struct run_values *values, const char *figure, double *into) {
    size_t count = 0;
    for (size_t run = 0; run < values->run_count; run++) {
        double value = run_values_get(values, figure, run);
        if (!isnan(value)) into[count++] = value;
    }
    return count;
}

void run_values_free(struct run_values *values) {
    for (size_t i = 0; i < values->figure_count; i++)
        free(values->figures[i]);
    free(values->figures);
    free(values->runs);
    free(values->values);
    *values = (struct run_values){0};
}

int run_value(struct db *db, int64_t run_id, const char *figure, const char *of, double *value, struct error *err) {
    bool is_whole = !of || !*of;
    sqlite3_stmt *row = db_prepare(
        db, embedded_text(is_whole ? "history/run_values/run_total" : "history/run_values/run_subjects"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":figure", figure);
    if (!is_whole) db_bind_text(row, ":of", of);
    int code = db_step(db, row, err);
    if (code == 1 && sqlite3_column_type(row, 0) == SQLITE_NULL) code = 0;
    if (code == 1) *value = sqlite3_column_double(row, 0);
    sqlite3_reset(row);
    return code;
}

/* ---- names of figures ---- */

struct figure_search {
    struct nearest nearest;
    struct buffer list;
    bool is_found;
};

/* Those of whole runs, or those that have no sum over all subjects. */
static void search(struct figure_search *search, bool of_runs) {
    for (const struct figure_kind *kind = figure_kinds(); kind->name; kind++) {
        if (kind->is_of_runs != of_runs) continue;
        if (strcmp(kind->name, search->nearest.word) == 0) search->is_found = true;
        nearest_offer(&search->nearest, kind->name);
        buffer_printf(&search->list, "%s%s", search->list.size ? ", " : "", kind->name);
    }
}

int figure_check(const char *figure, const char *of, struct error *err) {
    struct figure_search names = {.nearest = {.word = figure}};
    search(&names, true);
    if (of && *of) search(&names, false);
    const char *nearest = names.nearest.found;
    if (!names.is_found)
        error_usage(err, "no figure is called '%s'%s%s: %s", figure, *nearest ? "; did you mean " : "", nearest,
                    buffer_text(&names.list));
    buffer_free(&names.list);
    return names.is_found ? 0 : -1;
}
