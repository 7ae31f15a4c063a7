/* chrome_trace.c: Chrome's trace event format, the JSON of chrome://tracing that many programs write. Slices become events: "X"; "B" with its
 * "E"; "b" with its "e" of the same id, in a track of their own; "i", "I", "n" and "R" are moments; "M" has names of threads and processes. Counters,
 * flows, samples and the arguments of events are left out. SQLite reads the JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/readers.h"
#include "ingest/read/trace/open_slices.h"
#include "schema/schema.h"

enum { LOOK_AT = 4096, SIZE_MAX_JSON = 900 << 20 /* SQLite's texts have 1,000,000,000 bytes at most */ };

struct chrome_reader {
    struct trace_rows rows;
    struct open_slices open;
    const struct input *input;
    uint64_t number; /* of the event, from 1 */
};

static int fail_event(struct chrome_reader *reader, const char *what, struct error *err) {
    error_fail(err, "%s: event %llu %s", reader->input->path, (unsigned long long)reader->number, what);
    return ingest_broken(reader->rows.ingest, err);
}

enum column { PHASE, PID, TID, US, DURATION_US, NAME, CATEGORY, GIVEN_NAME, ASYNC_ID };

/* Microseconds with fractions, as ns. False where 63 bits do not hold them. */
static bool take_time(sqlite3_stmt *row, int column, int64_t *ns) {
    double value = sqlite3_column_double(row, column) * 1000;
    if (!(fabs(value) < 0x1p62)) return false;
    *ns = llround(value);
    return true;
}

static const char *take_text(struct chrome_reader *reader, sqlite3_stmt *row, int column) {
    return trace_text(&reader->rows, db_text(row, column), strlen(db_text(row, column)));
}

static void read_name(struct chrome_reader *reader, sqlite3_stmt *row) {
    int64_t pid = sqlite3_column_int64(row, PID), tid = sqlite3_column_int64(row, TID);
    const char *what = db_text(row, NAME);
    if (strcmp(what, "thread_name") == 0)
        trace_name_thread(&reader->rows, pid, tid, take_text(reader, row, GIVEN_NAME));
    else if (strcmp(what, "process_name") == 0)
        trace_name_process(&reader->rows, pid, take_text(reader, row, GIVEN_NAME));
}

/* Slices that overlap have an id; each name and id is a track, as one thread is for the others. */
static uint32_t find_track(struct chrome_reader *reader, sqlite3_stmt *row, bool is_async) {
    int64_t pid = sqlite3_column_int64(row, PID);
    if (!is_async) return trace_thread(&reader->rows, pid, sqlite3_column_int64(row, TID));
    char *key = xasprintf("%s %s %s", db_text(row, CATEGORY), db_text(row, NAME), db_text(row, ASYNC_ID));
    uint32_t thread = trace_track(&reader->rows, pid, key, take_text(reader, row, NAME));
    free(key);
    return thread;
}

static int read_event(struct chrome_reader *reader, sqlite3_stmt *row, struct error *err) {
    const char *phase = db_text(row, PHASE);
    if (!*phase || phase[1]) return *phase ? 0 : fail_event(reader, "has no phase (ph)", err);
    if (*phase == 'M') {
        read_name(reader, row);
        return 0;
    }
    if (!strchr("XBEbeiInR", *phase)) return 0;
    struct trace_slice slice = {0};
    if (sqlite3_column_type(row, US) == SQLITE_NULL || !take_time(row, US, &slice.start_ns) ||
        !take_time(row, DURATION_US, &slice.duration_ns) || slice.duration_ns < 0)
        return fail_event(reader, "has no time (ts), or one that 64 bits of ns do not hold", err);
    slice.thread = find_track(reader, row, *phase == 'b' || *phase == 'e');
    if (*phase == 'E' || *phase == 'e') {
        open_slices_end(&reader->open, slice.thread, slice.start_ns);
        return 0;
    }
    slice.name = take_text(reader, row, NAME);
    slice.category = take_text(reader, row, CATEGORY);
    if (*phase == 'B' || *phase == 'b')
        open_slices_begin(&reader->open, &slice);
    else if (trace_add(&reader->rows, &slice))
        return fail_event(reader, "ends later than 64 bits of ns hold", err);
    return 0;
}

static int read_events(struct chrome_reader *reader, sqlite3_stmt *row, struct error *err) {
    int code;
    while ((code = db_step(reader->rows.ingest->db, row, err)) == 1) {
        reader->number++;
        if (read_event(reader, row, err) == 0) continue;
        sqlite3_reset(row);
        return -1;
    }
    return code;
}

/* The format allows that the end of the array is missing, because the program was killed. */
static char *whole_text(const struct input *input) {
    const char *text = (const char *)input->data;
    size_t size = input->size;
    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    if (!size || *text != '[' || text[size - 1] == ']') return xasprintf("%.*s", (int)size, text);
    if (text[size - 1] == ',') size--;
    return xasprintf("%.*s]", (int)size, text);
}

static int check_text(struct chrome_reader *reader, const char *text, struct error *err) {
    struct db *db = reader->rows.ingest->db;
    sqlite3_stmt *row = db_prepare(db, "SELECT json_valid(:text)", err);
    if (!row) return -1;
    db_bind_text(row, ":text", text);
    int code = db_step(db, row, err), is_valid = code == 1 && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    if (code < 0) return -1;
    return is_valid
               ? 0
               : error_fail(err, "%s: not a whole JSON text; a trace whose writer was killed may only miss its last ]",
                            reader->input->path);
}

static int read_text(struct chrome_reader *reader, const char *text, struct error *err) {
    if (check_text(reader, text, err)) return -1;
    sqlite3_stmt *row = db_prepare(reader->rows.ingest->db, embedded_text("ingest/chrome_events.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":text", text);
    if (read_events(reader, row, err) < 0) return -1;
    open_slices_cut(&reader->open);
    return trace_rows_write(&reader->rows, 0, err);
}

static int read_chrome(struct ingest *ingest, const struct input *input, struct error *err) {
    struct chrome_reader reader = {.input = input};
    if (input->size > SIZE_MAX_JSON)
        return error_fail(err, "%s: %zu bytes of JSON are more than %d MiB", input->path, input->size,
                          SIZE_MAX_JSON >> 20);
    trace_rows_open(&reader.rows, ingest);
    reader.open.rows = &reader.rows;
    char *text = whole_text(input);
    int code = read_text(&reader, text, err);
    free(text);
    open_slices_free(&reader.open);
    trace_rows_free(&reader.rows);
    return code;
}

/* JSON whose first bytes have the name of the list, or the phase of an event. */
static bool recognise_chrome(const struct input *input) {
    size_t size = input->size < LOOK_AT ? input->size : LOOK_AT, at = 0;
    while (at < size && strchr(" \t\r\n", input->data[at]) && input->data[at])
        at++;
    if (at == size || (input->data[at] != '{' && input->data[at] != '[')) return false;
    static const char list[] = "\"traceEvents\"", phase[] = "\"ph\"";
    return memmem(input->data, size, list, sizeof list - 1) || memmem(input->data, size, phase, sizeof phase - 1);
}

const struct format format_chrome = {
    .name = "chrome",
    .help = "slices of a Chrome trace (JSON): chrome://tracing and many others",
    .recognise = recognise_chrome,
    .read = read_chrome,
};
