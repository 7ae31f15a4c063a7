/* The output of `clear trend` for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/terminal.h"
#include "base/units.h"
#include "cli/history/trend_output.h"
#include "query/history/figure_text.h"
#include "schema/figure_kinds.h"

enum { COURSE_COLUMNS = 30, SUBJECT_COLUMNS = 60, WHY_COLUMNS = 50, COMMIT_DIGITS = 10 };

/* Shown where they are not 0 all the time; any other figure where it changed. */
static bool is_important(const char *figure) {
    const struct figure_kind *kind = figure_kind_find(figure);
    return kind && kind->importance > 0;
}

/* ---- the course of a series ---- */

/* The mean of the runs from `from` up to `to`; NAN: none has a value. */
static double mean(const struct trend_series *series, size_t from, size_t to) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = from; i < to; i++) {
        if (isnan(series->values[i])) continue;
        sum += series->values[i];
        count++;
    }
    return count ? sum / (double)count : NAN;
}

/* Eight heights from the lowest to the highest value. Less than 1 % without a change is a flat line, so that noise
 * does not look like cliffs. */
static void add_course(struct buffer *out, const struct trend *trend, const struct trend_series *series) {
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t columns = trend->run_count < COURSE_COLUMNS ? trend->run_count : COURSE_COLUMNS;
    double means[COURSE_COLUMNS], low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < columns; i++) {
        means[i] = mean(series, i * trend->run_count / columns, (i + 1) * trend->run_count / columns);
        if (isnan(means[i])) continue;
        low = fmin(low, means[i]);
        high = fmax(high, means[i]);
    }
    bool is_slight = high - low < 0.01 * fmax(fabs(high), fabs(low)) && !series->change_count;
    bool is_flat = is_slight || high == low;
    for (size_t i = 0; i < columns; i++)
        buffer_add_text(out, isnan(means[i]) ? " " : bars[is_flat ? 0 : (int)(7 * (means[i] - low) / (high - low))]);
}

/* ---- the series ---- */

static bool is_nothing(const struct trend *trend, const struct trend_series *series) {
    for (size_t i = 0; i < trend->run_count; i++)
        if (!isnan(series->values[i]) && series->values[i] != 0) return false;
    return true;
}

static double first_value(const struct trend *trend, const struct trend_series *series) {
    for (size_t i = 0; i < trend->run_count; i++)
        if (!isnan(series->values[i])) return series->values[i];
    return NAN;
}

static void add_visible(struct grid *grid, const char *text, int width) {
    struct buffer shown = {0};
    grid_visible(&shown, text, width);
    grid_add(grid, buffer_text(&shown), shown.size, false);
    buffer_free(&shown);
}

static void add_changes_text(struct grid *grid, const struct trend_series *series) {
    struct buffer text = {0};
    for (size_t i = series->change_count > 3 ? series->change_count - 3 : 0; i < series->change_count; i++) {
        const struct change_point *point = &series->changes[i].point;
        buffer_printf(&text, "%s%s%s", text.size ? ", " : "", figure_change_text(point->before, point->after).text,
                      series->changes[i].accepted ? " (accepted)" : "");
    }
    grid_left(grid, buffer_text(&text));
    buffer_free(&text);
}

static void add_series(struct grid *grid, const struct trend *trend, const struct trend_series *series) {
    struct buffer course = {0};
    add_course(&course, trend, series);
    add_visible(grid, *series->subject ? series->subject : series->figure, SUBJECT_COLUMNS);
    grid_left(grid, buffer_text(&course));
    grid_right(grid, figure_text(series->figure, first_value(trend, series)).text);
    grid_right(grid, figure_text(series->figure, trend_latest(trend, series)).text);
    add_changes_text(grid, series);
    buffer_free(&course);
}

/* Is it printed though it has no change? `*left` says how many of those may be. */
static bool is_shown(const struct trend *trend, const struct trend_series *series, bool is_all, int64_t *left) {
    if (series->change_count) return true;
    if (is_all && !is_important(series->figure)) return false;
    if (is_nothing(trend, series) || *left == 0) return false;
    if (*left > 0) --*left;
    return true;
}

static void print_series(const struct trend *trend, bool is_all, int64_t top) {
    struct grid grid = {.columns = 5};
    int64_t left = top ? top : -1, hidden = 0;
    static const char *const headings[] = {NULL, "course", "first", "latest", "changes"};
    grid_left(&grid, trend->series_count && *trend->series->subject ? "subject" : "figure");
    for (int i = 1; i < 5; i++)
        grid_left(&grid, headings[i]);
    for (size_t i = 0; i < trend->series_count; i++) {
        if (is_shown(trend, &trend->series[i], is_all, &left))
            add_series(&grid, trend, &trend->series[i]);
        else
            hidden++;
    }
    if (grid.count > 5) grid_print(&grid, stdout, true);
    if (hidden)
        printf("and %s without a change (%s shows all)\n", units_things(hidden, is_all ? "figure" : "subject").text,
               is_all ? "--json" : "--top 0");
    grid_free(&grid);
}

/* ---- the changes ---- */

static const char *commit_of(const struct trend *trend, size_t run) {
    return trend->runs[run].commit;
}

/* OLD..NEW: what git log takes; of one commit its name; nothing where a run has none. */
static void add_commits(struct grid *grid, const struct trend *trend, const struct trend_change *change) {
    const char *old = commit_of(trend, change->before_first), *new = commit_of(trend, change->point.last);
    struct buffer text = {0};
    if (old && new &&strcmp(old, new) != 0)
        buffer_printf(&text, "%.*s..%.*s", COMMIT_DIGITS, old, COMMIT_DIGITS, new);
    else if (old && new)
        buffer_printf(&text, "%.*s", COMMIT_DIGITS, new);
    add_visible(grid, buffer_text(&text), 2 * COMMIT_DIGITS + 2);
    buffer_free(&text);
}

static void add_run(struct buffer *text, const struct trend *trend, size_t run) {
    if (trend->is_of_store)
        buffer_printf(text, "%.8s", trend->runs[run].uuid);
    else
        buffer_printf(text, "%lld", (long long)trend->runs[run].id);
}

/* 31, or 31 (30 to 32) where it is not sure which it was. */
static void add_runs(struct grid *grid, const struct trend *trend, const struct trend_change *change) {
    const struct change_point *point = &change->point;
    struct buffer text = {0};
    add_run(&text, trend, point->at);
    if (point->first != point->last) {
        buffer_add_text(&text, " (");
        add_run(&text, trend, point->first);
        buffer_add_text(&text, " to ");
        add_run(&text, trend, point->last);
        buffer_add_char(&text, ')');
    }
    grid_left(grid, buffer_text(&text));
    buffer_free(&text);
}

static void add_certainty(struct grid *grid, const struct change_point *point) {
    char text[32];
    snprintf(text, sizeof text, "p %.1g", point->p);
    grid_left(grid, point->is_exact ? "exact" : text);
}

static void add_why(struct grid *grid, const struct trend_change *change) {
    char *text = change->accepted ? xasprintf("accepted: %s", change->accepted->why) : xstrdup("");
    add_visible(grid, text, WHY_COLUMNS);
    free(text);
}

static void add_change(struct grid *grid, const struct trend *trend, const struct trend_series *series,
                       const struct trend_change *change) {
    const struct change_point *point = &change->point;
    add_visible(grid, *series->subject ? series->subject : series->figure, SUBJECT_COLUMNS);
    add_runs(grid, trend, change);
    grid_left(grid, units_time(trend->runs[point->at].started_ns).text);
    grid_right(grid, figure_text(series->figure, point->before).text);
    grid_right(grid, figure_text(series->figure, point->after).text);
    grid_right(grid, figure_change_text(point->before, point->after).text);
    add_certainty(grid, point);
    add_commits(grid, trend, change);
    add_why(grid, change);
}

static void print_changes(const struct trend *trend) {
    static const char *const headings[] = {"changed", "in run", "started", "before", "after",
                                           "change",  "",       "commits", ""};
    struct grid grid = {.columns = 9};
    for (int i = 0; i < 9; i++)
        grid_left(&grid, headings[i]);
    for (size_t i = 0; i < trend->series_count; i++)
        for (size_t j = 0; j < trend->series[i].change_count; j++)
            add_change(&grid, trend, &trend->series[i], &trend->series[i].changes[j]);
    putchar('\n');
    if (grid.count > 9)
        grid_print(&grid, stdout, true);
    else
        puts(trend->run_count > 1 ? "No change." : "One run: record more of this command to see changes.");
    grid_free(&grid);
}

/* ---- all of it ---- */

static void print_head(const struct trend *trend, const char *figure, const char *of) {
    const struct trend_run *first = &trend->runs[0], *last = &trend->runs[trend->run_count - 1];
    struct buffer head = {0};
    if (of) buffer_printf(&head, "%s of %s, ", figure, of);
    buffer_printf(&head, "%s, %s to %s", units_things((int64_t)trend->run_count, "run").text,
                  units_time(first->started_ns).text, units_time(last->started_ns).text);
    if (trend->unfinished)
        buffer_printf(&head, "; %s without an end left out", units_things((int64_t)trend->unfinished, "run").text);
    buffer_make_visible(&head);
    printf("%s\n\n", buffer_text(&head));
    buffer_free(&head);
}

/* The next question, after a change of a total that functions have too. */
static void print_next(const struct trend *trend) {
    for (size_t i = 0; i < trend->series_count; i++) {
        const struct trend_series *series = &trend->series[i];
        const struct figure_kind *kind = *series->subject ? NULL : figure_kind_find(series->figure);
        if (!kind || !kind->is_of_functions || !trend_has_news(series)) continue;
        printf("\nwhich functions: clear trend %s --of 'function *'\n", series->figure);
        return;
    }
}

void trend_print(const struct trend *trend, const char *of, int64_t top) {
    bool is_all = false;
    for (size_t i = 1; i < trend->series_count; i++)
        is_all |= strcmp(trend->series[i].figure, trend->series[0].figure) != 0;
    print_head(trend, trend->series_count ? trend->series[0].figure : "findings", of);
    print_series(trend, is_all, top);
    print_changes(trend);
    print_next(trend);
}
