/* overview.c: the page that a run opens on: what is wrong or what the time went to, in words; the worst findings, and the run to compare
 * with. */
#include "query/doctor/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/runs/telling_kind.h"
#include "schema/schema.h"

enum { FINDINGS_SHOWN = 3, LINE_WIDTH = 2000 };

/* ---- words ---- */

/* {"text": ...} or {"text", "is": "place", "function"}: what can be followed is a part of its own. */
static void add_part(struct buffer *out, const char *text, size_t size, const struct doctor_link *link,
                     const char **separator) {
    if (!size) return;
    buffer_printf(out, "%s{\"text\":", *separator);
    buffer_add_json_string(out, text, size);
    if (link) {
        buffer_printf(out, ",\"is\":\"%s\",", link->what);
        buffer_add_json_field(out, "function", link->function);
    }
    buffer_add_char(out, '}');
    *separator = ",";
}

static void add_parts(struct buffer *out, const struct doctor_line *line) {
    const char *text = buffer_text(&line->text), *separator = "";
    size_t done = 0;
    buffer_add_text(out, "\"text\":");
    buffer_add_json_text(out, text);
    buffer_add_text(out, ",\"parts\":[");
    for (size_t i = 0; i < line->link_count; i++) {
        const struct doctor_link *link = &line->links[i];
        add_part(out, text + done, link->from - done, NULL, &separator);
        add_part(out, text + link->from, link->to - link->from, link, &separator);
        done = link->to;
    }
    add_part(out, text + done, line->text.size - done, NULL, &separator);
    buffer_add_char(out, ']');
}

static int add_verdict(struct doctor_report *report, struct buffer *out, struct error *err) {
    const struct finding *worst = doctor_worst(report);
    struct doctor_line line = {0};
    int code = doctor_first_line(report, &line, err);
    buffer_add_text(out, "\"verdict\":{");
    buffer_add_json_field(out, "severity", worst ? worst->severity : "");
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "section", worst ? worst->section : "");
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "code", worst ? worst->code : "");
    buffer_add_char(out, ',');
    add_parts(out, &line);
    buffer_add_char(out, '}');
    doctor_line_free(&line);
    return code;
}

/* ---- findings ---- */

static int add_finding(struct doctor_report *report, const struct finding *finding, struct buffer *out,
                       struct error *err) {
    struct doctor_line line = {0};
    int code = doctor_line_add(report, finding, &line, err);
    buffer_printf(out, "{\"number\":%" PRId64 ",", finding->number);
    buffer_add_json_field(out, "section", finding->section);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "code", finding->code);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "severity", finding->severity);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "subject", finding->subject);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "short", finding->brief);
    buffer_add_char(out, ',');
    add_parts(out, &line);
    buffer_add_text(out, ",\"evidence\":");
    buffer_add_text(out, finding->evidence);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unless", finding->unless);
    buffer_add_char(out, '}');
    doctor_line_free(&line);
    return code;
}

/* How many are asked for: --top, of which 0 is all. */
static size_t shown_max(const struct doctor_report *report) {
    if (!report->options->has_top) return FINDINGS_SHOWN;
    return report->options->top ? (size_t)report->options->top : report->count;
}

/* The worst ones; what was not recorded comes last among equals. The first is what the verdict is of, if anything is severe. */
static size_t choose(const struct doctor_report *report, struct finding **shown) {
    static const char *const severities[] = {"critical", "warning", "note"};
    size_t count = 0;
    for (size_t level = 0; level < 3; level++)
        for (int saturation = 0; saturation < 2; saturation++)
            for (size_t i = 0; i < report->count && count < shown_max(report); i++) {
                struct finding *finding = &report->findings[i];
                if (strcmp(finding->severity, severities[level]) == 0 && doctor_is_saturation(finding) == saturation)
                    shown[count++] = finding;
            }
    return count;
}

/* Only of those that are shown it is asked what is said of them and where in the program's own code they are: a run may have thousands. */
static int add_findings(struct doctor_report *report, struct buffer *out, struct error *err) {
    struct finding **shown = xmalloc((report->count + 1) * sizeof(struct finding *));
    size_t count = choose(report, shown);
    int code = doctor_find_words(report, shown, count, err) || doctor_find_own(report, shown, count, err) ||
                       add_verdict(report, out, err)
                   ? -1
                   : 0;
    buffer_printf(out, ",\"findings_in_all\":%zu,\"findings\":[", report->count);
    for (size_t i = 0; i < count && code == 0; i++) {
        if (i) buffer_add_char(out, ',');
        code = add_finding(report, shown[i], out, err);
    }
    buffer_add_char(out, ']');
    free(shown);
    return code;
}

/* ---- the whole ---- */

static int read_run(struct overview *overview, struct error *err) {
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/run"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", overview->report->options->run_id);
    int code = db_step(overview->report->db, row, err);
    overview->duration_ns = sqlite3_column_int64(row, 1);
    overview->cpu_ns = sqlite3_column_int64(row, 2);
    overview->alloc_count = sqlite3_column_int64(row, 3);
    overview->alloc_bytes = sqlite3_column_int64(row, 4);
    overview->lock_wait_ns = sqlite3_column_int64(row, 5);
    overview->thread_ns = sqlite3_column_int64(row, 6);
    if (code == 1)
        buffer_printf(overview->out,
                      "\"run_id\":%" PRId64 ",\"uuid\":\"%s\",\"duration_ns\":%" PRId64 ",\"is_recording\":%s,",
                      overview->report->options->run_id, db_text(row, 0), overview->duration_ns,
                      sqlite3_column_int(row, 7) ? "true" : "false");
    sqlite3_reset(row);
    return code < 0 ? -1 : code ? 0 : error_fail(err, "%s: the run no longer exists", overview->report->db->path);
}

/* ,"kind": the one that has most to say; null: the first. */
static int add_kind(struct overview *overview, struct error *err) {
    int64_t id = overview->report->options->run_id;
    const struct run_set run = {&id, 1};
    struct run_effort effort = {0};
    if (run_effort_add(&effort, overview->report->db, &run, err)) return -1;
    const char *kind = telling_kind(&effort, NULL);
    buffer_add_text(overview->out, ",\"kind\":");
    if (kind)
        buffer_add_json_text(overview->out, kind);
    else
        buffer_add_text(overview->out, "null");
    return 0;
}

/* The run before, of the same program; a part of a run and a set have none. */
static int add_previous(struct overview *overview, struct error *err) {
    const struct doctor_options *options = overview->report->options;
    struct buffer *out = overview->out;
    buffer_add_text(out, ",\"previous\":");
    sqlite3_stmt *row = db_prepare(overview->report->db, embedded_text("report/overview/previous"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", options->run_id);
    int code = options->part || options->together ? 0 : db_step(overview->report->db, row, err);
    if (code == 1) {
        buffer_printf(out, "{\"run_id\":%lld,", sqlite3_column_int64(row, 0));
        buffer_add_json_field(out, "uuid", db_text(row, 1));
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "label", db_text(row, 2));
        buffer_printf(out, ",\"started_ns\":%lld,\"is_same_command\":%s}", sqlite3_column_int64(row, 3),
                      sqlite3_column_int(row, 4) ? "true" : "false");
    } else {
        buffer_add_text(out, "null");
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int doctor_print_overview_json(struct doctor_report *report, struct error *err) {
    struct buffer out = {0};
    struct overview overview = {.report = report, .out = &out};
    report->width = LINE_WIDTH; /* names in full */
    buffer_add_char(&out, '{');
    int code = doctor_load_alone(report, err) || read_run(&overview, err) || add_findings(report, &out, err) ||
                       overview_add_functions(&overview, err) || add_kind(&overview, err) ||
                       add_previous(&overview, err)
                   ? -1
                   : 0;
    if (code == 0) overview_add_sentence(&overview);
    if (code == 0) code = overview_add_series(&overview, err);
    if (code == 0) fprintf(report->out, "%s}\n", buffer_text(&out));
    buffer_free(&overview.top);
    buffer_free(&overview.samples);
    buffer_free(&out);
    return code;
}
