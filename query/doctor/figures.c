#include "base/path.h"
#include "query/doctor/findings.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "query/code/source_text.h"
#include "query/profile/start_up.h"
#include "query/profile/usual_name.h"
#include "schema/figure_kinds.h"
#include "schema/schema.h"

enum { FRAMES_SHOWN = 4, SOURCE_WIDTH_MIN = 20 };

/* ---- figures ---- */

/* In the catalogue of figures those of clear doctor. */
static bool is_of(const struct figure_column *figure, const struct finding *finding) {
    return strcmp(figure->report, "doctor") == 0 && strcmp(figure->section, finding->section) == 0;
}

static bool is_column(const struct figure_column *figure, const struct finding *finding) {
    return is_of(figure, finding) && !*figure->code;
}

static bool is_line(const struct figure_column *figure, const struct finding *finding) {
    return is_of(figure, finding) && strcmp(figure->code, finding->code) == 0;
}

static struct units_text in_unit(enum figure_unit unit, int64_t value) {
    struct units_text text;
    switch (unit) {
    case FIGURE_BYTES: return units_bytes(value);
    case FIGURE_NS: return units_ns(value);
    case FIGURE_COUNT: return units_count(value);
    case FIGURE_PERCENT:
    case FIGURE_OWN_UNIT: break;
    }
    snprintf(text.text, sizeof text.text, "%lld %%", (long long)value);
    return text;
}

/* Mean sizes of tiny blocks differ by less than a byte: 2.5 B. */
static struct units_text figure_text(enum figure_unit unit, sqlite3_stmt *row) {
    struct units_text text;
    double value = sqlite3_column_double(row, 0);
    if (unit != FIGURE_BYTES || value == floor(value) || fabs(value) >= 10) return in_unit(unit, llround(value));
    snprintf(text.text, sizeof text.text, "%.1f B", value);
    return text;
}

/* The half width of the 95 % interval: "900 (within 65 %)" of the live blocks of a sampled run and of their bytes, "88 % (within 9 points)" of a share of
 * CPU time. */
static int add_interval(struct doctor_report *report, const struct finding *finding, const struct figure_column *figure,
                        struct buffer *text, struct error *err) {
    static const struct {
        const char *figure, *error, *unit;
    } intervals[] = {{"cpu_percent", "cpu_error_points", "points"},
                     {"inuse_count", "error_percent", "%"},
                     {"inuse_bytes", "bytes_error_percent", "%"}};
    size_t i = 0, count = sizeof intervals / sizeof *intervals;
    while (i < count && strcmp(figure->name, intervals[i].figure) != 0)
        i++;
    if (i == count) return 0;
    sqlite3_stmt *row = db_prepare(report->db, "SELECT :evidence ->> :key", err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    db_bind_text(row, ":key", intervals[i].error);
    int code = db_step(report->db, row, err);
    if (code == 1 && sqlite3_column_type(row, 0) == SQLITE_INTEGER)
        buffer_printf(text, " (within %lld %s)", (long long)sqlite3_column_int64(row, 0), intervals[i].unit);
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* Adds the figure's text, nothing where it is not known. */
static int figure_value(struct doctor_report *report, const struct finding *finding, const struct figure_column *figure,
                        struct buffer *text, struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, "SELECT value FROM json_each(:evidence) WHERE key = :key", err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    db_bind_text(row, ":key", figure->name);
    int code = db_step(report->db, row, err);
    if (code < 0) return -1;
    bool known = code == 1 && sqlite3_column_type(row, 0) != SQLITE_NULL;
    /* Dumps have the number of waits at a channel, but not their time. */
    if (strcmp(figure->section, "channel") == 0 && figure->unit == FIGURE_NS && known)
        known = sqlite3_column_int64(row, 0);
    buffer_add_text(text, known ? figure_text(figure->unit, row).text : "");
    sqlite3_reset(row);
    return known ? add_interval(report, finding, figure, text, err) : 0;
}

static int add_figure(struct doctor_report *report, struct grid *grid, const struct finding *finding,
                      const struct figure_column *figure, struct error *err) {
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
    } units[] = {{"_ns", FIGURE_NS}, {"_bytes", FIGURE_BYTES}, {"_percent", FIGURE_PERCENT}};
    const char *key = db_text(row, 0), *end = "";
    struct units_text value = {""};
    if (sqlite3_column_type(row, 1) == SQLITE_INTEGER) value = in_unit(FIGURE_COUNT, sqlite3_column_int64(row, 1));
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
    for (const struct figure_column *figure = figure_columns(); figure->name && code == 0; figure++) {
        if (!is_line(figure, finding)) continue;
        buffer_clear(&part);
        buffer_printf(&part, "%s ", figure->heading);
        size_t heading = part.size;
        code = figure_value(report, finding, figure, &part, err);
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

/* A name in `name_style` after `margin`, and its source position if `frame` is given. */
static int note_name(struct doctor_report *report, struct grid *grid, const char *margin, const char *full_name,
                     const char *name_style, sqlite3_stmt *frame, struct error *err) {
    struct buffer place = {0}, line = {0}, plain = {0};
    const char *name = usual_name_unless(report->options->full_names, full_name, &plain);
    int code = 0, indent = (int)strlen(margin);
    if (frame) {
        int width = report->width - indent - grid_width(name, strlen(name));
        add_place(&place, frame);
        code = add_source(report, width, frame, &place, err);
    }
    buffer_printf(&line, "%s%s", margin, name_style);
    grid_visible(&line, name, report->width - indent - grid_width(buffer_text(&place), place.size));
    buffer_printf(&line, "%s%s", *name_style ? GRID_PLAIN : "", buffer_text(&place));
    grid_note(grid, buffer_text(&line));
    buffer_free(&place);
    buffer_free(&line);
    buffer_free(&plain);
    return code;
}

/* A subject that is not the program's own, behind the line of its own code that calls it; a lock that a library takes, before that line. */
static void note_own_name(struct doctor_report *report, struct grid *grid, const char *margin,
                          const struct finding *finding) {
    struct buffer text = {0}, line = {0};
    doctor_add_own_name(&text, finding, report->options->full_names);
    buffer_printf(&line, "%s%s", margin, doctor_bold(report));
    grid_visible(&line, buffer_text(&text), report->width - (int)strlen(margin));
    buffer_add_text(&line, doctor_plain(report));
    grid_note(grid, buffer_text(&line));
    buffer_free(&text);
    buffer_free(&line);
}

/* The subject, behind its number, and the top of its first stack, without the wrappers of allocators and locks at the leaf. If the subject is not a
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
    char number[32], margin[32];
    snprintf(number, sizeof number, "[%lld] ", (long long)finding->number);
    snprintf(margin, sizeof margin, "%6s", number);
    if (finding->own_function)
        note_own_name(report, grid, margin, finding);
    else if (code >= 0 &&
             note_name(report, grid, margin, finding->subject, doctor_bold(report), is_frame ? row : NULL, err))
        code = -1;
    if (code == 1 && is_frame && !finding->own_function) code = db_step(report->db, row, err);
    for (; code == 1; code = db_step(report->db, row, err))
        if (!start_up_is_frame(db_text(row, 0)) && note_name(report, grid, "        ", db_text(row, 0), "", row, err)) {
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
    for (const struct figure_column *figure = figure_columns(); figure->name; figure++)
        grid->columns += is_column(figure, first);
    grid_left(grid, "severity");
    grid_left(grid, "code");
    for (const struct figure_column *figure = figure_columns(); figure->name; figure++)
        if (is_column(figure, first)) grid_left(grid, figure->heading);
}

int doctor_add_finding(struct doctor_report *report, struct grid *grid, struct finding *finding, struct error *err) {
    const char *style = doctor_severity_style(report, finding->severity);
    int code = 0;
    grid_left(grid, finding->severity);
    grid_style(grid, *style ? style : NULL);
    grid_left(grid, finding->code);
    for (const struct figure_column *figure = figure_columns(); figure->name && code == 0; figure++)
        if (is_column(figure, finding)) code = add_figure(report, grid, finding, figure, err);
    if (code == 0) code = note_stack(report, grid, finding, err);
    if (code == 0) code = note_figures(report, grid, finding, err);
    if (code == 0 && grid->columns == 2) code = note_evidence(report, grid, finding, err);
    finding->shown = true;
    return code;
}
