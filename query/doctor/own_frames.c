/* own_frames.c: where the function that a finding names is not the program's own code, the line of its own code that calls it. */
#include "query/doctor/findings.h"

#include "base/path.h"
#include "schema/facts.h"
#include "schema/schema.h"

/* Further findings keep their subject alone: nobody reads so many, and each is a question. */
enum { OWN_MAX = 2000 };

static bool is_asked(const struct doctor_report *report, size_t at) {
    return at < OWN_MAX && report->findings[at].trace_id > 0 && strcmp(report->findings[at].severity, "ok") != 0;
}

static const char *keep(struct doctor_report *report, const char *name) {
    struct buffer text = {0};
    buffer_add_text(&text, name);
    buffer_make_visible(&text);
    const char *kept = arena_text(&report->texts, text.data, text.size);
    buffer_free(&text);
    return kept;
}

static int find_one(struct doctor_report *report, struct finding *finding, struct error *err) {
    enum { FUNCTION, FILE_NAME, LINE, LIBRARY };
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/own_frame.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", finding->trace_id);
    db_bind_text(row, ":subject", finding->subject);
    int code = db_step(report->db, row, err);
    if (code == 1) {
        finding->own_function = keep(report, db_text(row, FUNCTION));
        finding->own_file = keep(report, db_text(row, FILE_NAME));
        finding->own_line = sqlite3_column_int64(row, LINE);
        finding->library = keep(report, db_text(row, LIBRARY));
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int doctor_find_own(struct doctor_report *report, struct error *err) {
    struct buffer ids = {0};
    for (size_t i = 0; i < report->count; i++)
        if (is_asked(report, i))
            buffer_printf(&ids, "%s%lld", ids.size ? "," : "[", (long long)report->findings[i].trace_id);
    if (!ids.size) return 0;
    buffer_add_char(&ids, ']');
    int code = facts_find_own(report->db, report->options->run_id, buffer_text(&ids), err);
    for (size_t i = 0; i < report->count && code == 0; i++)
        if (is_asked(report, i)) code = find_one(report, &report->findings[i], err);
    buffer_free(&ids);
    return code;
}

void doctor_add_own_name(struct buffer *out, const struct finding *finding, const char *own, const char *subject) {
    buffer_add_text(out, own);
    if (finding->own_line) buffer_printf(out, " (%s:%lld)", path_base(finding->own_file), (long long)finding->own_line);
    buffer_printf(out, " in %s", subject);
    if (*finding->library) buffer_printf(out, " [%s]", finding->library);
}
