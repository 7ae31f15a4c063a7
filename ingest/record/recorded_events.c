#include "ingest/record/recorded_events.h"

#include "ingest/record/recorded_rings.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "ingest/record/kernel/preemptions.h"
#include "schema/bulk.h"
#include "schema/schema.h"

/* A row of `events`, but for its process. */
struct event_row {
    int64_t tid, start_ns, duration_ns, object, address, trace, owner, value;
    const char *kind;
    bool has_owner, is_late, has_value;
};

enum { ROWS_AT_ONCE = SEGMENT_EVENTS };

struct event_writer {
    struct recorded *recorded;
    struct resolver *resolver;
    struct segment_view *view;
    const struct recording_terms *terms;
    struct tick_rate rate;
    int64_t started_ns; /* of the run, since the epoch */
    int64_t from_ns;    /* since the epoch: events that ended before are passed over */
    int64_t bad;        /* events of ids that are not in the segment */
    struct event_row *rows;
    size_t row_count;
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
        [EVENT_RETRY] = "retry",   [EVENT_CHANNEL] = "channel", [EVENT_SPAWN] = "spawn", [EVENT_FIBER] = "fiber",
        [EVENT_FINISH] = "finish"};
    return names[event->kind] ? names[event->kind] : recorded_object_kind(row->kind);
}

static bool is_of_block(const struct segment_event *event) {
    return event->kind == EVENT_ALLOC || event->kind == EVENT_FREE;
}

static bool is_of_fiber(const struct segment_event *event) {
    return event->kind >= EVENT_SPAWN && event->kind <= EVENT_FINISH;
}

static bool has_value(const struct segment_event *event) {
    return event->kind == EVENT_FLOW || event->kind == EVENT_FORK || event->kind == EVENT_RETRY || is_of_fiber(event);
}

/* What stands in the words that have another meaning in some kinds. */
static void set_rest(struct event_row *made, const struct segment_event *event, const struct recorded_row *row) {
    bool may_have_owner = !is_of_block(event) && !has_value(event);
    made->owner = event->kind == EVENT_BIRTH ? (int64_t)event->value : event->owner;
    made->has_owner = may_have_owner && made->owner > 0;
    made->is_late = may_have_owner && event->kind != EVENT_BIRTH && event->flags & EVENT_LATE;
    made->has_value = has_value(event) || is_of_block(event);
    made->value = is_of_block(event) ? (int64_t)(event->end - event->begin) : (int64_t)event->value;
    made->address = row->kind == OBJECT_CHANNEL ? 0 : row->place;
    if (is_of_block(event)) made->address = (int64_t)event->value;
}

/* The columns of ingest/events_bulk.sql. */
static void give_cell(sqlite3_context *result, const void *context, size_t number, int column) {
    const struct event_writer *writer = context;
    const struct event_row *row = &writer->rows[number];
    switch (column) {
    case 0: sqlite3_result_int64(result, writer->recorded->process_id); break;
    case 1: sqlite3_result_int64(result, row->tid); break;
    case 2: sqlite3_result_int64(result, row->start_ns); break;
    case 3: sqlite3_result_int64(result, row->duration_ns); break;
    case 4: sqlite3_result_text(result, row->kind, -1, SQLITE_STATIC); break;
    case 5: sqlite3_result_int64(result, row->object); break;
    case 6: sqlite3_result_int64(result, row->address); break;
    case 7: sqlite3_result_int64(result, row->trace); break;
    case 8: row->has_owner ? sqlite3_result_int64(result, row->owner) : sqlite3_result_null(result); break;
    case 9: sqlite3_result_int64(result, row->is_late); break;
    default: row->has_value ? sqlite3_result_int64(result, row->value) : sqlite3_result_null(result);
    }
}

static void write_rows(struct event_writer *writer) {
    const struct bulk bulk = {writer->row_count, writer, give_cell};
    if (writer->err->status == ERROR_NONE)
        (void)bulk_insert(writer->resolver->db, embedded_text("ingest/events_bulk.sql"), &bulk, writer->err);
    writer->row_count = 0;
}

/* The clocks of the run and of the process may differ by less than a microsecond: an event at the very start may seem to lie before it. */
static void add_row(struct event_writer *writer, const struct segment_event *event, const struct recorded_row *row,
                    int64_t trace) {
    int64_t epoch = epoch_of(writer, event->begin);
    struct event_row made = {.tid = event->tid, .kind = kind_of(event, row), .object = row->thing, .trace = trace};
    made.start_ns = epoch > writer->started_ns ? epoch - writer->started_ns : 0;
    made.duration_ns = is_of_block(event) ? 0 : epoch_of(writer, event->end) - epoch;
    set_rest(&made, event, row);
    if (writer->row_count == ROWS_AT_ONCE) write_rows(writer);
    writer->rows[writer->row_count++] = made;
}

/* 1: *row is the event's object, or one without a name. A task site is a number and no object of the warehouse: no event is of one. */
static int object_of(struct event_writer *writer, const struct segment_event *event, struct recorded_row *row) {
    if (event->object) {
        int found =
            recorded_object_row(writer->recorded, writer->resolver, writer->view, event->object, row, writer->err);
        return row->kind == OBJECT_TASK_SITE ? 0 : found;
    }
    *row = (struct recorded_row){0};
    row->thing = writer_object(&writer->resolver->writer, "name", "name:", "", 0, 0, writer->err);
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
    if (found > 0 && trace >= 0) add_row(writer, event, &row, trace);
}

/* What the program says it gave up, what its rings have now, less what is stored. */
static int64_t lost_events(const struct event_writer *writer) {
    const struct recorded *recorded = writer->recorded;
    uint64_t made = recorded->dropped_events;
    for (size_t i = 0; i < recorded->event_chunk_count; i++)
        made += recorded->event_chunks[i].count;
    uint64_t lost = made > recorded->stored_events ? made - recorded->stored_events : 0;
    if (writer->terms->preemptions) lost += writer->terms->preemptions->lost; /* nothing says of which process */
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

static void store_events(struct event_writer *writer, struct event_chunk *chunk, const struct segment_event *events,
                         size_t count) {
    uint64_t from = event_chunk_first_new(chunk);
    for (size_t i = 0; i < count; i++)
        store_event(writer, &events[i]);
    chunk->stored_turn = chunk->turn;
    chunk->stored = from + count;
    writer->recorded->stored_events += count;
}

/* Of a process that has ended: nobody writes any more. */
static void store_chunk(struct event_writer *writer, struct event_chunk *chunk) {
    uint64_t from = event_chunk_first_new(chunk);
    if (chunk->turn % 2 || chunk->count <= from) return;
    size_t fresh = (size_t)(chunk->count - from);
    struct segment_event *events = xmalloc(fresh * sizeof *events);
    size_t count = segment_view_events(writer->view, chunk->offset, chunk->turn, from, fresh, events);
    store_events(writer, chunk, events, count);
    free(events);
}

static void store_chunks(struct event_writer *writer) {
    struct recorded *recorded = writer->recorded;
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        struct event_chunk *chunk = &recorded->event_chunks[i];
        if (!recorded->rings)
            store_chunk(writer, chunk);
        else if (chunk->saved)
            store_events(writer, chunk, recorded->rings + chunk->saved_at, chunk->saved);
    }
}

/* By pid, so an earlier image of the process has those before it was replaced. More may come while rows are written. */
static void store_preemptions(struct event_writer *writer) {
    const struct preemptions *all = writer->terms->preemptions;
    size_t *at = &writer->recorded->stored_preemptions;
    int64_t nobody = writer_object(&writer->resolver->writer, "name", "name:", "", 0, 0, writer->err);
    for (; nobody >= 0 && writer->err->status == ERROR_NONE && *at < all->count; ++*at) {
        struct preemption one = all->items[*at];
        if (one.process != writer->recorded->head.pid) continue;
        int64_t epoch = writer->terms->origin_ns + (one.start_ns - writer->terms->origin_monotonic_ns);
        if (epoch < writer->started_ns || epoch + one.duration_ns < writer->from_ns) continue;
        if (writer->row_count == ROWS_AT_ONCE) write_rows(writer);
        writer->rows[writer->row_count++] = (struct event_row){.tid = one.tid,
                                                               .kind = "preempted",
                                                               .object = nobody,
                                                               .start_ns = epoch - writer->started_ns,
                                                               .duration_ns = one.duration_ns};
    }
}

static int find_start(struct event_writer *writer) {
    struct db *db = writer->resolver->db;
    sqlite3_stmt *row = db_prepare(db, "SELECT started_ns FROM runs WHERE id = :run", writer->err);
    if (!row) return -1;
    db_bind_int(row, ":run", writer->terms->run_id);
    if (db_step(db, row, writer->err) == 1) writer->started_ns = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return writer->err->status == ERROR_NONE ? 0 : -1;
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
    writer.rows = xmalloc(ROWS_AT_ONCE * sizeof *writer.rows);
    if (find_start(&writer) == 0) {
        store_chunks(&writer);
        if (terms->preemptions) store_preemptions(&writer);
    }
    write_rows(&writer);
    free(writer.rows);
    recorded_forget_rings(recorded);
    return err->status == ERROR_NONE ? write_lost(&writer) : -1;
}

bool recorded_wants_events(struct recorded *recorded, const struct segment *head, const struct recording_terms *terms) {
    uint64_t asked = atomic_load_explicit(&head->dumps_asked, memory_order_relaxed);
    bool is_asked = asked != recorded->dumps || terms->is_dump_asked;
    recorded->dumps = asked;
    if (!(head->features & FEATURE_TRACE)) return false;
    if (terms->stores_when_asked || is_asked) return is_asked;
    return !recorded->is_running || terms->keeps_all_events || terms->is_final;
}

void recorded_events_committed(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        struct event_chunk *chunk = &recorded->event_chunks[i];
        chunk->committed = chunk->stored;
        chunk->committed_turn = chunk->stored_turn;
    }
    recorded->committed_preemptions = recorded->stored_preemptions;
    recorded->committed_events = recorded->stored_events;
    recorded->committed_dumps = recorded->dumps;
}

void recorded_events_rolled_back(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->event_chunk_count; i++) {
        struct event_chunk *chunk = &recorded->event_chunks[i];
        chunk->stored = chunk->committed;
        chunk->stored_turn = chunk->committed_turn;
    }
    recorded->stored_preemptions = recorded->committed_preemptions;
    recorded->stored_events = recorded->committed_events;
    recorded->dumps = recorded->committed_dumps;
}
