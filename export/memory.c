/* memory.c: the live bytes of a run in the course of time, as a picture (SVG): the view `memory` as a line, the highest point with its
 * figure, and who had the memory at the peak. Between two known moments the line is straight; what really was in between is known
 * only to be no more than the peak. */
#include <stdlib.h>

#include "base/escape.h"
#include "base/path.h"
#include "base/units.h"
#include "export/file.h"
#include "export/format.h"
#include "schema/schema.h"

enum { WIDTH = 960, LEFT = 90, RIGHT = 20, TOP = 70, PLOT = 260, GAP = 50, LINE = 20, TICKS = 6 }; /* px */

struct live_point {
    int64_t at_ns, run_bytes, live_bytes;
    bool is_peak;
    int64_t pid;
};

struct chart {
    struct live_point *moments;
    size_t count, highest; /* highest: index of the moment with most run_bytes */
    int64_t start_ns, end_ns;
    int64_t x_step, y_step, y_end;
    bool has_processes; /* more than one */
};

/* ---- rows ---- */

static int read_moments(struct chart *chart, struct db *db, int64_t run_id, const struct timespan *span,
                        struct error *err) {
    enum { AT, RUN, LIVE, IS_PEAK, PID };
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/memory/memory"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    timespan_bind(row, span);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        chart->moments = xrealloc(chart->moments, (chart->count + 1) * sizeof *chart->moments);
        struct live_point *moment = &chart->moments[chart->count];
        *moment = (struct live_point){sqlite3_column_int64(row, AT), sqlite3_column_int64(row, RUN),
                                      sqlite3_column_int64(row, LIVE), sqlite3_column_int(row, IS_PEAK),
                                      sqlite3_column_int64(row, PID)};
        if (moment->at_ns < 0) moment->at_ns = 0;
        if (moment->run_bytes > chart->moments[chart->highest].run_bytes) chart->highest = chart->count;
        chart->has_processes |= moment->pid != chart->moments[0].pid;
        chart->count++;
    }
    if (code == 0 && !chart->count)
        return error_fail(err, "run %lld: no live bytes are known: its heap was not recorded", (long long)run_id);
    return code;
}

/* ---- scales ---- */

/* The smallest of base * (1, 2, 5, 10, ...) of which no more than TICKS make the whole; in units of `base`, which steps as the unit does:
 * 1024 for bytes, 1000 for time. */
static int64_t nice_step(int64_t whole, int64_t base) {
    static const int64_t factors[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    int64_t unit = 1, step;
    do
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
            if (__builtin_mul_overflow(factors[i], unit, &step))
                return INT64_MAX;
            else if (step >= whole / TICKS + 1)
                return step;
    while (!__builtin_mul_overflow(unit, base, &unit));
    return INT64_MAX;
}

static void scale(struct chart *chart, const struct timespan *span) {
    chart->start_ns = span->from_ns == timespan_all.from_ns ? 0 : chart->moments[0].at_ns;
    chart->end_ns = chart->moments[chart->count - 1].at_ns;
    if (chart->end_ns <= chart->start_ns) chart->end_ns = chart->start_ns + 1;
    chart->x_step = nice_step(chart->end_ns - chart->start_ns, 1000);
    int64_t highest = chart->moments[chart->highest].run_bytes;
    chart->y_step = nice_step(highest, 1024);
    chart->y_end = highest / chart->y_step * chart->y_step;
    if (__builtin_add_overflow(chart->y_end, chart->y_step, &chart->y_end)) chart->y_end = INT64_MAX;
}

static double x_of(const struct chart *chart, int64_t at_ns) {
    double part = (double)(at_ns - chart->start_ns) / (double)(chart->end_ns - chart->start_ns);
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *chart, int64_t bytes) {
    return TOP + PLOT - (double)bytes / (double)chart->y_end * PLOT;
}

/* ---- the picture ---- */

static void add_head(struct buffer *out, const char *command, int height) {
    static const char style[] =
        "svg{font:12px ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif;color-scheme:light dark}\n"
        "#paper{fill:#fff}.head{fill:#1c2128}.dim{fill:#59636e}.grid{stroke:#59636e;stroke-opacity:.25}\n"
        ".area{fill:#2f9e44;fill-opacity:.22}.line{fill:none;stroke:#2f9e44;stroke-width:1.6px;stroke-linejoin:round}\n"
        ".at{fill:#2f9e44;fill-opacity:0}.at:hover{fill-opacity:1}.peak{fill:#d1242f}.mark{stroke:#d1242f;stroke-"
        "dasharray:4 3}\n"
        "@media(prefers-color-scheme:dark){#paper{fill:#14181d}.head{fill:#e6edf3}.dim{fill:#9aa4af}}\n";
    buffer_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" viewBox=\"0 0 %d %d\" width=\"100%%\">\n"
                  "<style>%s</style>\n<rect id=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
                  "<text class=\"head\" x=\"14\" y=\"28\" font-size=\"17\" font-weight=\"600\">live memory: ",
                  WIDTH, height, style);
    escape_xml(out, command);
    buffer_add_text(out, "</text>\n");
}

static void add_axes(const struct chart *chart, struct buffer *out) {
    for (int64_t i = 0; i <= chart->y_end / chart->y_step; i++) {
        int64_t bytes = i * chart->y_step;
        buffer_printf(out,
                      "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                      "<text class=\"dim\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                      LEFT, WIDTH - RIGHT, y_of(chart, bytes), y_of(chart, bytes), LEFT - 8, y_of(chart, bytes) + 4,
                      units_bytes(bytes).text);
    }
    int64_t first = (chart->start_ns + chart->x_step - 1) / chart->x_step * chart->x_step;
    for (int64_t at = first; at <= chart->end_ns; at += chart->x_step)
        buffer_printf(out, "<text class=\"dim\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                      x_of(chart, at), TOP + PLOT + 20, units_ns(at).text);
}

static void add_points(const struct chart *chart, struct buffer *out) {
    for (size_t i = 0; i < chart->count; i++)
        buffer_printf(out, " %.1f,%.1f", x_of(chart, chart->moments[i].at_ns),
                      y_of(chart, chart->moments[i].run_bytes));
}

static void add_line(const struct chart *chart, struct buffer *out) {
    double start = x_of(chart, chart->start_ns), floor = y_of(chart, 0);
    bool is_from_start = chart->start_ns == 0;
    buffer_printf(out, "<polygon class=\"area\" points=\"%.1f,%.1f", start, floor);
    add_points(chart, out);
    buffer_printf(out, " %.1f,%.1f\"/>\n<polyline class=\"line\" points=\"", x_of(chart, chart->end_ns), floor);
    if (is_from_start) buffer_printf(out, "%.1f,%.1f", start, floor);
    add_points(chart, out);
    buffer_add_text(out, "\"/>\n");
}

/* A circle that a mouse finds, with the figures as its title. */
static void add_moments(const struct chart *chart, struct buffer *out) {
    for (size_t i = 0; i < chart->count; i++) {
        const struct live_point *moment = &chart->moments[i];
        buffer_printf(out, "<circle class=\"at%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%s: %s",
                      moment->is_peak ? " peak" : "", x_of(chart, moment->at_ns), y_of(chart, moment->run_bytes),
                      units_ns(moment->at_ns).text, units_bytes(moment->run_bytes).text);
        if (chart->has_processes)
            buffer_printf(out, ", of them %s in process %lld", units_bytes(moment->live_bytes).text,
                          (long long)moment->pid);
        buffer_printf(out, "%s</title></circle>\n", moment->is_peak ? " (peak of the process)" : "");
    }
}

static void add_peak(const struct chart *chart, struct buffer *out) {
    const struct live_point *peak = &chart->moments[chart->highest];
    double x = x_of(chart, peak->at_ns), y = y_of(chart, peak->run_bytes);
    bool is_right = x > WIDTH * 0.7;
    buffer_printf(out,
                  "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%d\"/>"
                  "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>"
                  "<text class=\"head\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s at %s</text>\n",
                  x, x, y, TOP + PLOT, x, y, is_right ? "end" : "start", is_right ? x - 8 : x + 8, y - 6,
                  units_bytes(peak->run_bytes).text, units_ns(peak->at_ns).text);
}

static int add_sites(struct db *db, int64_t run_id, struct buffer *out, int *lines, struct error *err) {
    enum { FUNCTION, SOURCE, AT_LINE, BYTES };
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/memory/sites"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    for (*lines = 0; (code = db_step(db, row, err)) == 1; ++*lines) {
        int y = TOP + PLOT + GAP + LINE * (*lines + 1);
        if (*lines == 0) buffer_printf(out, "<text class=\"dim\" x=\"14\" y=\"%d\">at the peak</text>\n", y);
        buffer_printf(out, "<text class=\"head\" text-anchor=\"end\" x=\"180\" y=\"%d\">%s</text>", y,
                      units_bytes(sqlite3_column_int64(row, BYTES)).text);
        buffer_printf(out, "<text class=\"head\" x=\"192\" y=\"%d\">", y);
        escape_xml(out, db_text(row, FUNCTION));
        if (*db_text(row, SOURCE)) {
            buffer_add_text(out, " (");
            escape_xml(out, path_base(db_text(row, SOURCE)));
            buffer_printf(out, ":%s)", db_text(row, AT_LINE));
        }
        buffer_add_text(out, "</text>\n");
    }
    return code;
}

static int add_picture(const struct chart *chart, struct db *db, int64_t run_id, struct buffer *out,
                       struct error *err) {
    struct buffer sites = {0};
    int lines = 0;
    sqlite3_stmt *row = db_prepare(db, "SELECT iif(command = '', source, command) FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1) code = add_sites(db, run_id, &sites, &lines, err);
    if (code == 0) {
        add_head(out, db_text(row, 0), TOP + PLOT + GAP + LINE * (lines + 1));
        add_axes(chart, out);
        add_line(chart, out);
        add_moments(chart, out);
        add_peak(chart, out);
        buffer_add(out, buffer_text(&sites), sites.size);
        buffer_add_text(out, "</svg>\n");
    }
    sqlite3_reset(row);
    buffer_free(&sites);
    return code;
}

static int write_picture(const struct buffer *picture, const char *path, struct error *err) {
    struct file file;
    if (file_open(&file, path, false, err)) return -1;
    if (file_write(&file, picture->data, picture->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

int memory_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                 struct error *err) {
    struct chart chart = {0};
    struct buffer picture = {0};
    (void)kind;
    int code = read_moments(&chart, db, run_id, span, err);
    if (code == 0) {
        scale(&chart, span);
        code = add_picture(&chart, db, run_id, &picture, err);
    }
    if (code == 0) code = write_picture(&picture, path, err);
    free(chart.moments);
    buffer_free(&picture);
    return code;
}
