#include "query/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/units.h"
#include "query/grid.h"

enum { WIDTH = 100, FRAMES_SHOWN = 4, TRACES_EXPORTED = 20 };

struct finding {
    const char *section, *code, *severity, *subject, *evidence, *trace_ids, *advice, *title;
    bool shown;
};

struct report {
    FILE *out;
    struct db *db;
    const struct doctor_options *options;
    struct arena texts;
    struct finding *findings;
    size_t count, capacity;
};

/* ---- styles ---- */

static const char *style(const struct report *report, const char *code) {
    return report->options->colour ? code : "";
}

static const char *bold(const struct report *report) {
    return style(report, "\033[1m");
}

static const char *plain(const struct report *report) {
    return style(report, GRID_PLAIN);
}

static const char *severity_style(const struct report *report, const char *severity) {
    if (!report->options->colour) return NULL;
    if (strcmp(severity, "critical") == 0) return "\033[1;31m";
    return strcmp(severity, "warning") == 0 ? "\033[33m" : NULL;
}

/* ---- rows ---- */

static const char *keep(struct report *report, sqlite3_stmt *row, int column) {
    const char *text = db_text(row, column);
    return arena_text(&report->texts, text, strlen(text));
}

static int load(struct report *report, struct error *err) {
    /* One table and no ORDER BY of ours: the order is the view's. */
    static const char sql[] =
        "SELECT section, code, severity, subject, evidence, trace_ids, advice, (SELECT title FROM "
        "advice WHERE advice.code = doctor.section || '-' || doctor.code) FROM doctor "
        "WHERE run_id = :run";
    sqlite3_stmt *row = db_prepare(report->db, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code;
    while ((code = db_step(report->db, row, err)) == 1) {
        if (report->count == report->capacity) {
            report->capacity = report->capacity ? report->capacity * 2 : 64;
            report->findings = xrealloc(report->findings, report->capacity * sizeof *report->findings);
        }
        report->findings[report->count++] = (struct finding){
            .section = keep(report, row, 0),
            .code = keep(report, row, 1),
            .severity = keep(report, row, 2),
            .subject = keep(report, row, 3),
            .evidence = keep(report, row, 4),
            .trace_ids = keep(report, row, 5),
            .advice = keep(report, row, 6),
            .title = keep(report, row, 7),
        };
    }
    return code;
}

static bool is_severe(const struct finding *finding) {
    return strcmp(finding->severity, "critical") == 0 || strcmp(finding->severity, "warning") == 0;
}

static bool is_saturation(const struct finding *finding) {
    return strcmp(finding->section, "saturation") == 0;
}

/* ---- figures ---- */

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_NS, UNIT_PERCENT };

/* The columns that sections have: a key of the evidence, what a person calls it, its unit. */
static const struct figure {
    const char *section, *key, *heading;
    enum unit unit;
} figures[] = {
    {"saturation", "count", "count", UNIT_COUNT},
    {"heap", "inuse_bytes", "live", UNIT_BYTES},
    {"heap", "inuse_count", "blocks", UNIT_COUNT},
    {"heap", "live_percent", "of live", UNIT_PERCENT},
    {"heap", "alloc_bytes", "allocated", UNIT_BYTES},
    {"heap", "alloc_count", "allocations", UNIT_COUNT},
    {"lock", "acquires", "exclusive", UNIT_COUNT},
    {"lock", "read_acquires", "shared", UNIT_COUNT},
    {"lock", "contended_percent", "contended", UNIT_PERCENT},
    {"lock", "wait_ns", "waited", UNIT_NS},
    {"lock", "max_wait_ns", "longest", UNIT_NS},
    {"lock", "mean_hold_ns", "mean hold", UNIT_NS},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static struct units_text in_unit(enum unit unit, int64_t value) {
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

static int add_figure(struct report *report, struct grid *grid, const struct finding *finding,
                      const struct figure *figure, struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, "SELECT value FROM json_each(:evidence) WHERE key = :key", err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    db_bind_text(row, ":key", figure->key);
    int code = db_step(report->db, row, err);
    if (code < 0) return -1;
    bool known = code == 1 && sqlite3_column_type(row, 0) != SQLITE_NULL;
    grid_right(grid, known ? in_unit(figure->unit, sqlite3_column_int64(row, 0)).text : "");
    sqlite3_reset(row);
    return 0;
}

/* A section without columns of its own says its evidence in words: "pushes 12, push_blocked 3". */
static int note_evidence(struct report *report, struct grid *grid, const struct finding *finding, struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, "SELECT key, value FROM json_each(:evidence)", err);
    struct buffer words = {0}, line = {0};
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    int code;
    while ((code = db_step(report->db, row, err)) == 1)
        buffer_printf(&words, "%s%s %s", words.size ? ", " : "", db_text(row, 0), db_text(row, 1));
    buffer_add_text(&line, "      ");
    grid_visible(&line, buffer_text(&words), WIDTH - 6);
    grid_note(grid, buffer_text(&line));
    buffer_free(&words);
    buffer_free(&line);
    return code;
}

/* ---- stacks ---- */

/* "  table.c:42", or "  (libfoo.so)" where the line is not known. */
static void add_place(struct buffer *out, sqlite3_stmt *frame) {
    const char *file = db_text(frame, 1), *slash = strrchr(file, '/');
    struct buffer place = {0};
    if (*file && sqlite3_column_int64(frame, 2))
        buffer_printf(&place, "  %s:%s", slash ? slash + 1 : file, db_text(frame, 2));
    else
        buffer_printf(&place, "  (%s)", *file ? file : db_text(frame, 3));
    grid_visible(out, buffer_text(&place), WIDTH / 2);
    buffer_free(&place);
}

/* A name in `name_style`, and where it stands if `frame` is given. */
static void note_name(struct grid *grid, int indent, const char *name, const char *name_style, sqlite3_stmt *frame) {
    struct buffer place = {0}, line = {0};
    if (frame) add_place(&place, frame);
    buffer_printf(&line, "%*s%s", indent, "", name_style);
    grid_visible(&line, name, WIDTH - indent - grid_width(buffer_text(&place), place.size));
    buffer_printf(&line, "%s%s", *name_style ? GRID_PLAIN : "", buffer_text(&place));
    grid_note(grid, buffer_text(&line));
    buffer_free(&place);
    buffer_free(&line);
}

/* The subject and the top of its stack, from the frame that the subject names: allocator wrappers nearer to the leaf are
 * left out. Where the subject is no function (a lock), the stack stands below it. */
static int note_stack(struct report *report, struct grid *grid, const struct finding *finding, struct error *err) {
    static const char sql[] =
        "SELECT function, file, line, module FROM frames WHERE trace_id = (SELECT value FROM json_each(:ids) LIMIT 1) "
        "AND "
        "depth >= coalesce((SELECT min(depth) FROM frames WHERE function = :subject AND trace_id = "
        "(SELECT value FROM json_each(:ids) LIMIT 1)), 0) ORDER BY depth LIMIT :frames";
    sqlite3_stmt *row = db_prepare(report->db, sql, err);
    if (!row) return -1;
    db_bind_text(row, ":ids", finding->trace_ids);
    db_bind_text(row, ":subject", finding->subject);
    db_bind_int(row, ":frames", FRAMES_SHOWN);
    int code = db_step(report->db, row, err);
    bool is_frame = code == 1 && strcmp(db_text(row, 0), finding->subject) == 0;
    note_name(grid, 6, finding->subject, bold(report), is_frame ? row : NULL);
    if (is_frame) code = db_step(report->db, row, err);
    for (; code == 1; code = db_step(report->db, row, err))
        note_name(grid, 8, db_text(row, 0), "", row);
    return code;
}

/* ---- a section ---- */

static void start_grid(const struct finding *first, struct grid *grid) {
    grid->indent = "  ";
    grid->columns = 2;
    for (size_t i = 0; i < FIGURES; i++)
        grid->columns += strcmp(figures[i].section, first->section) == 0;
    grid_left(grid, "severity");
    grid_left(grid, "code");
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].section, first->section) == 0) grid_left(grid, figures[i].heading);
}

static int add_finding(struct report *report, struct grid *grid, struct finding *finding, struct error *err) {
    int code = 0;
    grid_left(grid, finding->severity);
    grid_style(grid, severity_style(report, finding->severity));
    grid_left(grid, finding->code);
    for (size_t i = 0; i < FIGURES && code == 0; i++)
        if (strcmp(figures[i].section, finding->section) == 0)
            code = add_figure(report, grid, finding, &figures[i], err);
    if (code == 0) code = note_stack(report, grid, finding, err);
    if (code == 0 && grid->columns == 2) code = note_evidence(report, grid, finding, err);
    finding->shown = true;
    return code;
}

static void print_wrapped(FILE *out, const char *indent, const char *text) {
    int column = 0;
    while (*text) {
        int size = (int)strcspn(text, " \n"), width = grid_width(text, (size_t)size);
        if (column && column + 1 + width > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column ? " " : indent, size, text);
        column += width + (column ? 1 : (int)strlen(indent));
        text += size;
        text += strspn(text, " \n");
    }
    if (column) fputc('\n', out);
}

/* The advice of each code that was shown, once. */
static void print_advice(const struct report *report, size_t start, size_t end) {
    for (size_t i = start; i < end; i++) {
        const struct finding *finding = &report->findings[i];
        bool first = finding->shown && *finding->advice;
        for (size_t j = start; j < i && first; j++)
            first = !report->findings[j].shown || strcmp(report->findings[j].code, finding->code) != 0;
        if (!first) continue;
        fprintf(report->out, "\n  %s%s%s: %s\n", bold(report), finding->code, plain(report), finding->title);
        print_wrapped(report->out, "    ", finding->advice);
    }
}

/* What was not shown: "not shown: 3 warning, 12 note, 40 ok". */
static void print_rest(const struct report *report, size_t start, size_t end, bool any_shown) {
    static const char *const severities[] = {"critical", "warning", "note", "ok"};
    const char *before = any_shown ? "\n  not shown: " : "  nothing above a note; not shown: ";
    bool any = false, more = false; /* healthy rows are never shown: the view has them */
    for (size_t level = 0; level < sizeof severities / sizeof *severities; level++) {
        int64_t hidden = 0;
        for (size_t i = start; i < end; i++)
            hidden += !report->findings[i].shown && strcmp(report->findings[i].severity, severities[level]) == 0;
        if (!hidden) continue;
        fprintf(report->out, "%s%s %s", before, units_count(hidden).text, severities[level]);
        before = ", ";
        any = true;
        more |= strcmp(severities[level], "ok") != 0;
    }
    if (any) fputs(more ? " (--top 0 shows all findings)\n" : "\n", report->out);
}

static int print_section(struct report *report, size_t start, size_t end, struct error *err) {
    struct grid grid = {0};
    const struct doctor_options *options = report->options;
    int64_t shown = 0;
    int code = 0;
    start_grid(&report->findings[start], &grid);
    for (size_t i = start; i < end && code == 0; i++) {
        struct finding *finding = &report->findings[i];
        bool worth = is_saturation(finding) || options->top == 0 || (is_severe(finding) && shown < options->top);
        if (!worth || strcmp(finding->severity, "ok") == 0) continue;
        code = add_finding(report, &grid, finding, err);
        shown++;
    }
    fprintf(report->out, "\n%s%s%s\n", bold(report), report->findings[start].section, plain(report));
    if (code == 0 && shown) grid_print(&grid, report->out, true);
    grid_free(&grid);
    print_advice(report, start, end);
    print_rest(report, start, end, shown > 0);
    return code;
}

/* Brings each section's findings together; sections stay in the order of their worst finding, which is the view's. */
static void group_sections(struct report *report) {
    struct finding *sorted = xmalloc(report->count * sizeof *sorted);
    size_t done = 0;
    for (size_t i = 0; i < report->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < done && !seen; j++)
            seen = strcmp(sorted[j].section, report->findings[i].section) == 0;
        for (size_t j = i; j < report->count && !seen; j++)
            if (strcmp(report->findings[j].section, report->findings[i].section) == 0)
                sorted[done++] = report->findings[j];
    }
    free(report->findings);
    report->findings = sorted;
}

/* ---- head and foot ---- */

/* Whoever reads a figure must know that it was scaled up from a sample. */
static void print_rates(FILE *out, int64_t sample_n, int64_t sample_bytes) {
    if (sample_n > 1) fprintf(out, "  sampled 1 in %s, and scaled up\n", units_count(sample_n).text);
    if (sample_bytes > 1)
        fprintf(out, "  allocations sampled every %s, and scaled up\n", units_bytes(sample_bytes).text);
}

static int print_head(struct report *report, struct error *err) {
    static const char sql[] = "SELECT run_id, coalesce(label, ''), iif(command = '', source, command), started_ns, "
                              "duration_ns, exit, processes, "
                              "alloc_count, alloc_bytes, inuse_count, inuse_bytes, lock_acquires, lock_contended, "
                              "lock_wait_ns, cpu_ns, sample_n, sample_bytes FROM run_summary "
                              "WHERE run_id = :run";
    FILE *out = report->out;
    struct buffer line = {0};
    sqlite3_stmt *row = db_prepare(report->db, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the run is gone", report->db->path);
    buffer_printf(&line, "run %s%s%s%s: %s", db_text(row, 0), *db_text(row, 1) ? " (" : "", db_text(row, 1),
                  *db_text(row, 1) ? ")" : "", db_text(row, 2));
    struct buffer shown = {0};
    grid_visible(&shown, buffer_text(&line), WIDTH);
    fprintf(out, "%s%s%s\n", bold(report), buffer_text(&shown), plain(report));
    fprintf(out, "  %s, %s", units_time(sqlite3_column_int64(row, 3)).text,
            units_ns(sqlite3_column_int64(row, 4)).text);
    fprintf(out, "%s%s, processes: %s\n", *db_text(row, 5) ? ", " : "", db_text(row, 5), db_text(row, 6));
    fprintf(out, "  %s allocations of %s; live at the end: %s blocks of %s\n",
            units_count(sqlite3_column_int64(row, 7)).text, units_bytes(sqlite3_column_int64(row, 8)).text,
            units_count(sqlite3_column_int64(row, 9)).text, units_bytes(sqlite3_column_int64(row, 10)).text);
    fprintf(out, "  %s lock operations, %s of them waited, %s in all\n",
            units_count(sqlite3_column_int64(row, 11)).text, units_count(sqlite3_column_int64(row, 12)).text,
            units_ns(sqlite3_column_int64(row, 13)).text);
    if (sqlite3_column_int64(row, 14))
        fprintf(out, "  %s of CPU time sampled\n", units_ns(sqlite3_column_int64(row, 14)).text);
    print_rates(out, sqlite3_column_int64(row, 15), sqlite3_column_int64(row, 16));
    sqlite3_reset(row);
    buffer_free(&line);
    buffer_free(&shown);
    return 0;
}

/* One word for the shell. */
static void add_quoted(struct buffer *out, const char *word) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && strspn(word, safe) == strlen(word)) {
        buffer_add_text(out, word);
        return;
    }
    buffer_add_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') buffer_add_text(out, "'\\'");
        buffer_add_char(out, *word);
    }
    buffer_add_char(out, '\'');
}

/* The stacks of the findings of one section that were shown, "3,17,20"; empty where it has none. */
static int shown_traces(struct report *report, const char *section, struct buffer *ids, struct error *err) {
    int count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        if (!finding->shown || strcmp(finding->section, section) != 0) continue;
        sqlite3_stmt *row = db_prepare(report->db, "SELECT value FROM json_each(:ids) WHERE value > 0", err);
        if (!row) return -1;
        db_bind_text(row, ":ids", finding->trace_ids);
        int code;
        while ((code = db_step(report->db, row, err)) == 1)
            if (count++ < TRACES_EXPORTED) buffer_printf(ids, "%s%s", ids->size ? "," : "", db_text(row, 0));
        if (code < 0) return -1;
    }
    return 0;
}

/* The run is of a file, and its warehouse ends with us: the commands name the file again. */
static int print_next_of_file(struct report *report, struct error *err) {
    struct buffer file = {0};
    sqlite3_stmt *row = db_prepare(report->db, "SELECT source FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    if (db_step(report->db, row, err) < 1) return -1;
    add_quoted(&file, db_text(row, 0));
    sqlite3_reset(row);
    fprintf(report->out, "\n%snext%s\n", bold(report), plain(report));
    fprintf(report->out, "  clear query 'SELECT * FROM doctor WHERE run_id = :run' run=%s\n", buffer_text(&file));
    fprintf(report->out, "  clear ingest %s   # keeps it, to export findings from and to compare\n",
            buffer_text(&file));
    buffer_free(&file);
    return 0;
}

static int print_next(struct report *report, struct error *err) {
    static const struct {
        const char *section, *columns, *view;
    } exports[] = {
        {"heap", "sum(inuse_count) AS \"inuse_objects/count\", sum(inuse_bytes) AS \"inuse_space/bytes\"", "heap"},
        {"lock",
         "sum(contended + read_contended) AS \"contentions/count\", sum(wait_ns + read_wait_ns) AS "
         "\"delay/nanoseconds\"",
         "lock_use"},
    };
    if (report->db->is_private) return print_next_of_file(report, err);
    struct buffer db = {0};
    long long run_id = (long long)report->options->run_id;
    int code = 0;
    add_quoted(&db, report->db->path);
    fprintf(report->out, "\n%snext%s\n", bold(report), plain(report));
    for (size_t i = 0; i < sizeof exports / sizeof *exports && code == 0; i++) {
        struct buffer ids = {0};
        code = shown_traces(report, exports[i].section, &ids, err);
        if (code == 0 && ids.size)
            fprintf(report->out,
                    "  clear export --db %s -o %s-findings.pb.gz --sql 'SELECT trace_id,\n"
                    "    %s\n"
                    "    FROM %s WHERE run_id = %lld AND trace_id IN (%s) GROUP BY 1'\n",
                    buffer_text(&db), exports[i].section, exports[i].columns, exports[i].view, run_id,
                    buffer_text(&ids));
        buffer_free(&ids);
    }
    fprintf(report->out, "  clear query --db %s 'SELECT * FROM doctor WHERE run_id = %lld'\n", buffer_text(&db),
            run_id);
    buffer_free(&db);
    return code;
}

static int print_report(struct report *report, struct error *err) {
    if (print_head(report, err) < 0 || load(report, err) < 0) return -1;
    group_sections(report);
    if (report->count == 0) fputs("\nnothing to report\n", report->out);
    for (size_t start = 0, end; start < report->count; start = end) {
        end = start + 1;
        while (end < report->count && strcmp(report->findings[end].section, report->findings[start].section) == 0)
            end++;
        if (print_section(report, start, end, err) < 0) return -1;
    }
    return print_next(report, err);
}

int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err) {
    struct report report = {.out = out, .db = db, .options = options};
    int code = print_report(&report, err);
    free(report.findings);
    arena_free(&report.texts);
    return code;
}

int doctor_print_json(FILE *out, struct db *db, int64_t run_id, struct error *err) {
    static const char sql[] =
        "SELECT json_object('run_id', run_id, 'section', section, 'code', code, 'severity', severity, 'subject', "
        "subject, "
        "'evidence', json(evidence), 'trace_ids', json(trace_ids), 'advice', advice) FROM doctor WHERE run_id = :run";
    sqlite3_stmt *row = db_prepare(db, sql, err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    const char *before = "[";
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        fprintf(out, "%s%s", before, db_text(row, 0));
        before = ",\n";
    }
    if (code == 0) fputs(*before == '[' ? "[]\n" : "]\n", out);
    return code;
}
