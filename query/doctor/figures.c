#include "base/path.h"
#include "query/doctor/findings.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "query/code/source_text.h"
#include "query/profile/plain_name.h"
#include "query/profile/start_up.h"
#include "schema/schema.h"

enum { FRAMES_SHOWN = 4, SOURCE_WIDTH_MIN = 20 };

static const char *severity_style(const struct doctor_report *report, const char *severity) {
    if (!report->options->colour) return NULL;
    if (strcmp(severity, "critical") == 0) return "\033[1;31m";
    return strcmp(severity, "warning") == 0 ? "\033[33m" : NULL;
}

/* ---- figures ---- */

enum figure_unit { UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_PERCENT };

/* The columns of each section: a key of the evidence, its heading, its unit. A figure with a code is no column, but stands in a line
 * below the findings of that code. */
static const struct figure {
    const char *section, *key, *heading;
    enum figure_unit unit;
    const char *code;
} figures[] = {
    {"saturation", "count", "count", UNIT_COUNT},
    {"saturation", "percent", "of all", UNIT_PERCENT},
    {"heap", "inuse_bytes", "live", UNIT_BYTES},
    {"heap", "inuse_count", "blocks", UNIT_COUNT},
    {"heap", "live_percent", "of live", UNIT_PERCENT},
    {"heap", "alloc_bytes", "allocated", UNIT_BYTES},
    {"heap", "alloc_count", "allocs", UNIT_COUNT},
    {"heap", "alloc_percent", "of all", UNIT_PERCENT},
    {"heap", "mean_bytes", "mean size", UNIT_BYTES},
    {"heap", "temporary_count", "freed at once", UNIT_COUNT, "temporary"},
    {"heap", "step_count", "small steps", UNIT_COUNT, "quadratic-growth"},
    {"heap", "step_bytes", "resized in them", UNIT_BYTES, "quadratic-growth"},
    {"heap", "resize_growth_bytes", "for a growth of", UNIT_BYTES, "quadratic-growth"},
    {"heap", "growth_bytes", "grown in the middle three fifths of the run by", UNIT_BYTES, "growth"},
    {"heap", "peak_bytes", "live at the peak", UNIT_BYTES, "peak"},
    {"heap", "average_live_bytes", "in the mean of the run", UNIT_BYTES, "peak"},
    {"lock", "acquires", "exclusive", UNIT_COUNT},
    {"lock", "read_acquires", "shared", UNIT_COUNT},
    {"lock", "contended_percent", "contended", UNIT_PERCENT},
    {"lock", "wait_ns", "waited", UNIT_NS},
    {"lock", "max_wait_ns", "longest", UNIT_NS},
    {"lock", "mean_hold_ns", "mean hold", UNIT_NS},
    {"trace", "count", "count", UNIT_COUNT},
    {"trace", "time_ns", "time", UNIT_NS},
    {"trace", "behind_percent", "behind others", UNIT_PERCENT, "convoy"},
    {"trace", "most_waiters", "most waiters", UNIT_COUNT, "convoy"},
    {"trace", "back_count", "other order", UNIT_COUNT, "inversion"},
    {"trace", "p50_ns", "median", UNIT_NS, "long-region"},
    {"trace", "p99_ns", "99 %", UNIT_NS, "long-region"},
    {"trace", "max_ns", "longest", UNIT_NS, "long-region"},
    {"trace", "off_cpu_ns", "off CPU", UNIT_NS, "long-region"},
    {"thread", "started", "started", UNIT_COUNT},
    {"thread", "mean_life_ns", "mean life", UNIT_NS},
    {"thread", "short_percent", "below 1 ms", UNIT_PERCENT},
    {"thread", "cost_ns", "costs about", UNIT_NS},
    {"thread", "yields", "yields", UNIT_COUNT, "busy-wait"},
    {"thread", "failed_tries", "failed tries", UNIT_COUNT, "busy-wait"},
    {"thread", "short_sleeps", "sleeps below 1 ms", UNIT_COUNT, "busy-wait"},
    {"thread", "sleep_ns", "slept", UNIT_NS, "busy-wait"},
    {"wait", "waits", "waits", UNIT_COUNT},
    {"wait", "wait_ns", "waited", UNIT_NS},
    {"wait", "wait_percent", "of the run", UNIT_PERCENT},
    {"wait", "futile_wakes", "in vain", UNIT_COUNT},
    {"io", "calls", "calls", UNIT_COUNT},
    {"io", "small_percent", "below 512 B", UNIT_PERCENT},
    {"io", "mean_bytes", "mean of these", UNIT_BYTES},
    {"io", "time_ns", "time in calls", UNIT_NS},
    {"lock", "io_ns", "input and output under it", UNIT_NS, "work-under-lock"},
    {"lock", "work_allocs", "allocations", UNIT_COUNT, "work-under-lock"},
    {"lock", "work_allocs", "allocations after it is taken", UNIT_COUNT, "hot-long"},
    {"lock", "work_allocs", "allocations after it is taken", UNIT_COUNT, "starved"},
    {"lock", "work_allocs", "allocations after it is taken", UNIT_COUNT, "contended"},
    {"channel", "capacity", "capacity", UNIT_COUNT},
    {"channel", "max_depth", "deepest", UNIT_COUNT},
    {"channel", "pushes", "pushes", UNIT_COUNT},
    {"channel", "push_blocked_percent", "waited", UNIT_PERCENT},
    {"channel", "pops", "pops", UNIT_COUNT},
    {"channel", "pop_blocked_percent", "waited", UNIT_PERCENT},
    {"channel", "wait_ns", "all waits", UNIT_NS},
    {"cell", "struct_size", "size", UNIT_BYTES},
    {"cell", "reads", "reads", UNIT_COUNT},
    {"cell", "commits", "commits", UNIT_COUNT},
    {"cell", "retries", "retries", UNIT_COUNT},
    {"cell", "update_failures", "given up", UNIT_COUNT},
    {"cell", "cow_bytes", "copied", UNIT_BYTES},
    {"sharing", "hitm", "HITM", UNIT_COUNT},
    {"sharing", "hitm_percent", "of all", UNIT_PERCENT},
    {"sharing", "false_percent", "false", UNIT_PERCENT},
    {"sharing", "stores", "stores", UNIT_COUNT},
    {"sharing", "threads", "threads", UNIT_COUNT},
    {"sharing", "addresses", "addresses", UNIT_COUNT},
    {"sharing", "latency_cycles", "cycles per load", UNIT_COUNT},
    {"freeze", "alloc_count", "allocations", UNIT_COUNT},
    {"freeze", "mean_bytes", "mean size", UNIT_BYTES},
    {"freeze", "llc_miss_percent", "cache misses", UNIT_PERCENT},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static bool is_column(const struct figure *figure, const struct finding *finding) {
    return !figure->code && strcmp(figure->section, finding->section) == 0;
}

static bool is_line(const struct figure *figure, const struct finding *finding) {
    return figure->code && strcmp(figure->section, finding->section) == 0 && strcmp(figure->code, finding->code) == 0;
}

static struct units_text in_unit(enum figure_unit unit, int64_t value) {
    struct units_text text;
    switch (unit) {
    case UNIT_BYTES: return units_bytes(value);
    case UNIT_NS: return units_ns(value);
    case UNIT_COUNT: return units_count(value);
    case UNIT_PERCENT: break;
    }
    snprintf(text.text, sizeof text.text, "%lld %%", (long long)value);
    return text;
}

/* Mean sizes of tiny blocks differ by less than a byte: 2.5 B. */
static struct units_text figure_text(enum figure_unit unit, sqlite3_stmt *row) {
    struct units_text text;
    double value = sqlite3_column_double(row, 0);
    if (unit != UNIT_BYTES || value == floor(value) || fabs(value) >= 10) return in_unit(unit, llround(value));
    snprintf(text.text, sizeof text.text, "%.1f B", value);
    return text;
}

/* The number of live blocks of a sampled run: "900 ±65 %", the half width of its 95 % interval. */
static int add_interval(struct doctor_report *report, const struct finding *finding, const struct figure *figure,
                        struct buffer *text, struct error *err) {
    if (strcmp(figure->key, "inuse_count") != 0) return 0;
    sqlite3_stmt *row = db_prepare(report->db, "SELECT :evidence ->> 'error_percent'", err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    int code = db_step(report->db, row, err);
    if (code == 1 && sqlite3_column_type(row, 0) == SQLITE_INTEGER)
        buffer_printf(text, " ±%lld %%", (long long)sqlite3_column_int64(row, 0));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* Adds the figure's text, nothing where it is not known. */
static int figure_value(struct doctor_report *report, const struct finding *finding, const struct figure *figure,
                        struct buffer *text, struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, "SELECT value FROM json_each(:evidence) WHERE key = :key", err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    db_bind_text(row, ":key", figure->key);
    int code = db_step(report->db, row, err);
    if (code < 0) return -1;
    bool known = code == 1 && sqlite3_column_type(row, 0) != SQLITE_NULL;
    /* Dumps have the number of waits at a channel, but not their time. */
    if (strcmp(figure->section, "channel") == 0 && figure->unit == UNIT_NS && known)
        known = sqlite3_column_int64(row, 0);
    buffer_add_text(text, known ? figure_text(figure->unit, row).text : "");
    sqlite3_reset(row);
    return known ? add_interval(report, finding, figure, text, err) : 0;
}

static int add_figure(struct doctor_report *report, struct grid *grid, const struct finding *finding,
                      const struct figure *figure, struct error *err) {
    struct buffer text = {0};
    int code = figure_value(report, finding, figure, &text, err);
    grid_right(grid, buffer_text(&text));
    buffer_free(&text);
    return code;
}

static bool ends_in(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size > tail && strcmp(text + size - tail, end) == 0;
}

/* "lifetime 1.2 s" of lifetime_ns 1200000000, "busiest 93 %" of busiest_percent 93, "ipc 0.71" as it is. */
static void add_evidence_text(struct buffer *out, sqlite3_stmt *row) {
    static const struct {
        const char *end;
        enum figure_unit unit;
    } units[] = {{"_ns", UNIT_NS}, {"_bytes", UNIT_BYTES}, {"_percent", UNIT_PERCENT}};
    const char *key = db_text(row, 0), *end = "";
    struct units_text value = {""};
    if (sqlite3_column_type(row, 1) == SQLITE_INTEGER) value = in_unit(UNIT_COUNT, sqlite3_column_int64(row, 1));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_in(key, units[i].end) && sqlite3_column_type(row, 1) != SQLITE_TEXT) {
            end = units[i].end;
            value = in_unit(units[i].unit, sqlite3_column_int64(row, 1));
        }
    for (size_t i = 0; i < strlen(key) - strlen(end); i++)
        buffer_add_char(out, key[i] == '_' ? ' ' : key[i]);
    buffer_printf(out, " %s", *value.text ? value.text : db_text(row, 1));
}

/* Adds "KEY VALUE" to the line of a finding; a full line becomes a note of the grid. */
static void note_part(const struct doctor_report *report, struct grid *grid, struct buffer *line, const char *part) {
    int left = report->width - grid_width(buffer_text(line), line->size);
    if (line->size && grid_width(part, strlen(part)) + 3 > left) {
        buffer_add_char(line, ',');
        grid_note(grid, buffer_text(line));
        buffer_clear(line);
    }
    buffer_add_text(line, line->size ? ", " : "      ");
    grid_visible(line, part, report->width - 7);
}

/* The figures of a code that are no columns: "live at the peak 96.0 MiB, in the mean of the run 4.0 KiB". */
static int note_figures(struct doctor_report *report, struct grid *grid, const struct finding *finding,
                        struct error *err) {
    struct buffer part = {0}, line = {0};
    int code = 0;
    for (size_t i = 0; i < FIGURES && code == 0; i++) {
        if (!is_line(&figures[i], finding)) continue;
        buffer_clear(&part);
        buffer_printf(&part, "%s ", figures[i].heading);
        size_t heading = part.size;
        code = figure_value(report, finding, &figures[i], &part, err);
        if (part.size > heading) note_part(report, grid, &line, buffer_text(&part));
    }
    if (code == 0 && line.size) grid_note(grid, buffer_text(&line));
    buffer_free(&part);
    buffer_free(&line);
    return code;
}

/* A section without columns of its own prints its evidence as text: "pushes 12, push blocked 3". */
static int note_evidence(struct doctor_report *report, struct grid *grid, const struct finding *finding,
                         struct error *err) {
    sqlite3_stmt *row = db_prepare(
        report->db, "SELECT key, value FROM json_each(:evidence) WHERE type NOT IN ('array', 'object', 'null')", err);
    struct buffer part = {0}, line = {0};
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    int code;
    while ((code = db_step(report->db, row, err)) == 1) {
        buffer_clear(&part);
        add_evidence_text(&part, row);
        note_part(report, grid, &line, buffer_text(&part));
    }
    if (code == 0 && line.size) grid_note(grid, buffer_text(&line));
    buffer_free(&part);
    buffer_free(&line);
    return code;
}

/* ---- stacks ---- */

/* "  table.c:42", or "  (libfoo.so)" if the line is not known. */
static void add_place(struct buffer *out, sqlite3_stmt *frame) {
    const char *file = db_text(frame, 1);
    struct buffer place = {0};
    if (*file && sqlite3_column_int64(frame, 2))
        buffer_printf(&place, "  %s:%s", path_base(file), db_text(frame, 2));
    else if (*file || *db_text(frame, 3))
        buffer_printf(&place, "  (%s)", *file ? file : db_text(frame, 3));
    grid_visible(out, buffer_text(&place), REPORT_WIDTH / 2);
    buffer_free(&place);
}

/* Appends the source text of a frame's line, in what is left of the width: "  ledger.cht:2: entry = Entry{ ... }". Nothing if fewer
 * than SOURCE_WIDTH_MIN columns are left, or if the run has no text of the file. */
static int add_source(struct doctor_report *report, int width, sqlite3_stmt *frame, struct buffer *place,
                      struct error *err) {
    struct buffer text = {0};
    int code = source_text_line(report->db, report->options->run_id, db_text(frame, 1), sqlite3_column_int64(frame, 2),
                                &text, err);
    int left = width - grid_width(buffer_text(place), place->size) - 2;
    if (code == 1 && left >= SOURCE_WIDTH_MIN) {
        buffer_add_text(place, ": ");
        grid_visible(place, buffer_text(&text), left);
    }
    buffer_free(&text);
    return code < 0 ? -1 : 0;
}

/* A name in `name_style`, and its source position if `frame` is given. */
static int note_name(struct doctor_report *report, struct grid *grid, int indent, const char *full_name,
                     const char *name_style, sqlite3_stmt *frame, struct error *err) {
    struct buffer place = {0}, line = {0}, plain = {0};
    const char *name = plain_name_unless(report->options->full_names, full_name, &plain);
    int code = 0;
    if (frame) {
        int width = report->width - indent - grid_width(name, strlen(name));
        add_place(&place, frame);
        code = add_source(report, width, frame, &place, err);
    }
    buffer_printf(&line, "%*s%s", indent, "", name_style);
    grid_visible(&line, name, report->width - indent - grid_width(buffer_text(&place), place.size));
    buffer_printf(&line, "%s%s", *name_style ? GRID_PLAIN : "", buffer_text(&place));
    grid_note(grid, buffer_text(&line));
    buffer_free(&place);
    buffer_free(&line);
    buffer_free(&plain);
    return code;
}

/* The subject and the top of its first stack, without the wrappers of allocators and locks at the leaf. If the subject is not a
 * function but, say, a lock, the stack is printed below it. */
static int note_stack(struct doctor_report *report, struct grid *grid, const struct finding *finding,
                      struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/stack.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", finding->trace_id);
    db_bind_text(row, ":subject", finding->subject);
    db_bind_int(row, ":count", FRAMES_SHOWN);
    int code = db_step(report->db, row, err);
    bool is_frame = code == 1 && strcmp(db_text(row, 0), finding->subject) == 0;
    if (code >= 0 && note_name(report, grid, 6, finding->subject, doctor_bold(report), is_frame ? row : NULL, err))
        code = -1;
    if (code == 1 && is_frame) code = db_step(report->db, row, err);
    for (; code == 1; code = db_step(report->db, row, err))
        if (!start_up_is_frame(db_text(row, 0)) && note_name(report, grid, 8, db_text(row, 0), "", row, err)) {
            code = -1;
            break;
        }
    sqlite3_reset(row);
    return code;
}

/* ---- a row ---- */

void doctor_start_grid(const struct finding *first, struct grid *grid) {
    grid->indent = "  ";
    grid->columns = 2;
    for (size_t i = 0; i < FIGURES; i++)
        grid->columns += is_column(&figures[i], first);
    grid_left(grid, "severity");
    grid_left(grid, "code");
    for (size_t i = 0; i < FIGURES; i++)
        if (is_column(&figures[i], first)) grid_left(grid, figures[i].heading);
}

int doctor_add_finding(struct doctor_report *report, struct grid *grid, struct finding *finding, struct error *err) {
    int code = 0;
    grid_left(grid, finding->severity);
    grid_style(grid, severity_style(report, finding->severity));
    grid_left(grid, finding->code);
    for (size_t i = 0; i < FIGURES && code == 0; i++)
        if (is_column(&figures[i], finding)) code = add_figure(report, grid, finding, &figures[i], err);
    if (code == 0) code = note_stack(report, grid, finding, err);
    if (code == 0) code = note_figures(report, grid, finding, err);
    if (code == 0 && grid->columns == 2) code = note_evidence(report, grid, finding, err);
    finding->shown = true;
    return code;
}
