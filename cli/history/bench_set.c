#include "cli/history/bench_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "query/history/figure_text.h"
#include "schema/figure_kinds.h"

/* Those of a line come first in the table too. */
static const char *const lines[] = {"duration_ns", "cpu_ns",     "alloc_count",
                                    "alloc_bytes", "peak_bytes", "lock_wait_ns"};
enum { LINES = sizeof lines / sizeof *lines, RUN_WIDTH = 6, WIDTH = 11 };

/* ---- a line a run ---- */

static void print_heading(FILE *out) {
    fprintf(out, "%*s", RUN_WIDTH, "run");
    for (size_t i = 0; i < LINES; i++)
        fprintf(out, "  %*s", WIDTH, figure_kind_find(lines[i])->heading);
    fputc('\n', out);
}

void bench_print_run(FILE *out, const struct run_values *values, size_t run) {
    if (run == 0) print_heading(out);
    fprintf(out, "%*" PRId64, RUN_WIDTH, values->runs[run]);
    for (size_t i = 0; i < LINES; i++) {
        double value = run_values_get(values, lines[i], run);
        fprintf(out, "  %*s", WIDTH, isnan(value) ? "-" : figure_text(lines[i], value).text);
    }
    fputc('\n', out);
    fflush(out);
}

/* ---- the figures ---- */

struct bench_row {
    const char *figure;
    double least, most;
    bool is_compared;
    struct figure_change change; /* not compared: noise.new alone is set */
};

struct bench_rows {
    struct bench_row *items;
    size_t count;
};

static bool is_line(const char *figure) {
    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i], figure) == 0) return true;
    return false;
}

static void add_row(struct bench_rows *rows, const struct bench_set *set, const char *figure) {
    double *now = xcalloc(set->values.run_count + 1, sizeof *now),
           *before = xcalloc(set->before.run_count + 1, sizeof *now);
    size_t count = run_values_of(&set->values, figure, now), before_count = run_values_of(&set->before, figure, before);
    struct bench_row row = {.figure = figure, .least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < count; i++) {
        row.least = fmin(row.least, now[i]);
        row.most = fmax(row.most, now[i]);
    }
    row.is_compared = count && before_count;
    /* Compared with itself, it gives its own mean and deviation. */
    if (count)
        row.change.noise = noise_compare(before_count ? before : now, before_count ? before_count : count, now, count);
    if (count && (row.least != 0 || row.most != 0 || (row.is_compared && row.change.noise.old.mean != 0)))
        rows->items[rows->count++] = row;
    free(now);
    free(before);
}

static struct bench_rows make_rows(const struct bench_set *set, const struct figure_limits *limits) {
    struct bench_rows rows = {.items = xcalloc(LINES + RUN_VALUES_MAX, sizeof *rows.items)};
    for (size_t i = 0; i < LINES; i++)
        add_row(&rows, set, lines[i]);
    for (size_t i = 0; i < set->values.figure_count; i++)
        if (!is_line(set->values.figures[i])) add_row(&rows, set, set->values.figures[i]);
    struct figure_change *changes = xcalloc(rows.count + 1, sizeof *changes);
    size_t compared = 0;
    for (size_t i = 0; i < rows.count; i++)
        if (rows.items[i].is_compared) changes[compared++] = rows.items[i].change;
    figure_changes_judge(changes, compared, limits);
    compared = 0;
    for (size_t i = 0; i < rows.count; i++)
        if (rows.items[i].is_compared) rows.items[i].change = changes[compared++];
    free(changes);
    return rows;
}

/* ---- for people ---- */

static void add_deviation(struct grid *grid, const struct bench_row *row) {
    const struct noise_side *now = &row->change.noise.new;
    char *text;
    if (isnan(now->sd))
        text = xstrdup("-");
    else if (now->sd == 0)
        text = xstrdup("none");
    else if (now->mean == 0)
        text = xasprintf("%s", figure_text(row->figure, now->sd).text);
    else
        text = xasprintf("%s (%.*f %%)", figure_text(row->figure, now->sd).text,
                         now->sd < 0.0995 * fabs(now->mean) ? 1 : 0, 100 * now->sd / fabs(now->mean));
    grid_right(grid, text);
    free(text);
}

static char *verdict_text(const struct figure_change *change) {
    switch (change->verdict) {
    case FIGURE_SAME: return xstrdup("same");
    case FIGURE_NOISE: return xasprintf("in the noise (p %.2g)", change->noise.p);
    case FIGURE_UNKNOWN: return xstrdup("noise not known: one run each");
    case FIGURE_UP:
    case FIGURE_DOWN: break;
    }
    const char *word = change->verdict == FIGURE_UP ? "UP" : "DOWN";
    return change->noise.p > 0 ? xasprintf("%s (p %.2g)", word, change->noise.p) : xasprintf("%s (exact)", word);
}

static void add_change(struct grid *grid, const struct bench_row *row) {
    const struct noise *noise = &row->change.noise;
    if (!row->is_compared) {
        grid_right(grid, "-");
        grid_right(grid, "");
        grid_left(grid, "");
        return;
    }
    grid_right(grid, figure_text(row->figure, noise->old.mean).text);
    grid_right(grid, figure_change_text(noise->old.mean, noise->new.mean).text);
    char *verdict = verdict_text(&row->change);
    grid_left(grid, verdict);
    free(verdict);
}

static void add_headings(struct grid *grid, bool is_compared) {
    static const char *const headings[] = {"figure",  "mean",   "deviation", "lowest",
                                           "highest", "before", "change",    "verdict"};
    grid->columns = is_compared ? 8 : 5;
    for (size_t i = 0; i < grid->columns; i++)
        grid_left(grid, headings[i]);
}

void bench_print_table(FILE *out, const struct bench_set *set, const struct figure_limits *limits) {
    struct bench_rows rows = make_rows(set, limits);
    struct grid grid = {0};
    bool is_compared = set->before_name != NULL;
    add_headings(&grid, is_compared);
    for (size_t i = 0; i < rows.count; i++) {
        const struct bench_row *row = &rows.items[i];
        grid_left(&grid, row->figure);
        grid_right(&grid, figure_text(row->figure, row->change.noise.new.mean).text);
        add_deviation(&grid, row);
        grid_right(&grid, figure_text(row->figure, row->least).text);
        grid_right(&grid, figure_text(row->figure, row->most).text);
        if (is_compared) add_change(&grid, row);
    }
    grid_print(&grid, out, true);
    grid_free(&grid);
    free(rows.items);
}

/* ---- JSON ---- */

static void add_number(struct buffer *out, const char *key, double value) {
    if (isfinite(value))
        buffer_printf(out, ",\"%s\":%.17g", key, value);
    else
        buffer_printf(out, ",\"%s\":null", key);
}

static void add_runs(struct buffer *out, const struct run_values *values) {
    buffer_add_char(out, '[');
    for (size_t run = 0; run < values->run_count; run++) {
        buffer_printf(out, "%s{\"run\":%" PRId64, run ? ",\n" : "", values->runs[run]);
        for (size_t i = 0; i < values->figure_count; i++) {
            double value = values->values[run * RUN_VALUES_MAX + i];
            if (isnan(value)) continue;
            buffer_add_char(out, ',');
            buffer_add_json_text(out, values->figures[i]);
            buffer_printf(out, ":%.17g", value);
        }
        buffer_add_char(out, '}');
    }
    buffer_add_char(out, ']');
}

static void add_figure(struct buffer *out, const struct bench_row *row) {
    const struct noise *noise = &row->change.noise;
    buffer_add_text(out, "{");
    buffer_add_json_field(out, "figure", row->figure);
    buffer_printf(out, ",\"runs\":%zu", noise->new.n);
    add_number(out, "mean", noise->new.mean);
    add_number(out, "deviation", noise->new.sd);
    add_number(out, "lowest", row->least);
    add_number(out, "highest", row->most);
    if (row->is_compared) {
        buffer_printf(out, ",\"before_runs\":%zu", noise->old.n);
        add_number(out, "before_mean", noise->old.mean);
        add_number(out, "before_deviation", noise->old.sd);
        add_number(out, "p", noise->p);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "verdict", figure_verdict_word(row->change.verdict));
    }
    buffer_add_char(out, '}');
}

void bench_print_json(FILE *out, const struct bench_set *set, const struct figure_limits *limits) {
    struct bench_rows rows = make_rows(set, limits);
    struct buffer text = {0};
    buffer_add_char(&text, '{');
    buffer_add_json_field(&text, "set", set->name);
    buffer_add_char(&text, ',');
    buffer_add_json_field(&text, "command", set->command);
    buffer_add_text(&text, ",\"runs\":");
    add_runs(&text, &set->values);
    buffer_add_text(&text, ",\n\"before\":");
    if (set->before_name) {
        buffer_add_char(&text, '{');
        buffer_add_json_field(&text, "set", set->before_name);
        buffer_add_text(&text, ",\"runs\":");
        add_runs(&text, &set->before);
        buffer_add_char(&text, '}');
    } else {
        buffer_add_text(&text, "null");
    }
    buffer_add_text(&text, ",\n\"figures\":[");
    for (size_t i = 0; i < rows.count; i++) {
        if (i) buffer_add_text(&text, ",\n");
        add_figure(&text, &rows.items[i]);
    }
    buffer_add_text(&text, "]}\n");
    fwrite(text.data, 1, text.size, out);
    buffer_free(&text);
    free(rows.items);
}
