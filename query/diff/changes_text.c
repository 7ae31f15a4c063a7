#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/path.h"
#include "base/wrap.h"
#include "query/diff/changes.h"
#include "query/profile/usual_name.h"
#include "query/runs/select.h"
#include "schema/schema.h"

struct printer {
    FILE *out;
    const struct diff *diff;
    bool has_spread;                 /* several runs on a side: print standard deviations */
    const struct shown_names *names; /* of the table that is printed */
};

static const char *style(const struct printer *printer, const char *code) {
    return printer->diff->options->colour ? code : "";
}

static void print_title(const struct printer *printer, const char *title) {
    fprintf(printer->out, "\n%s%s%s\n", style(printer, "\033[1m"), title, style(printer, GRID_PLAIN));
}

/* A line with names of any length, cut to the width of the report. */
static void print_cut(const struct printer *printer, const char *indent, const char *line) {
    struct buffer shown = {0};
    grid_visible(&shown, line, report_width(printer->out) - (int)strlen(indent));
    fprintf(printer->out, "%s%s\n", indent, buffer_text(&shown));
    buffer_free(&shown);
}

/* ---- head ---- */

struct about {
    struct buffer label, command;
    int64_t started_ns, duration_ns;
};

static int read_about(const struct run_item *item, struct about *about, struct error *err) {
    sqlite3_stmt *row = db_prepare(item->db, embedded_text("diff/run.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", item->id);
    if (db_step(item->db, row, err) < 1) return error_fail(err, "%s: the run no longer exists", item->db->path);
    buffer_add_text(&about->label, db_text(row, 0));
    buffer_add_text(&about->command, db_text(row, 1));
    about->started_ns = sqlite3_column_int64(row, 2);
    about->duration_ns = sqlite3_column_int64(row, 3);
    sqlite3_reset(row);
    return 0;
}

static void describe_one(const struct run_item *item, const struct about *about, struct buffer *line) {
    const char *label = buffer_text(&about->label);
    if (item->db->is_private)
        buffer_add_text(line, "file ");
    else
        buffer_printf(line, "run %lld%s%s%s: ", (long long)item->id, *label ? " (" : "", label, *label ? ")" : "");
    buffer_printf(line, "%s", buffer_text(&about->command));
    if (about->started_ns) buffer_printf(line, ", %s", units_time(about->started_ns).text);
    if (about->duration_ns) buffer_printf(line, ", %s", units_ns(about->duration_ns).text);
}

static void describe_set(const struct run_list *runs, const char *name, const struct about *first,
                         const struct about *last, struct buffer *line) {
    buffer_printf(line, "%s: %zu runs", name, runs->count);
    if (first->started_ns && last->started_ns)
        buffer_printf(line, ", %s to %s", units_time(first->started_ns).text, units_time(last->started_ns).text);
    buffer_printf(line, ", %s", buffer_text(&last->command));
    if (strcmp(buffer_text(&first->command), buffer_text(&last->command)) != 0) buffer_add_text(line, " and others");
}

static int print_side(const struct printer *printer, int side, struct error *err) {
    const struct run_list *runs = &printer->diff->options->sides[side].runs;
    struct about first = {0}, last = {0};
    struct buffer line = {0};
    int code = read_about(&runs->items[0], &first, err);
    if (code == 0) code = read_about(&runs->items[runs->count - 1], &last, err);
    if (code == 0) {
        if (first.started_ns > last.started_ns) {
            struct about swap = first;
            first = last;
            last = swap;
        }
        buffer_printf(&line, "%s  ", side == DIFF_OLD ? "old" : "new");
        if (runs->count == 1)
            describe_one(&runs->items[0], &first, &line);
        else
            describe_set(runs, printer->diff->options->sides[side].name, &first, &last, &line);
        fputs(style(printer, "\033[1m"), printer->out);
        print_cut(printer, "", buffer_text(&line));
        fputs(style(printer, GRID_PLAIN), printer->out);
    }
    buffer_free(&first.label), buffer_free(&first.command);
    buffer_free(&last.label), buffer_free(&last.command);
    buffer_free(&line);
    return code;
}

/* What counts as a change. */
static void print_rule(const struct printer *printer) {
    const struct diff_rules *rules = &printer->diff->rules;
    struct buffer text = {0};
    if (printer->has_spread)
        buffer_printf(
            &text,
            "Figures are means over the runs of a side; a row that is missing in a run counts as 0. A change is a "
            "difference of at least %g %%, and of at least %s for a duration, a wait or a hold, that is outside the "
            "noise by Welch's t test; at most %g %% of the changes reported in a table are expected to be chance "
            "(Benjamini and Hochberg).",
            rules->floor_percent, units_ns(llround(rules->floor_ns)).text, rules->false_percent);
    else
        buffer_printf(
            &text,
            "One run on each side, so the noise is not known. A change is a difference of at least %g %%; of times, "
            "waits and samples one of at least %g %% of the smaller value, and of at least %s for a time; of CPU time "
            "one of at least %g %% "
            "of it and %s; retries are "
            "one only where other code or arguments began or ended a storm of them. Name several runs per side "
            "(last=10) to measure the noise.",
            rules->floor_percent, rules->single_percent, units_ns(llround(rules->single_ns)).text,
            rules->single_cpu_percent, units_ns(llround(rules->single_cpu_ns)).text);
    wrap_print(printer->out, report_width(printer->out), "  ", buffer_text(&text));
    buffer_free(&text);
}

static void print_filters(const struct printer *printer) {
    const struct diff_options *options = printer->diff->options;
    struct buffer line = {0};
    if (!options->focus && !options->ignore) return;
    buffer_printf(&line, "filter:%s%s%s%s: %zu of %s", options->focus ? " --focus=" : "",
                  options->focus ? options->focus : "", options->ignore ? " --ignore=" : "",
                  options->ignore ? options->ignore : "", printer->diff->kept_count,
                  units_things((int64_t)printer->diff->trace_count, "stack").text);
    print_cut(printer, "  ", buffer_text(&line));
    buffer_free(&line);
}

static void print_losses(const struct printer *printer) {
    const struct diff *diff = printer->diff;
    struct grid grid = {.indent = "  ", .columns = 5};
    if (!diff->loss_count) return;
    print_title(printer, "saturation");
    grid_left(&grid, "side");
    grid_left(&grid, "code");
    grid_left(&grid, "count");
    grid_left(&grid, "runs");
    grid_left(&grid, "of");
    for (size_t i = 0; i < diff->loss_count; i++) {
        const struct diff_loss *loss = &diff->losses[i];
        struct buffer runs = {0}, subject = {0};
        buffer_printf(&runs, "%zu/%zu", loss->runs, diff->run_count[loss->side]);
        grid_visible(&subject, loss->subject, REPORT_WIDTH / 2);
        grid_left(&grid, loss->side == DIFF_OLD ? "old" : "new");
        grid_left(&grid, loss->code);
        grid_right(&grid, units_count(loss->count).text);
        grid_right(&grid, buffer_text(&runs));
        grid_left(&grid, buffer_text(&subject));
        buffer_free(&runs);
        buffer_free(&subject);
    }
    grid_print(&grid, printer->out, true);
    grid_free(&grid);
}

/* ---- cells of a row ---- */

static void add_spread(const struct printer *printer, struct grid *grid, enum figure_unit unit, double sd) {
    if (!printer->has_spread) return;
    grid_right(grid, isnan(sd) ? "" : diff_value(unit, sd, false).text);
}

/* old, its spread, new, its spread */
static void add_means(const struct printer *printer, struct grid *grid, const struct diff_column *column,
                      const struct diff_figure *figure) {
    grid_right(grid, diff_value(column->unit, figure->noise.old.mean, false).text);
    add_spread(printer, grid, column->unit, figure->noise.old.sd);
    grid_right(grid, diff_value(column->unit, figure->noise.new.mean, false).text);
    add_spread(printer, grid, column->unit, figure->noise.new.sd);
}

static void add_mean_headings(const struct printer *printer, struct grid *grid, const char *old, const char *new) {
    grid_left(grid, old);
    if (printer->has_spread) grid_left(grid, "sd");
    grid_left(grid, new);
    if (printer->has_spread) grid_left(grid, "sd");
}

static void add_one_n(struct buffer *text, size_t seen, size_t n) {
    if (seen < n) buffer_printf(text, "%zu/", seen);
    buffer_printf(text, "%zu", n);
}

/* "20 : 20" runs; "3/20 : 20" if only three of the old runs have the row. */
static void add_n(const struct printer *printer, struct grid *grid, const struct diff_row *row) {
    struct buffer text = {0};
    if (!printer->has_spread) return;
    add_one_n(&text, row->seen[DIFF_OLD], printer->diff->run_count[DIFF_OLD]);
    buffer_add_text(&text, " : ");
    add_one_n(&text, row->seen[DIFF_NEW], printer->diff->run_count[DIFF_NEW]);
    grid_right(grid, buffer_text(&text));
    buffer_free(&text);
}

static const char *change_style(const struct printer *printer, const struct diff_figure *figure, bool is_change) {
    if (!printer->diff->options->colour || !is_change) return NULL;
    return figure->delta > 0 ? "\033[31m" : "\033[32m";
}

static void add_difference(const struct printer *printer, struct grid *grid, const struct diff_column *column,
                           const struct diff_figure *figure, bool is_change) {
    grid_right(grid, figure->delta == 0 ? "" : diff_value(column->unit, figure->delta, true).text);
    grid_style(grid, change_style(printer, figure, is_change));
    grid_right(grid, figure->delta == 0 ? "" : diff_percent(figure->percent).text);
    grid_style(grid, change_style(printer, figure, is_change));
}

static void add_change(const struct printer *printer, struct grid *grid, const struct diff_row *row,
                       const struct diff_figure *figure) {
    struct buffer text = {0};
    const char *arrow = figure->delta > 0 ? "\u2191 " : figure->delta < 0 ? "\u2193 " : "";
    if (row->is_change)
        buffer_printf(&text, "%s%s", arrow, row->change);
    else
        buffer_printf(&text, "%s%s", row->change,
                      !figure->is_in_noise  ? ""
                      : printer->has_spread ? " (noise)"
                                            : " (too little)");
    grid_left(grid, buffer_text(&text));
    grid_style(grid, change_style(printer, figure, row->is_change));
    buffer_free(&text);
}

/* ---- notes below a row ---- */

static void note_subject(const struct printer *printer, struct grid *grid, const struct diff_row *row) {
    struct buffer line = {0}, place = {0}, at = {0}, plain = {0};
    const char *name = shown_name(printer->names, row->subject, &plain);
    if (*row->file && row->line)
        buffer_printf(&at, "  %s:%lld", path_base(row->file), (long long)row->line);
    else if (*row->file || *row->module)
        buffer_printf(&at, "  (%s)", *row->file ? row->file : row->module);
    if (*row->what) buffer_printf(&at, "  [%s]", row->what);
    grid_visible(&place, buffer_text(&at), REPORT_WIDTH / 2);
    buffer_printf(&line, "      %s", style(printer, "\033[1m"));
    grid_visible(&line, name, report_width(printer->out) - 6 - grid_width(buffer_text(&place), place.size));
    buffer_printf(&line, "%s%s", style(printer, GRID_PLAIN), buffer_text(&place));
    grid_note(grid, buffer_text(&line));
    buffer_free(&line);
    buffer_free(&place);
    buffer_free(&at);
    buffer_free(&plain);
}

static int note_callers(const struct printer *printer, struct grid *grid, const struct diff_row *row,
                        struct error *err) {
    struct buffer callers = {0}, line = {0};
    int code = diff_callers(row, printer->diff->options->full_names, &callers, err);
    if (code == 0 && callers.size) {
        buffer_add_text(&line, "        < ");
        grid_visible(&line, buffer_text(&callers), report_width(printer->out) - 10);
        grid_note(grid, buffer_text(&line));
    }
    buffer_free(&callers);
    buffer_free(&line);
    return code;
}

/* ---- rows of each table ---- */

static void start_function_grid(const struct printer *printer, struct grid *grid) {
    grid->indent = "  ";
    grid->columns = printer->has_spread ? 8 : 5;
    grid_left(grid, "change");
    add_mean_headings(printer, grid, "old", "new");
    if (printer->has_spread) grid_left(grid, "n");
    grid_left(grid, "difference");
    grid_left(grid, "%");
}

static int add_function(const struct printer *printer, enum diff_table_id id, struct grid *grid,
                        const struct diff_row *row, struct error *err) {
    const struct diff_table *table = &printer->diff->tables[id];
    const struct diff_figure *figure = &row->figures[table->judged];
    add_change(printer, grid, row, figure);
    add_means(printer, grid, &table->columns[table->judged], figure);
    add_n(printer, grid, row);
    add_difference(printer, grid, &table->columns[table->judged], figure, row->is_change);
    note_subject(printer, grid, row);
    return id == DIFF_SITES ? note_callers(printer, grid, row, err) : 0;
}

static const char *share_heading(enum diff_table_id id) {
    switch (id) {
    case DIFF_CELLS: return "per commit";
    case DIFF_CHANNELS: return "blocked";
    case DIFF_FIBERS: return "spawns";
    case DIFF_WAITS: return "waited";
    default: return "contended";
    }
}

static void start_object_grid(const struct printer *printer, enum diff_table_id id, struct grid *grid) {
    const struct diff_table *table = &printer->diff->tables[id];
    struct buffer old = {0}, new = {0};
    grid->indent = "  ";
    grid->columns = (printer->has_spread ? 7 : 4) + (id == DIFF_LOCKS);
    buffer_printf(&old, "old %s", table->columns[table->judged].heading);
    buffer_printf(&new, "new %s", table->columns[table->judged].heading);
    grid_left(grid, "change");
    add_mean_headings(printer, grid, buffer_text(&old), buffer_text(&new));
    grid_left(grid, share_heading(id));
    if (id == DIFF_LOCKS) grid_left(grid, "held");
    if (printer->has_spread) grid_left(grid, "n");
    buffer_free(&old);
    buffer_free(&new);
}

static double ratio(double part, double whole) {
    return part == 0 ? 0 : whole == 0 ? INFINITY : part / whole;
}

/* "2 % -> 50 %" of the operations of a lock or channel waited; "0.1 -> 3.0" retries per commit; "40 -> 80" fibers. */
static void add_share(struct grid *grid, enum diff_table_id id, const struct diff_row *row) {
    const struct noise *all = &row->figures[id == DIFF_CELLS ? 1 : 0].noise;
    const struct noise *part = &row->figures[id == DIFF_CELLS ? 0 : 1].noise;
    double before = ratio(part->old.mean, all->old.mean), after = ratio(part->new.mean, all->new.mean);
    struct buffer text = {0};
    if (id == DIFF_FIBERS)
        buffer_printf(&text, "%s -> %s", diff_value(FIGURE_COUNT, all->old.mean, false).text,
                      diff_value(FIGURE_COUNT, all->new.mean, false).text);
    else if (id == DIFF_CELLS)
        buffer_printf(&text, "%.1f -> %.1f", before, after);
    else
        buffer_printf(&text, "%.0f %% -> %.0f %%", fmin(100 * before, 100), fmin(100 * after, 100));
    grid_right(grid, buffer_text(&text));
    buffer_free(&text);
}

/* "2.0 ms -> 5.1 s": how long a lock was held in all. */
static void add_held(struct grid *grid, const struct diff_figure *hold) {
    struct buffer text = {0};
    if (hold->noise.old.mean != 0 || hold->noise.new.mean != 0)
        buffer_printf(&text, "%s -> %s", diff_value(FIGURE_NS, hold->noise.old.mean, false).text,
                      diff_value(FIGURE_NS, hold->noise.new.mean, false).text);
    grid_right(grid, buffer_text(&text));
    buffer_free(&text);
}

/* "timeouts 0 -> 12, failed tries 3 -> 9": how often the lock was not got, where that changed. */
static void note_endings(struct grid *grid, const struct diff_table *table, const struct diff_row *row) {
    struct buffer line = {0};
    for (size_t i = LOCK_TIMEOUTS; i < LOCK_COLUMNS; i++) {
        const struct noise *noise = &row->figures[i].noise;
        if (!row->figures[i].is_change) continue;
        buffer_printf(&line, "%s%s %s -> %s", line.size ? ", " : "        ", table->columns[i].heading,
                      diff_value(FIGURE_COUNT, noise->old.mean, false).text,
                      diff_value(FIGURE_COUNT, noise->new.mean, false).text);
    }
    if (line.size) grid_note(grid, buffer_text(&line));
    buffer_free(&line);
}

/* The figure by which the row of a lock is called a change. */
static const struct diff_figure *cause_of_lock(const struct diff_row *row) {
    static const size_t order[] = {LOCK_WAIT,       LOCK_CONTENDED, LOCK_HOLD,
                                   LOCK_UNFINISHED, LOCK_TIMEOUTS,  LOCK_FAILED_TRIES};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (row->figures[order[i]].is_change) return &row->figures[order[i]];
    return &row->figures[LOCK_WAIT];
}

static void add_object(const struct printer *printer, enum diff_table_id id, struct grid *grid,
                       const struct diff_row *row) {
    const struct diff_table *table = &printer->diff->tables[id];
    const struct diff_figure *figure = &row->figures[table->judged];
    /* What the row is called a change by, where it is not the judged figure. */
    const struct diff_figure *cause = figure;
    if (!figure->is_change && id == DIFF_FIBERS) cause = &row->figures[0];
    if (!figure->is_change && id == DIFF_LOCKS) cause = cause_of_lock(row);
    if (!figure->is_change && id == DIFF_WAITS) cause = &row->figures[LOCK_CONTENDED];
    add_change(printer, grid, row, cause);
    add_means(printer, grid, &table->columns[table->judged], figure);
    add_share(grid, id, row);
    if (id == DIFF_LOCKS) add_held(grid, &row->figures[LOCK_HOLD]);
    add_n(printer, grid, row);
    note_subject(printer, grid, row);
    if (id == DIFF_LOCKS) note_endings(grid, table, row);
}

/* ---- a table ---- */

/* New and gone rows are always shown, however large other changes are. */
enum group { GROUP_CHANGED, GROUP_ADDED, GROUP_GONE, GROUP_SAME, GROUPS };

static bool is_in_noise(const struct diff_table *table, const struct diff_row *row) {
    return !row->is_change && row->figures[table->judged].is_in_noise;
}

static enum group group_of(const struct diff_table *table, const struct diff_row *row) {
    if (is_in_noise(table, row)) return GROUP_SAME;
    if (row->presence == DIFF_ADDED) return GROUP_ADDED;
    if (row->presence == DIFF_GONE) return GROUP_GONE;
    return row->is_change ? GROUP_CHANGED : GROUP_SAME;
}

static void add_count(struct buffer *line, size_t count, const char *what) {
    buffer_printf(line, "%s%s %s", line->size ? ", " : "", count ? units_count((int64_t)count).text : "none", what);
}

/* "2 changed, 1 new, none eliminated, 30 unchanged, 4 of them within the noise" */
static void print_counts(const struct printer *printer, enum diff_table_id id) {
    const struct diff_table *table = &printer->diff->tables[id];
    size_t counts[GROUPS] = {0}, noise = 0;
    struct buffer line = {0};
    for (size_t i = 0; i < table->count; i++) {
        counts[group_of(table, &table->rows[i])]++;
        noise += is_in_noise(table, &table->rows[i]);
    }
    add_count(&line, counts[GROUP_CHANGED], "changed");
    add_count(&line, counts[GROUP_ADDED], "new");
    add_count(&line, counts[GROUP_GONE], diff_is_object(id) && id != DIFF_FIBERS ? "gone" : "eliminated");
    add_count(&line, counts[GROUP_SAME], "unchanged");
    if (noise)
        buffer_printf(&line, " (%s of them %s %s)", units_count((int64_t)noise).text, noise == 1 ? "differs" : "differ",
                      printer->has_spread ? "within the noise" : "too little to count");
    print_cut(printer, "  ", buffer_text(&line));
    buffer_free(&line);
}

static int print_rows(const struct printer *printer, enum diff_table_id id, struct error *err) {
    const struct diff_table *table = &printer->diff->tables[id];
    const struct diff_row **rows = diff_sorted(table);
    struct grid grid = {.width = report_width(printer->out)};
    bool is_object = diff_is_object(id);
    int64_t top = printer->diff->options->top ? printer->diff->options->top : INT64_MAX, shown = 0, left = 0;
    int code = 0;
    if (is_object)
        start_object_grid(printer, id, &grid);
    else
        start_function_grid(printer, &grid);
    for (enum group group = 0; group < GROUPS && code == 0; group++) {
        int64_t of_group = 0;
        bool is_wanted = group != GROUP_SAME || !printer->diff->options->top;
        for (size_t i = 0; i < table->count && code == 0 && is_wanted; i++) {
            if (group_of(table, rows[i]) != group) continue;
            if (++of_group > top) left++;
            if (of_group > top) continue;
            if (is_object) add_object(printer, id, &grid, rows[i]);
            if (!is_object) code = add_function(printer, id, &grid, rows[i], err);
            shown++;
        }
    }
    if (code == 0 && shown) grid_print(&grid, printer->out, true);
    if (code == 0 && left) fprintf(printer->out, "  and %s more (--top 0 shows all)\n", units_count(left).text);
    grid_free(&grid);
    free(rows);
    return code;
}

static int print_table(const struct printer *printer, enum diff_table_id id, struct error *err) {
    const struct diff_table *table = &printer->diff->tables[id];
    struct buffer title = {0};
    if (!table->count) return 0;
    if (id == DIFF_FUNCTIONS || id == DIFF_SITES)
        buffer_printf(&title, "heap by %s, %s%s", table->by, heap_by_heading(printer->diff->options->by),
                      id == DIFF_FUNCTIONS && printer->diff->options->cumulative ? ", with callees" : "");
    else if (id == DIFF_IO || id == DIFF_MAPS)
        buffer_printf(&title, "%s by function, %s%s", table->section, table->columns[table->judged].heading,
                      printer->diff->options->cumulative ? ", with callees" : "");
    else if (id == DIFF_CPU || id == DIFF_SAMPLES)
        buffer_printf(&title, "%s by function%s", table->section,
                      printer->diff->options->cumulative ? ", with callees" : "");
    else if (id == DIFF_FIBERS)
        buffer_add_text(&title, "fibers by task site");
    else
        buffer_add_text(&title, table->section);
    print_title(printer, buffer_text(&title));
    buffer_free(&title);
    print_counts(printer, id);
    const char **names = xcalloc(table->count, sizeof *names);
    for (size_t i = 0; i < table->count; i++)
        names[i] = table->rows[i].subject;
    struct shown_names shown;
    shown_names_init(&shown, names, table->count, printer->diff->options->full_names);
    struct printer of_table = *printer;
    of_table.names = &shown;
    int code = print_rows(&of_table, id, err);
    shown_names_free(&shown);
    free(names);
    return code;
}

/* An ingested file often has no duration, and no peak: that is not a difference. */
static bool is_unknown(size_t column, const struct noise *noise) {
    if (column == TOTAL_DURATION || column == TOTAL_PEAK) return noise->old.mean == 0 || noise->new.mean == 0;
    return noise->old.mean == 0 && noise->new.mean == 0;
}

static const char *total_change(const struct printer *printer, size_t total) {
    const struct diff_figure *figure = &printer->diff->tables[DIFF_TOTALS].rows[0].figures[total];
    if (diff_is_unsure(printer->diff, total)) return "unsure";
    if (!figure->is_change) return !figure->is_in_noise ? "same" : printer->has_spread ? "noise" : "too little";
    return figure->delta > 0 ? "\u2191 up" : "\u2193 down";
}

static void print_totals(const struct printer *printer) {
    const struct diff_table *table = &printer->diff->tables[DIFF_TOTALS];
    const struct diff_row *row = &table->rows[0];
    struct grid grid = {.indent = "  ", .width = report_width(printer->out), .columns = printer->has_spread ? 9 : 6};
    grid_left(&grid, "");
    grid_left(&grid, "change");
    add_mean_headings(printer, &grid, "old", "new");
    if (printer->has_spread) grid_left(&grid, "n");
    grid_left(&grid, "difference");
    grid_left(&grid, "%");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct diff_figure *figure = &row->figures[i];
        if (is_unknown(i, &figure->noise) || diff_is_unrecorded(printer->diff, i)) continue;
        grid_left(&grid, table->columns[i].heading);
        grid_left(&grid, total_change(printer, i));
        grid_style(&grid, change_style(printer, figure, figure->is_change));
        add_means(printer, &grid, &table->columns[i], figure);
        add_n(printer, &grid, row);
        add_difference(printer, &grid, &table->columns[i], figure, figure->is_change);
    }
    if (grid.count > grid.columns) {
        print_title(printer, "totals");
        grid_print(&grid, printer->out, true);
    }
    grid_free(&grid);
}

/* A kind and sample type of clear export; NULL: none. */
struct proposal {
    const char *kind, *type;
};

static bool has_change(const struct diff_table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].is_change) return true;
    return false;
}

/* Whether a row's figure changed. */
static bool has_change_of(const struct diff_table *table, size_t column) {
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].figures[column].is_change) return true;
    return false;
}

/* What a picture of the difference should show: what changed; nothing without a change. */
static struct proposal proposal_of(const struct diff *diff) {
    const struct diff_table *sites = &diff->tables[DIFF_SITES], *locks = &diff->tables[DIFF_LOCKS];
    struct proposal asked = {"heap", heap_by_type(diff->options->by)};
    if (has_change(sites)) return asked;
    for (enum heap_by by = HEAP_BYTES; by <= HEAP_INUSE_ALLOCS; by++)
        if (has_change_of(sites, by)) return (struct proposal){"heap", heap_by_type(by)};
    if (has_change_of(locks, LOCK_WAIT)) return (struct proposal){"lock", "delay"};
    if (has_change_of(locks, LOCK_HOLD)) return (struct proposal){"lock", "hold"};
    if (has_change(&diff->tables[DIFF_WAITS])) return (struct proposal){"wait", "delay"};
    if (has_change(&diff->tables[DIFF_CPU])) return (struct proposal){"cpu", "cpu"};
    if (has_change(&diff->tables[DIFF_IO])) return (struct proposal){"io", "calls"};
    if (has_change(&diff->tables[DIFF_MAPS])) return (struct proposal){"mmap", "mapped_space"};
    if (diff->tables[DIFF_TOTALS].rows[0].figures[TOTAL_CPU].is_change) return (struct proposal){"cpu", "cpu"};
    return (struct proposal){0};
}

/* An export sums the runs of a set, so two sets with different numbers of runs would differ by that alone. */
static void print_next(const struct printer *printer) {
    const struct diff *diff = printer->diff;
    const struct diff_options *options = diff->options;
    struct buffer line = {0};
    if (options->sides[DIFF_OLD].runs.items[0].db->is_private || diff->run_count[DIFF_OLD] != diff->run_count[DIFF_NEW])
        return;
    for (int side = DIFF_OLD; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < options->sides[side].runs.count; i++)
            if (options->sides[side].runs.items[i].db != options->sides[DIFF_OLD].runs.items[0].db) return;
    struct proposal proposal = proposal_of(diff);
    if (!proposal.kind) return;
    buffer_add_text(&line, "  clear export ");
    warehouse_words_add(&line, options->sides[DIFF_OLD].runs.items[0].db);
    for (int side = DIFF_SIDES - 1; side >= DIFF_OLD; side--) {
        buffer_add_text(&line, side == DIFF_OLD ? " --base " : " ");
        for (size_t i = 0; i < options->sides[side].runs.count; i++) {
            const struct run_item *item = &options->sides[side].runs.items[i];
            struct error ignored = {0};
            buffer_add_text(&line, i ? "," : "");
            (void)run_word_add(&line, item->db, item->id, &ignored);
        }
    }
    print_title(printer, "next");
    fprintf(printer->out, "%s --kind %s --type %s -o what-changed.svg\n", buffer_text(&line), proposal.kind,
            proposal.type);
    buffer_free(&line);
}

static int print_all(const struct printer *printer, struct error *err) {
    struct buffer quote = {0};
    for (int side = 0; side < DIFF_SIDES; side++)
        if (print_side(printer, side, err) < 0) return -1;
    print_rule(printer);
    print_filters(printer);
    print_losses(printer);
    print_totals(printer);
    for (enum diff_table_id id = DIFF_FUNCTIONS; id < DIFF_TABLES; id++)
        if (print_table(printer, id, err) < 0) return -1;
    print_next(printer);
    diff_quote(printer->diff, &quote);
    fprintf(printer->out, "\n%s\n", buffer_text(&quote));
    buffer_free(&quote);
    return 0;
}

int diff_print(FILE *out, const struct diff_options *options, struct error *err) {
    struct diff diff;
    int code = diff_make(&diff, options, err);
    struct printer printer = {.out = out, .diff = &diff, .has_spread = diff.runs > 2};
    if (code == 0) code = print_all(&printer, err);
    diff_free(&diff);
    return code;
}
