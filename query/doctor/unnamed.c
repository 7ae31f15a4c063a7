#include <string.h>

#include "base/path.h"
#include "query/doctor/findings.h"
#include "schema/schema.h"

/* The file whose name the subject has before an address, as ingest/symbols/symbolize.h makes names of code without symbols: 1, 0 for none, -1 with the
 * error set. The text is the report's. */
static int file_of(struct doctor_report *report, const struct finding *finding, const char **file, struct error *err) {
    if (!finding->trace_id || !strstr(finding->subject, "+0x")) return 0;
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/place_file.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", finding->trace_id);
    int code = db_step(report->db, row, err);
    if (code < 0) return -1;
    const char *base = code ? path_base(db_text(row, 0)) : "";
    size_t size = strlen(base);
    bool is_it = size && strncmp(finding->subject, base, size) == 0 && strncmp(finding->subject + size, "+0x", 3) == 0;
    if (is_it) *file = arena_text(&report->texts, db_text(row, 0), strlen(db_text(row, 0)));
    sqlite3_reset(row);
    return is_it;
}

int doctor_find_unnamed(struct doctor_report *report, struct error *err) {
    for (size_t i = 0; i < report->count; i++) {
        const char *file = NULL;
        if (!report->findings[i].shown || !doctor_is_severe(&report->findings[i])) continue;
        if (file_of(report, &report->findings[i], &file, err) < 0) return -1;
        if (!file || (report->unnamed_file && strcmp(file, report->unnamed_file) != 0)) continue;
        report->unnamed_file = file;
        report->unnamed++;
    }
    return 0;
}
