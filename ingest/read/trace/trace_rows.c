#include "ingest/read/trace/trace_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ingest/read/input.h"
#include "schema/bulk.h"
#include "schema/schema.h"

#define TRACKS_FROM (INT64_C(1) << 32) /* the kernel's ids are smaller */

/* ---- collecting ---- */

void trace_rows_open(struct trace_rows *rows, struct ingest *ingest) {
    *rows = (struct trace_rows){.ingest = ingest};
}

void trace_rows_free(struct trace_rows *rows) {
    free(rows->slices);
    free(rows->threads);
    map_free(&rows->thread_index);
    map_free(&rows->track_index);
    map_free(&rows->texts);
    map_free(&rows->processes);
    arena_free(&rows->arena);
}

static char *make_valid(struct trace_rows *rows, const char *text, size_t size) {
    char *copy = arena_text(&rows->arena, text, size);
    for (size_t at = 0; (at += utf8_bad_byte(copy + at, size - at)) < size;)
        copy[at] = '?';
    for (size_t at = 0; at < size; at++)
        if (!copy[at]) copy[at] = '?';
    return copy;
}

const char *trace_text(struct trace_rows *rows, const char *text, size_t size) {
    bool is_new;
    struct map_entry *entry = map_put(&rows->texts, text, size, &is_new);
    if (is_new) entry->value = (int64_t)(intptr_t)make_valid(rows, text, size);
    return (const char *)(intptr_t)entry->value;
}

uint32_t trace_thread(struct trace_rows *rows, int64_t pid, int64_t tid) {
    const int64_t key[] = {pid, tid};
    bool is_new;
    struct map_entry *entry = map_put(&rows->thread_index, key, sizeof key, &is_new);
    if (!is_new) return (uint32_t)entry->value;
    entry->value = (int64_t)rows->thread_count++;
    rows->threads = xrealloc(rows->threads, rows->thread_count * sizeof *rows->threads);
    rows->threads[entry->value] = (struct trace_thread){pid, tid, ""};
    return (uint32_t)entry->value;
}

uint32_t trace_track(struct trace_rows *rows, int64_t pid, const char *key, const char *name) {
    char *text = xasprintf("%lld %s", (long long)pid, key);
    bool is_new;
    struct map_entry *entry = map_put(&rows->track_index, text, strlen(text), &is_new);
    free(text);
    if (is_new) {
        entry->value = trace_thread(rows, pid, TRACKS_FROM + (int64_t)rows->track_index.count);
        rows->threads[entry->value].name = name;
    }
    return (uint32_t)entry->value;
}

void trace_name_thread(struct trace_rows *rows, int64_t pid, int64_t tid, const char *name) {
    uint32_t thread = trace_thread(rows, pid, tid); /* first: it may move them */
    rows->threads[thread].name = name;
}

void trace_name_process(struct trace_rows *rows, int64_t pid, const char *name) {
    map_put(&rows->processes, &pid, sizeof pid, NULL)->value = (int64_t)(intptr_t)name;
}

int trace_add(struct trace_rows *rows, const struct trace_slice *slice) {
    int64_t end;
    /* What clear export wrote beside the events: the end of an arrow, and the same wait on the track of its lock. */
    if (strcmp(slice->category, "clear.lock") == 0) return 0;
    if (!slice->kind && slice->duration_ns == 0 && !*slice->category && strcmp(slice->name, "wake") == 0) return 0;
    if (slice->duration_ns < 0 || __builtin_add_overflow(slice->start_ns, slice->duration_ns, &end)) return -1;
    if (rows->slice_count == rows->slice_capacity) {
        rows->slice_capacity = rows->slice_capacity ? 2 * rows->slice_capacity : 1024;
        rows->slices = xrealloc(rows->slices, rows->slice_capacity * sizeof *rows->slices);
    }
    rows->slices[rows->slice_count++] = *slice;
    return 0;
}

/* ---- writing ---- */

/* A slice with the ids of what it refers to. */
struct trace_event {
    const struct trace_slice *slice;
    const char *kind;
    int64_t process, tid, object;
};

enum { EVENTS_AT_ONCE = 4096 };

/* What the rows have in common: ids of rows that were written. */
struct trace_writer {
    struct trace_rows *rows;
    struct db *db;
    struct map processes, objects,
        kinds; /* pid -> process id; name -> object id; kind -> 1 where the view event_kinds has it */
    int64_t begin_ns, end_ns, epoch_ns;
    struct trace_event *events; /* that are not written yet */
    size_t event_count;
};

static int by_start(const void *left, const void *right) {
    const struct trace_slice *a = left, *b = right;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    return (a->duration_ns < b->duration_ns) - (a->duration_ns > b->duration_ns);
}

static void find_span(struct trace_writer *writer) {
    const struct trace_rows *rows = writer->rows;
    writer->begin_ns = INT64_MAX;
    writer->end_ns = INT64_MIN;
    for (size_t i = 0; i < rows->slice_count; i++) {
        int64_t start = rows->slices[i].start_ns, end = start + rows->slices[i].duration_ns;
        if (start < writer->begin_ns) writer->begin_ns = start;
        if (end > writer->end_ns) writer->end_ns = end;
    }
}

static int64_t write_process(struct trace_writer *writer, int64_t pid, struct error *err) {
    bool is_new;
    struct map_entry *entry = map_put(&writer->processes, &pid, sizeof pid, &is_new);
    if (!is_new) return entry->value;
    const struct map_entry *name = map_find(&writer->rows->processes, &pid, sizeof pid);
    const struct ingest_process process = {.pid = pid,
                                           .executable = name ? (const char *)(intptr_t)name->value : "",
                                           .started_ns = writer->epoch_ns,
                                           .ended_ns = writer->epoch_ns + (writer->end_ns - writer->begin_ns)};
    return entry->value = ingest_process(writer->rows->ingest, &process, err);
}

static int write_threads(struct trace_writer *writer, struct error *err) {
    sqlite3_stmt *insert = db_prepare(writer->db, embedded_text("ingest/thread_row.sql"), err);
    if (!insert) return -1;
    for (size_t i = 0; i < writer->rows->thread_count; i++) {
        const struct trace_thread *thread = &writer->rows->threads[i];
        int64_t process = write_process(writer, thread->pid, err);
        if (process < 0) return -1;
        db_bind_int(insert, ":process", process);
        db_bind_int(insert, ":tid", thread->tid);
        db_bind_text(insert, ":name", thread->name);
        if (db_run(writer->db, insert, err) < 0) return -1;
    }
    return 0;
}

static int64_t write_object(struct trace_writer *writer, const char *name, struct error *err) {
    bool is_new;
    struct map_entry *entry = map_put(&writer->objects, name, strlen(name), &is_new);
    if (!is_new) return entry->value;
    char *identity = xasprintf("name:%s", name);
    entry->value = writer_object(&writer->rows->ingest->writer, "name", identity, name, 0, 0, err);
    free(identity);
    return entry->value;
}

/* Whether the slice is one that clear export wrote: its category is a kind, and its name "wait for OBJECT", "KIND OBJECT", or the kind where
 * the object has no name. Else it is a region, or a mark. */
static const char *find_kind(struct trace_writer *writer, const struct trace_slice *slice, const char **object,
                             struct error *err) {
    size_t size = strlen(slice->category);
    bool is_new;
    struct map_entry *entry = map_put(&writer->kinds, slice->category, size, &is_new);
    if (is_new) {
        sqlite3_stmt *row =
            db_prepare(writer->db, "SELECT 1 + (class = 'wait') FROM event_kinds WHERE kind = :kind", err);
        if (!row) return NULL;
        db_bind_text(row, ":kind", slice->category);
        int code = db_step(writer->db, row, err);
        entry->value = code == 1 ? sqlite3_column_int64(row, 0) : 0;
        sqlite3_reset(row);
        if (code < 0) return NULL;
    }
    *object = slice->name;
    static const char wait_for[] = "wait for ";
    if (entry->value == 2 && strncmp(slice->name, wait_for, sizeof wait_for - 1) == 0) {
        *object += sizeof wait_for - 1;
        return slice->category;
    }
    if (entry->value == 1 && strncmp(slice->name, slice->category, size) == 0 &&
        (slice->name[size] == ' ' || !slice->name[size])) {
        *object += slice->name[size] ? size + 1 : size;
        return slice->category;
    }
    return slice->duration_ns ? "region" : "mark";
}

static int place_event(struct trace_writer *writer, const struct trace_slice *slice, struct error *err) {
    const struct trace_thread *thread = &writer->rows->threads[slice->thread];
    const char *name = slice->name;
    const char *kind = slice->kind ? slice->kind : find_kind(writer, slice, &name, err);
    int64_t process = write_process(writer, thread->pid, err),
            object = kind && process > 0 ? write_object(writer, name, err) : -1;
    if (object < 0) return -1;
    writer->events[writer->event_count++] = (struct trace_event){slice, kind, process, thread->tid, object};
    ingest_count_row(writer->rows->ingest);
    return 0;
}

/* The columns of ingest/events_bulk.sql. */
static void give_cell(sqlite3_context *result, const void *context, size_t number, int column) {
    const struct trace_writer *writer = context;
    const struct trace_event *event = &writer->events[number];
    const struct trace_slice *slice = event->slice;
    switch (column) {
    case 0: sqlite3_result_int64(result, event->process); break;
    case 1: sqlite3_result_int64(result, event->tid); break;
    case 2: sqlite3_result_int64(result, slice->start_ns - writer->begin_ns); break;
    case 3: sqlite3_result_int64(result, slice->duration_ns); break;
    case 4: sqlite3_result_text(result, event->kind, -1, SQLITE_STATIC); break;
    case 5: sqlite3_result_int64(result, event->object); break;
    case 6: sqlite3_result_int64(result, slice->address); break;
    case 7: sqlite3_result_int64(result, slice->stack); break;
    case 8: slice->has_owner ? sqlite3_result_int64(result, slice->owner) : sqlite3_result_null(result); break;
    case 9: sqlite3_result_int64(result, slice->is_cut); break;
    default: slice->has_value ? sqlite3_result_int64(result, slice->value) : sqlite3_result_null(result);
    }
}

static int write_placed(struct trace_writer *writer, struct error *err) {
    const struct bulk bulk = {writer->event_count, writer, give_cell};
    writer->event_count = 0;
    return bulk_insert(writer->db, embedded_text("ingest/events_bulk.sql"), &bulk, err);
}

static int write_events(struct trace_writer *writer, struct error *err) {
    const struct trace_rows *rows = writer->rows;
    for (size_t i = 0; i < rows->slice_count; i++)
        if (place_event(writer, &rows->slices[i], err) ||
            (writer->event_count == EVENTS_AT_ONCE && write_placed(writer, err)))
            return -1;
    return write_placed(writer, err);
}

static int write_rows(struct trace_writer *writer, struct error *err) {
    struct trace_rows *rows = writer->rows;
    const struct ingest_run run = {.started_ns = writer->epoch_ns, .duration_ns = writer->end_ns - writer->begin_ns};
    if (ingest_begin_run(rows->ingest, &run, err) || write_threads(writer, err)) return -1;
    writer->events = xmalloc(EVENTS_AT_ONCE * sizeof *writer->events);
    int code = write_events(writer, err);
    free(writer->events);
    return code;
}

int trace_rows_write(struct trace_rows *rows, int64_t epoch_ns, struct error *err) {
    struct trace_writer writer = {.rows = rows, .db = rows->ingest->db};
    const struct input *input = rows->ingest->input;
    if (!rows->slice_count) return error_fail(err, "%s: the trace has no slices", input->path);
    find_span(&writer);
    if (__builtin_sub_overflow(writer.end_ns, writer.begin_ns, &(int64_t){0}))
        return error_fail(err, "%s: the times in the trace are more than 64 bits apart", input->path);
    if (!epoch_ns || __builtin_add_overflow(epoch_ns, writer.begin_ns, &writer.epoch_ns) || writer.epoch_ns <= 0)
        writer.epoch_ns = input->modified_ns;
    qsort(rows->slices, rows->slice_count, sizeof *rows->slices, by_start);
    int code = write_rows(&writer, err);
    map_free(&writer.processes);
    map_free(&writer.objects);
    map_free(&writer.kinds);
    return code;
}
