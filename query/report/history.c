/* The value of functions in one run after the other: --history. As JSON, the oldest run first:
 *   [{"run_id", "uuid", "started_ns", "label", "tags", "total", "flat", "cum",
 *     "changes": {FIGURE: {"first_run_id", "last_run_id", "before", "after", "percent", "exact", "p"}, ...}}, ...]
 * flat is that of all functions that match; cum counts a sample once, however many of its frames match. changes has those of the three
 * whose level is another one from this run on, as in clear trend. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "query/history/change_points.h"
#include "query/history/figure_change.h"
#include "query/profile/pattern.h"
#include "query/report/report_runs.h"
#include "schema/db.h"
#include "schema/schema.h"

/* ---- where the level changed ---- */

/* Where the level of a function's value changed from run to run, by the test of clear trend. */

/* Prepares a search in `series_count` series of values of that kind, sample type and unit: whether they have no noise of their own, and the
 * least difference by the rules of the warehouse. `is_estimated`: a run was sampled, or lost events. */
struct history_search {
    const char *kind, *type, *unit;
    bool is_estimated;
    size_t series_count;
};

/* What counts what a program does, and no time or chance: as the exact ones of the view figure_kinds. */
static const struct {
    const char *kind, *type; /* type NULL: all of the kind */
} exact_types[] = {{"heap", NULL},       {"heap-peak", NULL}, {"mmap", NULL},           {"lifetimes", "allocated"},
                   {"io", "calls"},      {"io", "bytes"},     {"syscalls", "calls"},    {"threads", "started"},
                   {"mvcc", "reads"},    {"mvcc", "commits"}, {"lock", "acquisitions"}, {"channels", "pushes"},
                   {"channels", "pops"}, {"fibers", "spawns"}};

static bool is_exact(const char *kind, const char *type) {
    for (size_t i = 0; i < sizeof exact_types / sizeof *exact_types; i++)
        if (strcmp(exact_types[i].kind, kind) == 0 && (!exact_types[i].type || strcmp(exact_types[i].type, type) == 0))
            return true;
    return false;
}

static int history_search_prepare(const struct history_search *of, struct db *db, struct change_search *search,
                                  struct error *err) {
    struct figure_limits limits;
    int64_t floor_ns;
    if (figure_limits_read(&limits, db, err) ||
        db_int(db, "SELECT value FROM rules WHERE name = 'diff_floor_ns'", 1000000, &floor_ns, err))
        return -1;
    *search = (struct change_search){.is_exact = is_exact(of->kind, of->type) && !of->is_estimated,
                                     .series_count = of->series_count ? of->series_count : 1,
                                     .floor_percent = limits.floor_percent,
                                     .floor = strcmp(of->unit, "nanoseconds") == 0 ? (double)floor_ns : 0};
    return 0;
}

struct point {
    const struct run_item *run;
    int64_t started_ns, total, flat, cum;
    bool is_estimated;         /* sampled, or events were lost */
    char *uuid, *label, *tags; /* label: NULL for none */
    struct buffer changes;     /* JSON: "FIGURE":{...},... */
};

/* A figure of a point. */
static const struct {
    const char *name;
    size_t offset;
} figures[] = {{"total", offsetof(struct point, total)},
               {"flat", offsetof(struct point, flat)},
               {"cum", offsetof(struct point, cum)}};
enum { FIGURES = sizeof figures / sizeof *figures };

struct history {
    const struct report_runs *runs;
    const struct report_format *format;
    const struct report_options *options;
    struct pattern *pattern;
    struct point *points;
    char *type, *unit; /* of the values; NULL where there is no run */
    bool overflows;
};

/* ---- a run ---- */

static bool meets(struct history *history, const struct profile *profile, signed char *known, uint32_t function) {
    if (!known[function])
        known[function] = pattern_matches(history->pattern, profile->functions[function].name) ? 1 : -1;
    return known[function] > 0;
}

/* The frames of a location are its lines, the innermost first. */
static bool meets_frame(struct history *history, const struct profile *profile, signed char *known, uint32_t location,
                        bool is_leaf) {
    const struct profile_location *at = &profile->locations[location];
    uint32_t count = is_leaf && at->line_count ? 1 : at->line_count;
    for (uint32_t i = 0; i < count; i++)
        if (meets(history, profile, known, profile->lines[at->first_line + i].function)) return true;
    return false;
}

static void add_sample(struct history *history, const struct report *report, size_t sample, signed char *known,
                       struct point *point) {
    const struct profile *profile = report->profile;
    const struct profile_stack *stack = &profile->stacks[profile->samples[sample].stack];
    int64_t value = profile_value(profile, sample, report->type);
    bool is_met = false;
    for (uint32_t i = 0; i < stack->depth && !is_met; i++)
        is_met = meets_frame(history, profile, known, profile->frames[stack->first + i], false);
    if (!is_met) return;
    sum_add(&point->cum, value, &history->overflows);
    if (meets_frame(history, profile, known, profile->frames[stack->first], true))
        sum_add(&point->flat, value, &history->overflows);
}

static int add_values(struct history *history, struct report *report, filter_note *note, void *context,
                      struct point *point, struct error *err) {
    struct profile *profile = report->profile;
    if (report_choose_values(report, err) || report_narrow(report, note, context, err)) return -1;
    if (!history->type) {
        history->type = xstrdup(report->type_name);
        history->unit = xstrdup(report->sample_unit);
    }
    signed char *known = xcalloc(profile->function_count + 1, 1);
    point->total = report->total;
    for (size_t i = 0; i < profile->sample_count; i++)
        add_sample(history, report, i, known, point);
    free(known);
    return pattern_check(history->pattern, err);
}

static int read_run(struct point *point, struct error *err) {
    sqlite3_stmt *row = db_prepare(point->run->db, embedded_text("report/history.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", point->run->id);
    if (db_step(point->run->db, row, err) < 0) return -1;
    point->uuid = xstrdup(db_text(row, 0));
    point->started_ns = sqlite3_column_int64(row, 1);
    point->label = sqlite3_column_type(row, 2) == SQLITE_NULL ? NULL : xstrdup(db_text(row, 2));
    point->tags = xstrdup(*db_text(row, 3) ? db_text(row, 3) : "{}");
    point->is_estimated = sqlite3_column_int(row, 4);
    sqlite3_reset(row);
    return 0;
}

static int add_run(struct history *history, filter_note *note, void *context, struct point *point, struct error *err) {
    struct profile profile;
    struct report report = {.profile = &profile, .format = history->format, .options = *history->options};
    const struct run_list only = {.items = (struct run_item[]){*point->run}, .count = 1};
    if (gather_profile(&profile, &only, history->runs->kind, NULL, history->runs->span, err)) return -1;
    int code = report_finish_profile(&profile, history->runs->overrides, err);
    if (code == 0) code = add_values(history, &report, note, context, point, err);
    if (code == 0) code = read_run(point, err);
    report_free(&report);
    profile_free(&profile);
    return code;
}

/* ---- all runs ---- */

static int oldest_first(const void *left, const void *right) {
    const struct point *a = left, *b = right;
    if (a->started_ns != b->started_ns) return a->started_ns < b->started_ns ? -1 : 1;
    return (a->run->id > b->run->id) - (a->run->id < b->run->id);
}

/* ---- changes ---- */

static double figure_of(const struct point *point, size_t figure) {
    int64_t value;
    memcpy(&value, (const char *)point + figures[figure].offset, sizeof value);
    return (double)value;
}

static bool varies(const struct history *history, size_t figure) {
    for (size_t i = 1; i < history->runs->runs->count; i++)
        if (figure_of(&history->points[i], figure) != figure_of(&history->points[0], figure)) return true;
    return false;
}

static void add_number(struct buffer *out, const char *name, double value) {
    if (isfinite(value))
        buffer_printf(out, ",\"%s\":%.17g", name, value);
    else
        buffer_printf(out, ",\"%s\":null", name);
}

static void add_change(struct history *history, size_t figure, const struct change_point *change) {
    struct buffer *out = &history->points[change->at].changes;
    buffer_printf(out, "%s\"%s\":{\"first_run_id\":%" PRId64 ",\"last_run_id\":%" PRId64, out->size ? "," : "",
                  figures[figure].name, history->points[change->first].run->id, history->points[change->last].run->id);
    add_number(out, "before", change->before);
    add_number(out, "after", change->after);
    add_number(out, "percent", change->percent);
    buffer_printf(out, ",\"exact\":%s", change->is_exact ? "true" : "false");
    add_number(out, "p", change->p);
    buffer_add_char(out, '}');
}

static void find_changes(struct history *history, size_t figure, const struct change_search *search) {
    size_t count = history->runs->runs->count;
    double *values = xcalloc(count + 1, sizeof *values);
    struct change_point *found;
    for (size_t i = 0; i < count; i++)
        values[i] = figure_of(&history->points[i], figure);
    size_t changes = change_points_find(values, count, search, &found);
    for (size_t i = 0; i < changes; i++)
        add_change(history, figure, &found[i]);
    free(found);
    free(values);
}

/* The three figures are searched together. */
static int judge(struct history *history, struct error *err) {
    struct history_search of = {.kind = history->runs->kind, .type = history->type, .unit = history->unit};
    struct change_search search;
    if (!history->type) return 0;
    for (size_t i = 0; i < history->runs->runs->count; i++)
        of.is_estimated |= history->points[i].is_estimated;
    for (size_t figure = 0; figure < FIGURES; figure++)
        of.series_count += varies(history, figure);
    if (history_search_prepare(&of, history->runs->runs->items[0].db, &search, err)) return -1;
    for (size_t figure = 0; figure < FIGURES; figure++)
        find_changes(history, figure, &search);
    return 0;
}

static void write_points(const struct history *history, struct buffer *out) {
    for (size_t i = 0; i < history->runs->runs->count; i++) {
        const struct point *point = &history->points[i];
        buffer_printf(out, "%s{\"run_id\":%" PRId64 ",", i ? ",\n" : "[", point->run->id);
        buffer_add_json_field(out, "uuid", point->uuid);
        buffer_printf(out, ",\"started_ns\":%" PRId64 ",\"label\":", point->started_ns);
        if (point->label)
            buffer_add_json_text(out, point->label);
        else
            buffer_add_text(out, "null");
        buffer_printf(out,
                      ",\"tags\":%s,\"total\":%" PRId64 ",\"flat\":%" PRId64 ",\"cum\":%" PRId64 ",\"changes\":{%s}}",
                      point->tags, point->total, point->flat, point->cum, buffer_text(&point->changes));
    }
    buffer_add_text(out, history->runs->runs->count ? "]\n" : "[]\n");
}

int report_history(const struct report_runs *runs, const struct report_format *format,
                   const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                   struct error *err) {
    struct history history = {.runs = runs, .format = format, .options = options};
    size_t count = runs->runs->count;
    history.pattern = pattern_compile("--history", options->history, err);
    if (!history.pattern) return -1;
    history.points = xcalloc(count + 1, sizeof *history.points);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        history.points[i].run = &runs->runs->items[i];
        code = add_run(&history, note, context, &history.points[i], err);
    }
    if (code == 0 && history.overflows)
        code = error_fail(err, "the values of the functions sum up to more than 64 bits");
    if (code == 0) {
        qsort(history.points, count, sizeof *history.points, oldest_first);
        code = judge(&history, err);
    }
    if (code == 0) write_points(&history, out);
    for (size_t i = 0; i < count; i++) {
        free(history.points[i].uuid);
        free(history.points[i].label);
        free(history.points[i].tags);
        buffer_free(&history.points[i].changes);
    }
    free(history.type);
    free(history.unit);
    free(history.points);
    pattern_free(history.pattern);
    return code;
}
