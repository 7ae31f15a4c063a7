/* chrome.c: the events of a run (clear profile --trace) as a Chrome trace, the JSON that https://ui.perfetto.dev and chrome://tracing open.
 * Each event is a slice ("X") of its thread, of no length where it took no time; a flow ("s", "f") leads from a release to the end of the
 * wait that it ended, a slice `wake`. Times are microseconds since the start of the run, with three digits for nanoseconds. */
#include <inttypes.h>
#include <stdlib.h>

#include "export/file.h"
#include "export/format.h"
#include "export/timeline.h"
#include "schema/schema.h"

enum { FLUSH_BYTES = 1 << 16 };

struct chrome {
    struct file file;
    struct timeline timeline;
    struct buffer text;
    struct map places; /* trace id -> its function, file and line as JSON */
    bool any;
};

static int flush(struct chrome *chrome, struct error *err) {
    int code = file_write(&chrome->file, chrome->text.data, chrome->text.size, err);
    chrome->text.size = 0;
    return code;
}

static void start_event(struct chrome *chrome, const char *phase, uint32_t process) {
    buffer_printf(&chrome->text, "%s\n{\"ph\":\"%s\",\"pid\":%" PRId64, chrome->any ? "," : "", phase,
                  chrome->timeline.processes[process].pid);
    chrome->any = true;
}

static void start_of_thread(struct chrome *chrome, const char *phase, uint32_t thread) {
    start_event(chrome, phase, chrome->timeline.threads[thread].process);
    buffer_printf(&chrome->text, ",\"tid\":%" PRId64, chrome->timeline.threads[thread].tid);
}

static void add_time(struct buffer *text, const char *name, int64_t ns) {
    buffer_printf(text, ",\"%s\":%" PRId64 ".%03d", name, ns / 1000, (int)(ns % 1000));
}

static void add_text(struct buffer *text, const char *name, const char *value) {
    buffer_add_char(text, ',');
    buffer_add_json_field(text, name, value);
}

/* ---- names ---- */

static void end_name(struct chrome *chrome, const char *what, const char *name) {
    add_text(&chrome->text, "name", what);
    buffer_add_text(&chrome->text, ",\"args\":{");
    buffer_add_json_field(&chrome->text, "name", name);
    buffer_add_text(&chrome->text, "}}");
}

static void add_names(struct chrome *chrome) {
    for (uint32_t i = 0; i < chrome->timeline.process_count; i++) {
        start_event(chrome, "M", i);
        end_name(chrome, "process_name", chrome->timeline.processes[i].executable);
    }
    for (uint32_t i = 0; i < chrome->timeline.thread_count; i++) {
        start_of_thread(chrome, "M", i);
        end_name(chrome, "thread_name", chrome->timeline.threads[i].name);
    }
}

/* "at":"read_table","file":"table.c","line":17; NULL for an error. */
static const char *make_place(struct chrome *chrome, int64_t trace_id, struct error *err) {
    struct db *db = chrome->timeline.db;
    struct buffer text = {0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/trace_place.sql"), err);
    if (!row) return NULL;
    db_bind_int(row, ":trace", trace_id);
    int code = db_step(db, row, err);
    if (code == 1) {
        buffer_add_json_field(&text, "at", db_text(row, 0));
        if (*db_text(row, 1)) add_text(&text, "file", db_text(row, 1));
        if (sqlite3_column_int(row, 2)) buffer_printf(&text, ",\"line\":%d", sqlite3_column_int(row, 2));
    }
    const char *place = code < 0 ? NULL : arena_text(&chrome->timeline.texts, buffer_text(&text), text.size);
    sqlite3_reset(row);
    buffer_free(&text);
    return place;
}

static const char *find_place(struct chrome *chrome, int64_t trace_id, struct error *err) {
    bool is_new;
    struct map_entry *entry = map_put(&chrome->places, &trace_id, sizeof trace_id, &is_new);
    if (is_new) entry->value = (int64_t)(intptr_t)make_place(chrome, trace_id, err);
    return (const char *)(intptr_t)entry->value;
}

/* ---- events ---- */

static void add_thread(struct chrome *chrome, const char *id_name, const char *name, uint32_t thread) {
    const struct timeline_thread *of = &chrome->timeline.threads[thread];
    buffer_printf(&chrome->text, ",\"%s\":%" PRId64, id_name, of->tid);
    if (*of->name) add_text(&chrome->text, name, of->name);
}

static int add_details(struct chrome *chrome, const struct timeline_event *event, struct error *err) {
    const struct timeline *timeline = &chrome->timeline;
    const char *place = find_place(chrome, event->trace_id, err);
    if (!place) return -1;
    buffer_printf(&chrome->text, ",\"args\":{\"event_id\":%" PRId64 "%s%s", event->id, *place ? "," : "", place);
    if (event->owner != TIMELINE_NONE) add_thread(chrome, "owner_tid", "owner", event->owner);
    if (timeline_class(timeline, event) == TIMELINE_WAIT && event->release != TIMELINE_NONE)
        add_thread(chrome, "released_by_tid", "released_by", timeline->events[event->release].thread);
    if (event->has_fiber) buffer_printf(&chrome->text, ",\"fiber\":%" PRId64, event->value);
    if (event->is_late) buffer_add_text(&chrome->text, ",\"gave_up\":true");
    buffer_add_char(&chrome->text, '}');
    return 0;
}

static void add_slice(struct chrome *chrome, uint32_t thread, int64_t start, int64_t duration, const char *name) {
    start_of_thread(chrome, "X", thread);
    add_time(&chrome->text, "ts", start);
    add_time(&chrome->text, "dur", duration);
    add_text(&chrome->text, "name", name);
}

/* One end of the arrow from a release to the end of a wait, which belongs to the slice around it. Several waits may have one release:
 * the wait's own number tells the arrows apart. */
static void add_flow(struct chrome *chrome, const char *phase, uint32_t thread, int64_t ns, int64_t wait_id) {
    start_of_thread(chrome, phase, thread);
    buffer_printf(&chrome->text, ",\"id\":%" PRId64, wait_id);
    add_time(&chrome->text, "ts", ns);
    buffer_add_text(&chrome->text, ",\"cat\":\"release\",\"name\":\"release\"");
    buffer_add_text(&chrome->text, *phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* A release first, then the waits that it ended, and what wakes by it. */
static void add_flows(struct chrome *chrome, const struct timeline_event *event) {
    const struct timeline *timeline = &chrome->timeline;
    if (event->release == TIMELINE_NONE) return;
    if (timeline_class(timeline, event) == TIMELINE_WAIT) {
        add_slice(chrome, event->thread, timeline_end(event), 0, "wake");
        buffer_add_char(&chrome->text, '}');
        add_flow(chrome, "f", event->thread, timeline_end(event), event->id);
        return;
    }
    for (uint32_t i = event->release; i != TIMELINE_NONE; i = timeline->events[i].next)
        add_flow(chrome, "s", event->thread, event->start_ns, timeline->events[i].id);
}

static int add_event(struct chrome *chrome, const struct timeline_event *event, struct error *err) {
    char *name = timeline_name(&chrome->timeline, event, err);
    if (!name) return -1;
    add_slice(chrome, event->thread, event->start_ns, event->duration_ns, name);
    free(name);
    add_text(&chrome->text, "cat", chrome->timeline.kinds[event->kind].name);
    if (add_details(chrome, event, err)) return -1;
    buffer_add_char(&chrome->text, '}');
    add_flows(chrome, event);
    return 0;
}

static int add_events(struct chrome *chrome, struct error *err) {
    for (size_t i = 0; i < chrome->timeline.event_count; i++) {
        if (add_event(chrome, &chrome->timeline.events[i], err)) return -1;
        if (chrome->text.size >= FLUSH_BYTES && flush(chrome, err)) return -1;
    }
    return 0;
}

static int write_file(struct chrome *chrome, const char *path, struct error *err) {
    if (file_open(&chrome->file, path, false, err)) return -1;
    buffer_add_text(&chrome->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    add_names(chrome);
    int code = add_events(chrome, err);
    buffer_add_text(&chrome->text, "\n]}\n");
    if (code == 0) code = flush(chrome, err);
    if (code == 0) return file_publish(&chrome->file, err);
    file_abandon(&chrome->file);
    return -1;
}

int chrome_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                 struct error *err) {
    struct chrome chrome = {0};
    (void)span, (void)kind;
    if (timeline_load(&chrome.timeline, db, run_id, err)) return -1;
    int code = write_file(&chrome, path, err);
    buffer_free(&chrome.text);
    map_free(&chrome.places);
    timeline_free(&chrome.timeline);
    return code;
}
