#include "query/doctor_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- styles ---- */

const char *doctor_style(const struct doctor_report *report, const char *code) {
    return report->options->colour ? code : "";
}

const char *doctor_bold(const struct doctor_report *report) {
    return doctor_style(report, "\033[1m");
}

const char *doctor_plain(const struct doctor_report *report) {
    return doctor_style(report, GRID_PLAIN);
}

/* ---- rows ---- */

static const char *keep(struct doctor_report *report, sqlite3_stmt *row, int column) {
    const char *text = db_text(row, column);
    return arena_text(&report->texts, text, strlen(text));
}

static int load(struct doctor_report *report, struct error *err) {
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

bool doctor_is_severe(const struct finding *finding) {
    return strcmp(finding->severity, "critical") == 0 || strcmp(finding->severity, "warning") == 0;
}

bool doctor_is_saturation(const struct finding *finding) {
    return strcmp(finding->section, "saturation") == 0;
}
/* Brings each section's findings together; sections stay in the order of their worst finding, which is the view's. */
static void group_sections(struct doctor_report *report) {
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

static int print_report(struct doctor_report *report, struct error *err) {
    if (doctor_print_head(report, err) < 0 || load(report, err) < 0) return -1;
    group_sections(report);
    if (report->count == 0) fputs("\nnothing to report\n", report->out);
    for (size_t start = 0, end; start < report->count; start = end) {
        end = start + 1;
        while (end < report->count && strcmp(report->findings[end].section, report->findings[start].section) == 0)
            end++;
        if (doctor_print_section(report, start, end, err) < 0) return -1;
    }
    return doctor_print_next(report, err);
}

int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err) {
    struct doctor_report report = {.out = out, .db = db, .options = options};
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
