/* own_frames.c: where the function that a finding names is not the program's own code, the line of its own code that calls it. */
#include "query/doctor/findings.h"

#include "base/path.h"
#include "query/profile/usual_name.h"
#include "schema/facts.h"
#include "schema/schema.h"

static bool is_asked(const struct finding *finding) {
    return finding->trace_id > 0 && strcmp(finding->severity, "ok") != 0;
}

static const char *keep(struct doctor_report *report, const char *name) {
    struct buffer text = {0};
    buffer_add_text(&text, name);
    buffer_make_visible(&text);
    const char *kept = arena_text(&report->texts, text.data, text.size);
    buffer_free(&text);
    return kept;
}

/* Whether the subject is no function but what threads use and wait for. */
static bool is_object(const struct finding *finding) {
    return strcmp(finding->section, "lock") == 0 || strcmp(finding->section, "wait") == 0 ||
           (strcmp(finding->section, "trace") == 0 && strcmp(finding->code, "long-region") != 0);
}

/* Of the stack, whose place is `subject`, NULL: whatever it is. */
static int find_one(struct doctor_report *report, int64_t trace_id, const char *subject, struct finding *finding,
                    struct error *err) {
    enum { FUNCTION, FILE_NAME, LINE, LIBRARY, CALLEE };
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/own_frame.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", trace_id);
    if (subject) db_bind_text(row, ":subject", subject);
    int code = db_step(report->db, row, err);
    if (code == 1) {
        finding->own_function = keep(report, db_text(row, FUNCTION));
        finding->own_file = keep(report, db_text(row, FILE_NAME));
        finding->own_line = sqlite3_column_int64(row, LINE);
        finding->library = keep(report, db_text(row, LIBRARY));
        finding->own_callee = keep(report, db_text(row, CALLEE));
    }
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int doctor_find_own_of(struct doctor_report *report, int64_t trace_id, struct finding *finding, struct error *err) {
    char ids[32];
    snprintf(ids, sizeof ids, "[%lld]", (long long)trace_id);
    return facts_find_own(report->db, report->options->run_id, ids, err) ||
                   find_one(report, trace_id, NULL, finding, err)
               ? -1
               : 0;
}

int doctor_find_own(struct doctor_report *report, struct finding *const *findings, size_t count, struct error *err) {
    struct buffer ids = {0};
    for (size_t i = 0; i < count; i++)
        if (is_asked(findings[i]))
            buffer_printf(&ids, "%s%lld", ids.size ? "," : "[", (long long)findings[i]->trace_id);
    if (!ids.size) return 0;
    buffer_add_char(&ids, ']');
    int code = facts_find_own(report->db, report->options->run_id, buffer_text(&ids), err);
    for (size_t i = 0; i < count && code == 0; i++) {
        struct finding *finding = findings[i];
        if (!is_asked(finding)) continue;
        finding->own_is_user = is_object(finding);
        code = find_one(report, finding->trace_id, finding->own_is_user ? NULL : finding->subject, finding, err);
    }
    buffer_free(&ids);
    return code;
}

static void add_usual(struct buffer *out, const char *name, bool full) {
    struct buffer plain = {0};
    buffer_add_text(out, usual_name_unless(full, name, &plain));
    buffer_free(&plain);
}

void doctor_add_own_name(struct buffer *out, const struct finding *finding, bool full) {
    if (finding->own_is_user) {
        add_usual(out, finding->subject, full);
        buffer_add_text(out, ", used by ");
    }
    add_usual(out, finding->own_function, full);
    if (finding->own_line) buffer_printf(out, " (%s:%lld)", path_base(finding->own_file), (long long)finding->own_line);
    buffer_add_text(out, " in ");
    add_usual(out, finding->own_callee, full);
    if (*finding->library) buffer_printf(out, " [%s]", finding->library);
}
