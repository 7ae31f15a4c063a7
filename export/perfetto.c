/* perfetto.c: the events of a run (clear profile --trace) as a Perfetto trace: a stream of TracePacket messages, for
 * https://ui.perfetto.dev and Google's trace processor.
 *   - a track for each process and thread: waits, and what else took time, are slices; releases, and what took none, are instants
 *   - a track for each lock under its process: who waited for it, and who held it where that was recorded
 *   - a flow from each release to the end of the wait that it ended, an instant `wake`
 *   - counters: live bytes, waits of each window
 *   - CPU samples with their stacks; the stack of each event */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/format.h"
#include "export/perfetto_packets.h"
#include "schema/schema.h"

enum { FLUSH_BYTES = 1 << 16 };

static int flush(struct perfetto *perfetto, struct error *err) {
    int code = file_write(&perfetto->file, perfetto->out.data, perfetto->out.size, err);
    perfetto->out.size = 0;
    return code;
}

/* ---- events ---- */

static void begin_event(struct perfetto *perfetto, size_t begun[2], int64_t ns, enum event_type type, uint64_t track) {
    begun[0] = perfetto_begin_packet(perfetto);
    protobuf_add_int(&perfetto->out, PACKET_TIMESTAMP, ns);
    begun[1] = protobuf_begin(&perfetto->out, PACKET_TRACK_EVENT);
    protobuf_add_int(&perfetto->out, EVENT_TYPE, type);
    protobuf_add_int(&perfetto->out, EVENT_TRACK, (int64_t)track);
}

static void end_event(struct perfetto *perfetto, const size_t begun[2]) {
    protobuf_end(&perfetto->out, begun[1]);
    protobuf_end(&perfetto->out, begun[0]);
}

static void add_annotation(struct buffer *out, enum perfetto_annotation name, enum annotation_field type,
                           int64_t value) {
    size_t annotation = protobuf_begin(out, EVENT_ANNOTATION);
    protobuf_add_int(out, ANNOTATION_NAME, name);
    protobuf_add_int(out, type, value);
    protobuf_end(out, annotation);
}

/* What is told of an event beside its name: numbers of what was interned before its packet began. */
struct details {
    int64_t name, category, trace, owner, releaser;
};

static int find_details(struct perfetto *perfetto, const struct timeline_event *event, struct details *details,
                        struct error *err) {
    const struct timeline *timeline = &perfetto->timeline;
    *details = (struct details){
        .name = perfetto_intern_name(perfetto, event, err),
        .category = perfetto_intern_text(perfetto, INTERNED_CATEGORY, timeline->kinds[event->kind].name),
        .trace = perfetto_intern_trace(perfetto, event->trace_id, err),
    };
    if (event->owner != TIMELINE_NONE)
        details->owner = perfetto_intern_text(perfetto, INTERNED_TEXT, timeline->threads[event->owner].name);
    if (timeline_class(timeline, event) == TIMELINE_WAIT && event->release != TIMELINE_NONE) {
        const struct timeline_event *release = &timeline->events[event->release];
        details->releaser = perfetto_intern_text(perfetto, INTERNED_TEXT, timeline->threads[release->thread].name);
    }
    return details->name < 0 || details->trace < 0 ? -1 : 0;
}

static void add_details(struct perfetto *perfetto, const struct timeline_event *event, const struct details *details) {
    struct buffer *out = &perfetto->out;
    protobuf_add_int(out, EVENT_CATEGORY_IID, details->category);
    protobuf_add_int(out, EVENT_NAME_IID, details->name);
    if (details->owner) {
        add_annotation(out, OWNER, ANNOTATION_TEXT, details->owner);
        add_annotation(out, OWNER_TID, ANNOTATION_INT, perfetto->timeline.threads[event->owner].tid);
    }
    if (details->releaser) add_annotation(out, RELEASED_BY, ANNOTATION_TEXT, details->releaser);
    if (event->is_late) add_annotation(out, GAVE_UP, ANNOTATION_BOOL, 1);
    if (event->has_fiber) add_annotation(out, FIBER, ANNOTATION_INT, event->value);
    if (details->trace) {
        protobuf_add_int(out, EVENT_SOURCE, details->trace);
        protobuf_add_int(out, EVENT_CALLSTACK, details->trace);
    }
}

/* The waits that a release ended: each flow has the id of its wait. */
static void add_flows(struct perfetto *perfetto, const struct timeline_event *release) {
    for (uint32_t i = release->release; i != TIMELINE_NONE; i = perfetto->timeline.events[i].next)
        protobuf_add_fixed64(&perfetto->out, EVENT_FLOW, (uint64_t)perfetto->timeline.events[i].id);
}

static void write_slice_end(struct perfetto *perfetto, const struct timeline_event *event, uint64_t track) {
    size_t begun[2];
    begin_event(perfetto, begun, timeline_end(event), EVENT_SLICE_END, track);
    end_event(perfetto, begun);
}

/* The steps of a fiber, on any threads, are one flow; the numbers of the program's own flows and of waits are small. */
static uint64_t fiber_flow(const struct perfetto *perfetto, const struct timeline_event *event) {
    uint64_t key[] = {perfetto->timeline.threads[event->thread].process, (uint64_t)event->value};
    return hash_bytes(key, sizeof key) | UINT64_C(1) << 63;
}

/* Where a flow ends: an instant behind the wait, because the trace processor counts the end of a slice as its beginning, and would turn
 * the arrow round. */
static void write_wake(struct perfetto *perfetto, const struct timeline_event *wait, uint64_t track) {
    size_t begun[2];
    int64_t name = perfetto_intern_text(perfetto, INTERNED_EVENT_NAME, "wake");
    begin_event(perfetto, begun, timeline_end(wait), EVENT_INSTANT, track);
    protobuf_add_int(&perfetto->out, EVENT_NAME_IID, name);
    protobuf_add_fixed64(&perfetto->out, EVENT_FLOW_END, (uint64_t)wait->id);
    end_event(perfetto, begun);
}

/* An event on the track of its thread. */
static int write_event(struct perfetto *perfetto, const struct timeline_event *event, struct error *err) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[event->thread];
    enum timeline_class class = timeline_class(&perfetto->timeline, event);
    bool is_slice = class == TIMELINE_WAIT || class == TIMELINE_SLICE;
    uint64_t track = perfetto->lanes[0].track;
    struct details details;
    size_t begun[2];
    if (find_details(perfetto, event, &details, err)) return -1;
    if (is_slice)
        track = perfetto_take_lane(perfetto, event, perfetto_track_number(TRACK_OF_PROCESS, thread->process),
                                   thread->name, false);
    begin_event(perfetto, begun, event->start_ns, is_slice ? EVENT_SLICE_BEGIN : EVENT_INSTANT, track);
    add_details(perfetto, event, &details);
    if (class != TIMELINE_WAIT) add_flows(perfetto, event);
    if (event->has_flow) protobuf_add_fixed64(&perfetto->out, EVENT_FLOW, (uint64_t)event->value);
    if (event->has_fiber) protobuf_add_fixed64(&perfetto->out, EVENT_FLOW, fiber_flow(perfetto, event));
    end_event(perfetto, begun);
    if (is_slice) write_slice_end(perfetto, event, track);
    if (class == TIMELINE_WAIT && event->release != TIMELINE_NONE) write_wake(perfetto, event, track);
    return 0;
}

static int write_sample(struct perfetto *perfetto, const struct timeline_event *event, struct error *err) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[event->thread];
    struct buffer *out = &perfetto->out;
    int64_t trace = perfetto_intern_trace(perfetto, event->trace_id, err);
    if (trace < 0) return -1;
    size_t packet = perfetto_begin_packet(perfetto);
    protobuf_add_int(out, PACKET_TIMESTAMP, event->start_ns);
    size_t sample = protobuf_begin(out, PACKET_PERF_SAMPLE);
    protobuf_add_int(out, SAMPLE_PID, perfetto->timeline.processes[thread->process].pid);
    protobuf_add_int(out, SAMPLE_TID, thread->tid);
    if (trace) protobuf_add_int(out, SAMPLE_CALLSTACK, trace);
    protobuf_add_int(out, SAMPLE_MODE, SAMPLE_MODE_USER);
    protobuf_end(out, sample);
    protobuf_end(out, packet);
    return 0;
}

static int write_threads(struct perfetto *perfetto, struct error *err) {
    const struct timeline *timeline = &perfetto->timeline;
    uint32_t thread = TIMELINE_NONE;
    for (size_t i = 0; i < timeline->event_count; i++) {
        const struct timeline_event *event = &timeline->events[i];
        enum timeline_class class = timeline_class(timeline, event);
        if (event->thread != thread)
            perfetto_clear_lanes(perfetto, perfetto_track_number(TRACK_OF_THREAD, thread = event->thread));
        if (class == TIMELINE_HOLD) continue;
        if ((class == TIMELINE_SAMPLE ? write_sample : write_event)(perfetto, event, err)) return -1;
        if (perfetto->out.size >= FLUSH_BYTES && flush(perfetto, err)) return -1;
    }
    return 0;
}

/* ---- locks ---- */

static bool is_same_object(const struct timeline *timeline, const struct timeline_event *a,
                           const struct timeline_event *b) {
    return timeline->threads[a->thread].process == timeline->threads[b->thread].process &&
           a->object_id == b->object_id && a->address == b->address;
}

/* On the track of an object a slice has the name of the thread. */
static int write_on_object(struct perfetto *perfetto, const struct timeline_event *event, uint64_t parent,
                           const char *lane_name, struct error *err) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[event->thread];
    struct details details;
    size_t begun[2];
    if (find_details(perfetto, event, &details, err)) return -1;
    details.name = perfetto_intern_text(perfetto, INTERNED_EVENT_NAME, thread->name);
    details.category = perfetto_intern_text(perfetto, INTERNED_CATEGORY, TIMELINE_OF_OBJECT);
    uint64_t track = perfetto_take_lane(perfetto, event, parent, lane_name, true);
    begin_event(perfetto, begun, event->start_ns, EVENT_SLICE_BEGIN, track);
    add_details(perfetto, event, &details);
    end_event(perfetto, begun);
    write_slice_end(perfetto, event, track);
    return 0;
}

/* The waits, or the holds, of every object: tracks under one that has its name. */
static int write_objects(struct perfetto *perfetto, enum timeline_class class, const char *what, struct error *err) {
    struct timeline *timeline = &perfetto->timeline;
    size_t count;
    uint32_t *order = timeline_by_object(timeline, class, &count);
    uint64_t parent = 0;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const struct timeline_event *event = &timeline->events[order[i]];
        if (i == 0 || !is_same_object(timeline, event, &timeline->events[order[i - 1]])) {
            const char *name = timeline_object(&perfetto->timeline, event->object_id, err);
            if (!name) break;
            char *title = xasprintf("%s %s: %s", timeline->kinds[event->kind].name, name, what);
            parent = perfetto_track_number(TRACK_OF_OBJECT, perfetto->tracks++);
            perfetto_write_track(perfetto, parent,
                                 perfetto_track_number(TRACK_OF_PROCESS, timeline->threads[event->thread].process),
                                 title, 0);
            free(title);
            perfetto_clear_lanes(perfetto, parent);
        }
        code = write_on_object(perfetto, event, parent, what, err);
        if (code == 0 && perfetto->out.size >= FLUSH_BYTES) code = flush(perfetto, err);
    }
    free(order);
    return err->status == ERROR_NONE ? code : -1;
}

/* ---- counters ---- */

static uint64_t counter_parent(const struct timeline *timeline, int64_t process_id) {
    for (size_t i = 0; i < timeline->process_count; i++)
        if (timeline->processes[i].id == process_id) return perfetto_track_number(TRACK_OF_PROCESS, i);
    return 0;
}

static int write_counters(struct perfetto *perfetto, int64_t run_id, struct error *err) {
    enum { PROCESS, NAME, UNIT, AT, VALUE };
    sqlite3_stmt *row = db_prepare(perfetto->db, embedded_text("export/perfetto_counters.sql"), err);
    uint64_t track = 0, parent = 0;
    char *name = NULL;
    int code;
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    while ((code = db_step(perfetto->db, row, err)) == 1) {
        uint64_t process = counter_parent(&perfetto->timeline, sqlite3_column_int64(row, PROCESS));
        size_t begun[2];
        if (!process) continue;
        if (!name || process != parent || strcmp(name, db_text(row, NAME)) != 0) {
            free(name);
            name = xstrdup(db_text(row, NAME));
            parent = process;
            track = perfetto_track_number(TRACK_OF_COUNTER, perfetto->tracks++);
            perfetto_write_track(perfetto, track, parent, name, sqlite3_column_int(row, UNIT));
        }
        begin_event(perfetto, begun, sqlite3_column_int64(row, AT), EVENT_COUNTER, track);
        protobuf_add_int(&perfetto->out, EVENT_COUNTER_VALUE, sqlite3_column_int64(row, VALUE));
        end_event(perfetto, begun);
    }
    free(name);
    return code;
}

/* ---- all of it ---- */

/* Which time of day the zero of the trace was. */
static int write_clock(struct perfetto *perfetto, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(perfetto->db, "SELECT started_ns FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(perfetto->db, row, err) < 0) return -1;
    const int64_t clocks[][2] = {{CLOCK_BOOTTIME_ID, 0}, {CLOCK_REALTIME_ID, sqlite3_column_int64(row, 0)}};
    sqlite3_reset(row);
    size_t packet = perfetto_begin_packet(perfetto), snapshot = protobuf_begin(&perfetto->out, PACKET_CLOCK_SNAPSHOT);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        size_t clock = protobuf_begin(&perfetto->out, SNAPSHOT_CLOCK);
        protobuf_add_int(&perfetto->out, CLOCK_ID, clocks[i][0]);
        protobuf_add_int(&perfetto->out, CLOCK_TIME, clocks[i][1]);
        protobuf_end(&perfetto->out, clock);
    }
    protobuf_end(&perfetto->out, snapshot);
    protobuf_end(&perfetto->out, packet);
    return 0;
}

static int write_trace(struct perfetto *perfetto, int64_t run_id, struct error *err) {
    if (write_clock(perfetto, run_id, err)) return -1;
    perfetto_write_annotation_names(perfetto);
    for (size_t i = 0; i < perfetto->timeline.process_count; i++)
        perfetto_write_process(perfetto, i);
    for (size_t i = 0; i < perfetto->timeline.thread_count; i++)
        perfetto_write_thread(perfetto, i);
    if (write_threads(perfetto, err) || write_objects(perfetto, TIMELINE_HOLD, "holders", err) ||
        write_objects(perfetto, TIMELINE_WAIT, "waiters", err))
        return -1;
    return write_counters(perfetto, run_id, err) < 0 ? -1 : 0;
}

static void release(struct perfetto *perfetto) {
    for (size_t i = 0; i < sizeof perfetto->interned / sizeof *perfetto->interned; i++)
        map_free(&perfetto->interned[i]);
    map_free(&perfetto->names);
    free(perfetto->lanes);
    buffer_free(&perfetto->out);
    timeline_free(&perfetto->timeline);
}

int perfetto_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                   struct error *err) {
    struct perfetto perfetto = {.db = db};
    (void)span, (void)kind;
    if (timeline_load(&perfetto.timeline, db, run_id, err)) return -1;
    int code = file_open(&perfetto.file, path, true, err);
    if (code == 0) {
        code = write_trace(&perfetto, run_id, err);
        if (code == 0) code = flush(&perfetto, err);
        if (code == 0)
            code = file_publish(&perfetto.file, err);
        else
            file_abandon(&perfetto.file);
    }
    release(&perfetto);
    return code ? -1 : 0;
}
