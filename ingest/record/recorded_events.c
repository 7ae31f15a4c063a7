#include "ingest/record/recorded_events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/schema.h"

struct event_writer {
    struct recorded *recorded;
    struct resolver *resolver;
    struct segment_view *view;
    const struct recording_terms *terms;
    struct tick_rate rate;
    int64_t from_ns;   /* since the epoch: events that ended before are passed over */
    int64_t bad;       /* events of ids that are not in the segment */
    struct error *err; /* once it is set, the rest is passed over */
};

static int64_t to_ns(const struct event_writer *writer, uint64_t ticks) {
    unsigned __int128 ns = (unsigned __int128)ticks * writer->rate.ns / (writer->rate.ticks ? writer->rate.ticks : 1);
    return ns > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)ns;
}

/* Since the epoch. A damaged segment may name any time: it is kept within the recording. */
static int64_t epoch_of(const struct event_writer *writer, uint64_t ticks) {
    bool is_tsc = writer->recorded->head.features & FEATURE_TSC;
    uint64_t origin = is_tsc ? writer->terms->origin_ticks : (uint64_t)writer->terms->origin_monotonic_ns;
    int64_t epoch = writer->terms->origin_ns + (ticks > origin ? to_ns(writer, ticks - origin) : 0);
    return epoch < writer->terms->time_ns ? epoch : writer->terms->time_ns;
}

static int write_name(struct event_writer *writer, const struct segment_event *event) {
    struct db *db = writer->resolver->db;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/thread_row.sql"), writer->err);
    char name[sizeof event->name + 1] = "";
    if (!statement) return -1;
    memcpy(name, event->name, sizeof event->name);
    db_bind_int(statement, ":process", writer->recorded->process_id);
    db_bind_int(statement, ":tid", event->tid);
    db_bind_text(statement, ":name", name);
    return db_run(db, statement, writer->err);
}

static const char *kind_of(const struct segment_event *event, const struct recorded_row *row) {
    static const char *const names[EVENT_KINDS] = {
        [EVENT_READ] = "read",     [EVENT_RELEASE] = "release", [EVENT_SLEEP] = "sleep", [EVENT_SYSCALL] = "syscall",
        [EVENT_REGION] = "region", [EVENT_MARK] = "mark",       [EVENT_FLOW] = "flow",   [EVENT_HOLD] = "hold",
        [EVENT_ALLOC] = "alloc",   [EVENT_FREE] = "free",       [EVENT_CPU] = "cpu",     [EVENT_BIRTH] = "birth",
        [EVENT_DEATH] = "death",   [EVENT_FORK] = "fork",       [EVENT_EXEC] = "exec",   [EVENT_EXIT] = "exit",
        [EVENT_RETRY] = "retry",   [EVENT_CHANNEL] = "channel"};
    return names[event->kind] ? names[event->kind] : recorded_object_kind(row->kind);
}

static bool is_of_block(const struct segment_event *event) {
    return event->kind == EVENT_ALLOC || event->kind == EVENT_FREE;
}

static bool has_value(const struct segment_event *event) {
    return event->kind == EVENT_FLOW || event->kind == EVENT_FORK || event->kind == EVENT_RETRY;
}

/* What stands in the words that have another meaning in some kinds. */
static void bind_rest(sqlite3_stmt *statement, const struct segment_event *event, const struct recorded_row *row) {
    int64_t owner = event->kind == EVENT_BIRTH ? (int64_t)event->value : event->owner;
    bool has_owner = !is_of_block(event) && !has_value(event);
    if (has_owner && owner > 0) db_bind_int(statement, ":owner", owner);
    db_bind_int(statement, ":late", has_owner && event->kind != EVENT_BIRTH && event->flags & EVENT_LATE);
    if (has_value(event)) db_bind_int(statement, ":value", (int64_t)event->value);
    if (is_of_block(event)) db_bind_int(statement, ":value", (int64_t)(event->end - event->begin));
    int64_t address = row->kind == OBJECT_CHANNEL ? 0 : row->place;
    db_bind_int(statement, ":address", is_of_block(event) ? (int64_t)event->value : address);
}

static int write_event(struct event_writer *writer, const struct segment_event *event, const struct recorded_row *row,
                       int64_t trace) {
    struct db *db = writer->resolver->db;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/event_row.sql"), writer->err);
    int64_t epoch = epoch_of(writer, event->begin);
    if (!statement) return -1;
    db_bind_int(statement, ":run", writer->terms->run_id);
    db_bind_int(statement, ":process", writer->recorded->process_id);
    db_bind_int(statement, ":tid", event->tid);
    db_bind_int(statement, ":epoch", epoch);
    db_bind_int(statement, ":duration", is_of_block(event) ? 0 : epoch_of(writer, event->end) - epoch);
    db_bind_text(statement, ":kind", kind_of(event, row));
    db_bind_int(statement, ":object", row->thing);
    db_bind_int(statement, ":trace", trace);
    bind_rest(statement, event, row);
    return db_run(db, statement, writer->err);
}

/* 1: *row is the event's object, or one without a name. */
static int object_of(struct event_writer *writer, const struct segment_event *event, struct recorded_row *row) {
    if (event->object)
        return recorded_object_row(writer->recorded, writer->resolver, writer->view, event->object, row, writer->err);
    *row = (struct recorded_row){0};
    row->thing = store_object(&writer->resolver->store, "name", "name:", "", 0, 0, writer->err);
    return row->thing < 0 ? -1 : 1;
}

static void store_event(struct event_writer *writer, const struct segment_event *event) {
    struct recorded_row row;
    if (writer->err->status != ERROR_NONE) return;
    if (event->kind == EVENT_THREAD) {
        write_name(writer, event);
        return;
    }
    if (epoch_of(writer, is_of_block(event) ? event->begin : event->end) < writer->from_ns) return;
    int found = object_of(writer, event, &row);
    int64_t trace = row.trace;
    if (found > 0 && event->stack)
        trace = recorded_trace(writer->recorded, writer->resolver, writer->view, event->stack, writer->err);
    if (found == 0) writer->bad++;
    if (found > 0 && trace >= 0) write_event(writer, event, &row, trace);
}

/* What the program says it gave up, what its rings have now, less what is stored. */
static int64_t lost_events(const struct event_writer *writer) {
    const struct recorded *recorded = writer->recorded;
    uint64_t made = atomic_load_explicit(&recorded->head.dropped_events, memory_order_relaxed);
    for (size_t i = 0; i < recorded->event_chunk_count; i++)
        made += recorded->event_chunks[i].count;
    uint64_t lost = made > recorded->stored_events ? made - recorded->stored_events : 0;
    return (lost > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)lost) + writer->bad;
}

static int write_lost(struct event_writer *writer) {
    struct db *db = writer->resolver->db;
    sqlite3_stmt *statement =
        db_prepare(db, "UPDATE processes SET lost_events = :lost WHERE id = :process", writer->err);
    if (!statement) return -1;
    db_bind_int(statement, ":process", writer->recorded->process_id);
    db_bind_int(statement, ":lost", lost_events(writer));
    return db_run(db, statement, writer->err);
}

/* The events of a chunk, out of reach of the program. */
struct events_copy {
    struct segment_event *events;
    size_t count;
};

/* What is new of a chunk since the last time. */
static void copy_chunk(struct event_writer *writer, struct event_chunk *chunk, struct events_copy *copy) {
    uint64_t from = chunk->stored_turn == chunk->turn ? chunk->stored : 0;
    if (chunk->turn % 2 || chunk->count <= from) return;
    copy->events = xmalloc((size_t)(chunk->count - from) * sizeof *copy->events);
    copy->count = segment_view_events(writer->view, chunk->offset, chunk->turn, from, (size_t)(chunk->count - from),
                                      copy->events);
    chunk->stored_turn = chunk->turn;
    chunk->stored = from + copy->count;
    writer->recorded->stored_events += copy->count;
}

static void store_copy(struct event_writer *writer, struct events_copy *copy) {
    for (size_t i = 0; i < copy->count; i++)
        store_event(writer, &copy->events[i]);
    free(copy->events);
    *copy = (struct events_copy){0};
}

/* A program that runs on goes through 64 MiB of rings in 0.2 s, and rows of them take 5 s: while it does, all is copied before the first row. */
static void store_chunks(struct event_writer *writer) {
    struct recorded *recorded = writer->recorded;
    struct events_copy *copies = xcalloc(recorded->event_chunk_count + 1, sizeof *copies);
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        copy_chunk(writer, &recorded->event_chunks[i], &copies[i]);
        if (!recorded->is_running) store_copy(writer, &copies[i]);
    }
    for (size_t i = 0; i < recorded->event_chunk_count; i++)
        store_copy(writer, &copies[i]);
    free(copies);
}

int recorded_write_events(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                          const struct recording_terms *terms, struct error *err) {
    bool is_tsc = recorded->head.features & FEATURE_TSC;
    struct event_writer writer = {.recorded = recorded,
                                  .resolver = resolver,
                                  .view = view,
                                  .terms = terms,
                                  .rate = is_tsc ? terms->rate : (struct tick_rate){1, 1},
                                  .err = err};
    if (terms->trace_last_ns) writer.from_ns = epoch_of(&writer, recorded->read_ticks) - terms->trace_last_ns;
    store_chunks(&writer);
    return err->status == ERROR_NONE ? write_lost(&writer) : -1;
}

bool recorded_wants_events(struct recorded *recorded, const struct recording_terms *terms) {
    uint64_t asked = atomic_load_explicit(&recorded->head.dumps_asked, memory_order_relaxed);
    bool is_asked = asked != recorded->dumps || terms->is_dump_asked;
    recorded->dumps = asked;
    if (!(recorded->head.features & FEATURE_TRACE)) return false;
    if (terms->stores_when_asked || is_asked) return is_asked;
    return !recorded->is_running || terms->keeps_all_events || terms->is_final;
}

void recorded_events_committed(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        struct event_chunk *chunk = &recorded->event_chunks[i];
        chunk->committed = chunk->stored;
        chunk->committed_turn = chunk->stored_turn;
    }
    recorded->committed_events = recorded->stored_events;
    recorded->committed_dumps = recorded->dumps;
}

void recorded_events_rolled_back(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        struct event_chunk *chunk = &recorded->event_chunks[i];
        chunk->stored = chunk->committed;
        chunk->stored_turn = chunk->committed_turn;
    }
    recorded->stored_events = recorded->committed_events;
    recorded->dumps = recorded->committed_dumps;
}
