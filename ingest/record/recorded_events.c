#include "ingest/record/recorded_events.h"

#include <stdatomic.h>
#include <string.h>

#include "schema/schema.h"

struct event_writer {
    struct recorded *recorded;
    struct resolver *resolver;
    struct segment_view *view;
    const struct recording_terms *terms;
    struct tick_rate rate;
    int64_t lost;
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
        [EVENT_REGION] = "region", [EVENT_MARK] = "mark",       [EVENT_FLOW] = "flow"};
    return names[event->kind] ? names[event->kind] : recorded_object_kind(row->kind);
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
    db_bind_int(statement, ":duration", epoch_of(writer, event->end) - epoch);
    db_bind_text(statement, ":kind", kind_of(event, row));
    db_bind_int(statement, ":object", row->thing);
    db_bind_int(statement, ":address", row->place);
    db_bind_int(statement, ":trace", trace);
    bool is_flow = event->kind == EVENT_FLOW;
    if (!is_flow && event->owner > 0) db_bind_int(statement, ":owner", event->owner);
    db_bind_int(statement, ":late", !is_flow && event->flags & EVENT_LATE);
    if (is_flow) db_bind_int(statement, ":value", (int64_t)event->flow);
    return db_run(db, statement, writer->err);
}

static void on_event(void *context, const struct segment_event *event) {
    struct event_writer *writer = context;
    struct recorded_row row;
    if (writer->err->status != ERROR_NONE) return;
    if (event->kind == EVENT_THREAD) {
        write_name(writer, event);
        return;
    }
    int found = recorded_object_row(writer->recorded, writer->resolver, writer->view, event->object, &row, writer->err);
    int64_t trace = row.trace;
    if (found > 0 && event->stack)
        trace = recorded_trace(writer->recorded, writer->resolver, writer->view, event->stack, writer->err);
    if (found == 0) writer->lost++;
    if (found > 0 && trace >= 0) write_event(writer, event, &row, trace);
}

static int write_lost(struct event_writer *writer) {
    struct db *db = writer->resolver->db;
    sqlite3_stmt *statement =
        db_prepare(db, "UPDATE processes SET lost_events = :lost WHERE id = :process", writer->err);
    if (!statement) return -1;
    db_bind_int(statement, ":process", writer->recorded->process_id);
    db_bind_int(statement, ":lost", writer->lost);
    return db_run(db, statement, writer->err);
}

int recorded_write_events(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                          const struct recording_terms *terms, struct error *err) {
    static const struct segment_visitor visitor = {.event = on_event};
    bool is_tsc = recorded->head.features & FEATURE_TSC;
    uint64_t dropped = atomic_load_explicit(&recorded->head.dropped_events, memory_order_relaxed);
    struct event_writer writer = {.recorded = recorded,
                                  .resolver = resolver,
                                  .view = view,
                                  .terms = terms,
                                  .rate = is_tsc ? terms->rate : (struct tick_rate){1, 1},
                                  .lost = dropped > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)dropped,
                                  .err = err};
    segment_view_walk(view, &visitor, &writer);
    return err->status == ERROR_NONE ? write_lost(&writer) : -1;
}
