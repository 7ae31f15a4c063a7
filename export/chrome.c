/* chrome.c: the waits of a run (clear profile --trace) as a Chrome trace, the JSON that https://ui.perfetto.dev and chrome://tracing open.
 * Each wait is a slice ("X") of its thread; where its release is known, a flow ("s", "f") leads from there to the end of the wait.
 * Times are microseconds since the start of the run, with three digits for nanoseconds. */
#include <inttypes.h>

#include "export/file.h"
#include "export/format.h"
#include "schema/schema.h"
#include <stdlib.h>

enum { FLUSH_BYTES = 1 << 16 };

struct chrome {
    struct file file;
    struct buffer text;
    bool any;
};

static int flush(struct chrome *chrome, struct error *err) {
    int code = file_write(&chrome->file, chrome->text.data, chrome->text.size, err);
    chrome->text.size = 0;
    return code;
}

static void start_event(struct chrome *chrome, const char *phase, int64_t pid) {
    buffer_printf(&chrome->text, "%s\n{\"ph\":\"%s\",\"pid\":%" PRId64, chrome->any ? "," : "", phase, pid);
    chrome->any = true;
}

static void add_time(struct buffer *text, const char *name, int64_t ns) {
    buffer_printf(text, ",\"%s\":%" PRId64 ".%03d", name, ns / 1000, (int)(ns % 1000));
}

static void add_text(struct buffer *text, const char *name, const char *value) {
    buffer_add_char(text, ',');
    buffer_add_json_field(text, name, value);
}

/* ---- names ---- */

static void add_name(struct chrome *chrome, sqlite3_stmt *row) {
    bool is_thread = sqlite3_column_type(row, 1) != SQLITE_NULL;
    start_event(chrome, "M", sqlite3_column_int64(row, 0));
    if (is_thread) buffer_printf(&chrome->text, ",\"tid\":%" PRId64, (int64_t)sqlite3_column_int64(row, 1));
    add_text(&chrome->text, "name", is_thread ? "thread_name" : "process_name");
    buffer_add_text(&chrome->text, ",\"args\":{");
    buffer_add_json_field(&chrome->text, "name", db_text(row, 2));
    buffer_add_text(&chrome->text, "}}");
}

/* ---- waits ---- */

enum wait_column {
    START,
    DURATION,
    PID,
    TID,
    KIND,
    OBJECT,
    FUNCTION,
    SOURCE_FILE,
    LINE,
    OWNER_TID,
    OWNER,
    IS_LATE,
    RELEASE,
    RELEASED_BY,
    RELEASE_FUNCTION,
    RELEASE_ID
};

static void add_details(struct buffer *text, sqlite3_stmt *row) {
    buffer_add_text(text, ",\"args\":{");
    buffer_add_json_field(text, "at", db_text(row, FUNCTION));
    if (*db_text(row, SOURCE_FILE)) {
        add_text(text, "file", db_text(row, SOURCE_FILE));
        buffer_printf(text, ",\"line\":%d", sqlite3_column_int(row, LINE));
    }
    if (sqlite3_column_type(row, OWNER_TID) != SQLITE_NULL)
        buffer_printf(text, ",\"owner_tid\":%" PRId64, (int64_t)sqlite3_column_int64(row, OWNER_TID));
    if (sqlite3_column_type(row, OWNER) != SQLITE_NULL) add_text(text, "owner", db_text(row, OWNER));
    if (sqlite3_column_type(row, RELEASED_BY) != SQLITE_NULL) {
        buffer_printf(text, ",\"released_by\":%" PRId64, (int64_t)sqlite3_column_int64(row, RELEASED_BY));
        add_text(text, "released_at", db_text(row, RELEASE_FUNCTION));
    }
    if (sqlite3_column_int(row, IS_LATE)) buffer_add_text(text, ",\"gave_up\":true");
    buffer_add_char(text, '}');
}

/* One end of the arrow from a release to the end of the wait. Several waits may have one release: the wait's own number tells
 * them apart. */
static void add_flow(struct chrome *chrome, sqlite3_stmt *row, const char *phase, int64_t tid, int64_t ns, int64_t id) {
    start_event(chrome, phase, sqlite3_column_int64(row, PID));
    buffer_printf(&chrome->text, ",\"tid\":%" PRId64 ",\"id\":%" PRId64, tid, id);
    add_time(&chrome->text, "ts", ns);
    add_text(&chrome->text, "cat", "release");
    add_text(&chrome->text, "name", "release");
    buffer_add_text(&chrome->text, *phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void add_wait(struct chrome *chrome, sqlite3_stmt *row, int64_t number) {
    int64_t start = sqlite3_column_int64(row, START), duration = sqlite3_column_int64(row, DURATION);
    int64_t tid = sqlite3_column_int64(row, TID);
    start_event(chrome, "X", sqlite3_column_int64(row, PID));
    buffer_printf(&chrome->text, ",\"tid\":%" PRId64, tid);
    add_time(&chrome->text, "ts", start);
    add_time(&chrome->text, "dur", duration);
    add_text(&chrome->text, "cat", db_text(row, KIND));
    char *name = xasprintf("wait for %s", db_text(row, OBJECT));
    add_text(&chrome->text, "name", name);
    free(name);
    add_details(&chrome->text, row);
    buffer_add_char(&chrome->text, '}');
    if (sqlite3_column_type(row, RELEASE_ID) == SQLITE_NULL) return;
    add_flow(chrome, row, "s", sqlite3_column_int64(row, RELEASED_BY), sqlite3_column_int64(row, RELEASE), number);
    add_flow(chrome, row, "f", tid, start + duration, number);
}

static int add_rows(struct chrome *chrome, struct db *db, int64_t run_id, int64_t *waits, struct error *err) {
    sqlite3_stmt *names = db_prepare(db, embedded_text("export/trace_names.sql"), err), *rows;
    int code = names ? 0 : -1;
    if (names) db_bind_int(names, ":run", run_id);
    while (code == 0 && (code = db_step(db, names, err)) == 1) {
        add_name(chrome, names);
        code = 0;
    }
    if (code < 0 || !(rows = db_prepare(db, embedded_text("export/trace_waits.sql"), err))) return -1;
    db_bind_int(rows, ":run", run_id);
    while ((code = db_step(db, rows, err)) == 1) {
        add_wait(chrome, rows, ++*waits);
        if (chrome->text.size >= FLUSH_BYTES && flush(chrome, err)) return -1;
    }
    return code;
}

int chrome_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                 struct error *err) {
    struct chrome chrome = {0};
    int64_t waits = 0;
    (void)span, (void)kind;
    if (file_open(&chrome.file, path, false, err)) return -1;
    buffer_add_text(&chrome.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    int code = add_rows(&chrome, db, run_id, &waits, err);
    buffer_add_text(&chrome.text, "\n]}\n");
    if (code == 0 && !waits)
        code = error_fail(err, "run %" PRId64 " has no waits: record it with clear profile --trace", run_id);
    if (code == 0) code = flush(&chrome, err);
    buffer_free(&chrome.text);
    if (code == 0) return file_publish(&chrome.file, err);
    file_abandon(&chrome.file);
    return -1;
}
