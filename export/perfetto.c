/* perfetto.c: the events of a run (clear profile --trace) as a Perfetto trace: a stream of TracePacket messages, for
 * https://ui.perfetto.dev and Google's trace processor. The numbers of fields are those of perfetto_trace.proto.
 *   - a track for each process and thread: waits, and what else took time, are slices; releases, and what took none, are instants
 *   - a track for each lock under its process: who waited for it, and who held it where that was recorded
 *   - a flow from each release to the end of the wait that it ended, an instant `wake`
 *   - counters: live bytes, waits of each window
 *   - CPU samples with their stacks; the stack of each event
 * Names and stacks are written once ("interned"), before the first packet that refers to them by number. */
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "export/file.h"
#include "export/format.h"
#include "export/timeline.h"
#include "schema/schema.h"

enum { FLUSH_BYTES = 1 << 16, SEQUENCE = 1, LANE_DEPTH = 64 };

/* ---- perfetto_trace.proto ---- */

enum { TRACE_PACKET = 1 };
enum packet_field {
    CLOCK_SNAPSHOT = 6,
    TIMESTAMP = 8,
    SEQUENCE_ID = 10,
    TRACK_EVENT = 11,
    INTERNED_DATA = 12,
    SEQUENCE_FLAGS = 13,
    TRACK_DESCRIPTOR = 60,
    PERF_SAMPLE = 66
};
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* SEQUENCE_FLAGS */
enum { CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum descriptor_field {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5, COUNTER_UNIT = 3 };
enum event_field {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_SOURCE = 34,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    EVENT_CALLSTACK = 56
};
enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum annotation_field { ANNOTATION_NAME = 1, ANNOTATION_BOOL = 2, ANNOTATION_INT = 4, ANNOTATION_TEXT = 17 };
enum interned_field {
    INTERNED_CATEGORY = 1,
    INTERNED_EVENT_NAME = 2,
    INTERNED_ANNOTATION_NAME = 3,
    INTERNED_SOURCE = 4,
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_CALLSTACK = 7,
    INTERNED_PATH = 17,
    INTERNED_SOURCE_PATH = 18,
    INTERNED_MAPPING = 19,
    INTERNED_TEXT = 29
};
enum { IID = 1, INTERNED_NAME = 2 }; /* of all of them */
enum { SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_SOURCE = 5, FRAME_LINE = 6, CALLSTACK_FRAME = 2, MAPPING_PATH = 7 };
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4, SAMPLE_MODE = 5, SAMPLE_MODE_USER = 2 };

/* ---- a trace on its way out ---- */

/* Tracks have numbers of 64 bits: what they are, then which. */
enum track { TRACK_OF_PROCESS = 1, TRACK_OF_THREAD, TRACK_OF_COUNTER, TRACK_OF_OBJECT, TRACK_OF_LANE };
enum annotation { OWNER = 1, OWNER_TID, RELEASED_BY, GAVE_UP };

/* A line of slices that nest: the ends of those that are open. */
struct lane {
    int64_t ends[LANE_DEPTH];
    size_t depth;
    uint64_t track;
};

struct perfetto {
    struct file file;
    struct db *db;
    struct timeline timeline;
    struct buffer out;
    struct map interned[INTERNED_TEXT + 1]; /* by field: what -> its number, from 1 */
    struct map names;                       /* {kind, object} -> the number of the name of such slices */
    struct lane *lanes;                     /* of a thread or of an object; the first is its own track */
    size_t lane_count;
    uint64_t tracks; /* lanes and counters so far, for their numbers */
    bool is_started;
};

static uint64_t track_number(enum track what, uint64_t which) {
    enum { SHIFT = 56 };
    return (uint64_t)what << SHIFT | which;
}

static int flush(struct perfetto *perfetto, struct error *err) {
    int code = file_write(&perfetto->file, perfetto->out.data, perfetto->out.size, err);
    perfetto->out.size = 0;
    return code;
}

static size_t begin_packet(struct perfetto *perfetto) {
    size_t begin = protobuf_begin(&perfetto->out, TRACE_PACKET);
    protobuf_add_int(&perfetto->out, SEQUENCE_ID, SEQUENCE);
    protobuf_add_int(&perfetto->out, SEQUENCE_FLAGS, perfetto->is_started ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
    perfetto->is_started = true;
    return begin;
}

/* ---- names and stacks, once ---- */

/* The number of what is interned in `field`; *is_new where it has still to be written. */
static int64_t intern(struct perfetto *perfetto, enum interned_field field, const void *what, size_t size,
                      bool *is_new) {
    struct map *map = &perfetto->interned[field];
    struct map_entry *entry = map_put(map, what, size, is_new);
    if (*is_new) entry->value = (int64_t)map->count;
    return entry->value;
}

/* A packet with one entry of interned data: between the two calls its fields are added. */
struct interned_entry {
    size_t packet, data, entry;
};

static struct interned_entry begin_interned(struct perfetto *perfetto, enum interned_field field, int64_t number) {
    struct interned_entry begun = {.packet = begin_packet(perfetto)};
    begun.data = protobuf_begin(&perfetto->out, INTERNED_DATA);
    begun.entry = protobuf_begin(&perfetto->out, field);
    protobuf_add_int(&perfetto->out, IID, number);
    return begun;
}

static void end_interned(struct perfetto *perfetto, struct interned_entry begun) {
    protobuf_end(&perfetto->out, begun.entry);
    protobuf_end(&perfetto->out, begun.data);
    protobuf_end(&perfetto->out, begun.packet);
}

static int64_t intern_text(struct perfetto *perfetto, enum interned_field field, const char *text) {
    bool is_new;
    int64_t number = intern(perfetto, field, text, strlen(text), &is_new);
    if (!is_new) return number;
    struct interned_entry begun = begin_interned(perfetto, field, number);
    protobuf_add_text(&perfetto->out, INTERNED_NAME, text);
    end_interned(perfetto, begun);
    return number;
}

/* Annotations are few and have numbers of their own. */
static void write_annotation_names(struct perfetto *perfetto) {
    static const char *const names[] = {
        [OWNER] = "owner", [OWNER_TID] = "owner_tid", [RELEASED_BY] = "released_by", [GAVE_UP] = "gave_up"};
    for (int64_t i = OWNER; i <= GAVE_UP; i++) {
        struct interned_entry begun = begin_interned(perfetto, INTERNED_ANNOTATION_NAME, i);
        protobuf_add_text(&perfetto->out, INTERNED_NAME, names[i]);
        end_interned(perfetto, begun);
    }
}

static int64_t intern_mapping(struct perfetto *perfetto, const char *module) {
    bool is_new;
    int64_t path = intern_text(perfetto, INTERNED_PATH, module);
    int64_t number = intern(perfetto, INTERNED_MAPPING, &path, sizeof path, &is_new);
    if (!is_new) return number;
    struct interned_entry begun = begin_interned(perfetto, INTERNED_MAPPING, number);
    protobuf_add_int(&perfetto->out, MAPPING_PATH, path);
    end_interned(perfetto, begun);
    return number;
}

static int64_t intern_frame(struct perfetto *perfetto, sqlite3_stmt *row) {
    enum { FUNCTION, SOURCE, LINE, MODULE };
    const char *source = db_text(row, SOURCE);
    const int64_t frame[] = {intern_text(perfetto, INTERNED_FUNCTION, db_text(row, FUNCTION)),
                             intern_mapping(perfetto, db_text(row, MODULE)),
                             *source ? intern_text(perfetto, INTERNED_SOURCE_PATH, source) : 0,
                             sqlite3_column_int64(row, LINE)};
    bool is_new;
    int64_t number = intern(perfetto, INTERNED_FRAME, frame, sizeof frame, &is_new);
    if (!is_new) return number;
    struct interned_entry begun = begin_interned(perfetto, INTERNED_FRAME, number);
    protobuf_add_int(&perfetto->out, FRAME_FUNCTION, frame[0]);
    protobuf_add_int(&perfetto->out, FRAME_MAPPING, frame[1]);
    if (frame[2]) protobuf_add_int(&perfetto->out, FRAME_SOURCE, frame[2]);
    if (frame[3]) protobuf_add_int(&perfetto->out, FRAME_LINE, frame[3]);
    end_interned(perfetto, begun);
    return number;
}

/* A trace packet lists a stack's frames from the root. */
static int write_callstack(struct perfetto *perfetto, int64_t number, int64_t trace_id, struct error *err) {
    int64_t *frames = NULL;
    size_t count = 0;
    int code;
    sqlite3_stmt *row = db_prepare(perfetto->db, embedded_text("export/trace_frames.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", trace_id);
    while ((code = db_step(perfetto->db, row, err)) == 1) {
        frames = xrealloc(frames, (count + 1) * sizeof *frames);
        frames[count++] = intern_frame(perfetto, row);
    }
    struct interned_entry begun = begin_interned(perfetto, INTERNED_CALLSTACK, number);
    while (count)
        protobuf_add_int(&perfetto->out, CALLSTACK_FRAME, frames[--count]);
    end_interned(perfetto, begun);
    free(frames);
    return code;
}

/* The place of an event: where people look for it first. */
static int write_source(struct perfetto *perfetto, int64_t number, int64_t trace_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(perfetto->db, embedded_text("export/trace_place.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":trace", trace_id);
    int code = db_step(perfetto->db, row, err);
    if (code == 1) {
        struct interned_entry begun = begin_interned(perfetto, INTERNED_SOURCE, number);
        if (*db_text(row, 1)) protobuf_add_text(&perfetto->out, SOURCE_FILE, db_text(row, 1));
        protobuf_add_text(&perfetto->out, SOURCE_FUNCTION, db_text(row, 0));
        if (sqlite3_column_int(row, 2)) protobuf_add_int(&perfetto->out, SOURCE_LINE, sqlite3_column_int64(row, 2));
        end_interned(perfetto, begun);
        sqlite3_reset(row);
    }
    return code < 0 ? -1 : 0;
}

/* Stack and place have the same number; 0 for no stack, below 0 for an error. */
static int64_t intern_trace(struct perfetto *perfetto, int64_t trace_id, struct error *err) {
    bool is_new;
    if (!trace_id) return 0;
    int64_t number = intern(perfetto, INTERNED_CALLSTACK, &trace_id, sizeof trace_id, &is_new);
    if (is_new && (write_callstack(perfetto, number, trace_id, err) || write_source(perfetto, number, trace_id, err)))
        return -1;
    return number;
}

/* The number of an event's name; below 0 for an error. */
static int64_t intern_name(struct perfetto *perfetto, const struct timeline_event *event, struct error *err) {
    const int64_t key[] = {event->kind, event->object_id};
    bool is_new;
    struct map_entry *entry = map_put(&perfetto->names, key, sizeof key, &is_new);
    if (!is_new) return entry->value;
    char *name = timeline_name(&perfetto->timeline, event, err);
    if (!name) return -1;
    entry->value = intern_text(perfetto, INTERNED_EVENT_NAME, name);
    free(name);
    return entry->value;
}

/* ---- tracks ---- */

static void write_process(struct perfetto *perfetto, size_t index) {
    const struct timeline_process *process = &perfetto->timeline.processes[index];
    struct buffer *out = &perfetto->out;
    size_t packet = begin_packet(perfetto), track = protobuf_begin(out, TRACK_DESCRIPTOR);
    protobuf_add_int(out, TRACK_UUID, (int64_t)track_number(TRACK_OF_PROCESS, index));
    size_t descriptor = protobuf_begin(out, TRACK_PROCESS);
    protobuf_add_int(out, PROCESS_PID, process->pid);
    protobuf_add_text(out, PROCESS_NAME, process->executable);
    protobuf_end(out, descriptor);
    protobuf_end(out, track);
    protobuf_end(out, packet);
}

static void write_thread(struct perfetto *perfetto, size_t index) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[index];
    struct buffer *out = &perfetto->out;
    size_t packet = begin_packet(perfetto), track = protobuf_begin(out, TRACK_DESCRIPTOR);
    protobuf_add_int(out, TRACK_UUID, (int64_t)track_number(TRACK_OF_THREAD, index));
    size_t descriptor = protobuf_begin(out, TRACK_THREAD);
    protobuf_add_int(out, THREAD_PID, perfetto->timeline.processes[thread->process].pid);
    protobuf_add_int(out, THREAD_TID, thread->tid);
    if (*thread->name) protobuf_add_text(out, THREAD_NAME, thread->name);
    protobuf_end(out, descriptor);
    protobuf_end(out, track);
    protobuf_end(out, packet);
}

/* A track with a name, under another one. */
static void write_track(struct perfetto *perfetto, uint64_t number, uint64_t parent, const char *name, int unit) {
    struct buffer *out = &perfetto->out;
    size_t packet = begin_packet(perfetto), track = protobuf_begin(out, TRACK_DESCRIPTOR);
    protobuf_add_int(out, TRACK_UUID, (int64_t)number);
    protobuf_add_int(out, TRACK_PARENT, (int64_t)parent);
    protobuf_add_text(out, TRACK_NAME, name);
    if (unit) {
        size_t counter = protobuf_begin(out, TRACK_COUNTER);
        protobuf_add_int(out, COUNTER_UNIT, unit);
        protobuf_end(out, counter);
    }
    protobuf_end(out, track);
    protobuf_end(out, packet);
}

/* ---- lanes: slices of one track must nest ---- */

static void clear_lanes(struct perfetto *perfetto, uint64_t track) {
    if (!perfetto->lanes) perfetto->lanes = xcalloc(1, sizeof *perfetto->lanes);
    perfetto->lanes[0] = (struct lane){.track = track};
    perfetto->lane_count = 1;
}

/* Whether the slice nests in what is open; `flat`: beside what is open only. */
static bool fits(struct lane *lane, const struct timeline_event *event, bool flat) {
    while (lane->depth && lane->ends[lane->depth - 1] <= event->start_ns)
        lane->depth--;
    if (!lane->depth) return true;
    return !flat && lane->depth < LANE_DEPTH && timeline_end(event) <= lane->ends[lane->depth - 1];
}

/* The track of the first lane that has room; further lanes are tracks of the given name beside the first. */
static uint64_t take_lane(struct perfetto *perfetto, const struct timeline_event *event, uint64_t parent,
                          const char *name, bool flat) {
    size_t i = 0;
    while (i < perfetto->lane_count && !fits(&perfetto->lanes[i], event, flat))
        i++;
    if (i == perfetto->lane_count) {
        perfetto->lanes = xrealloc(perfetto->lanes, (i + 1) * sizeof *perfetto->lanes);
        perfetto->lanes[i] = (struct lane){.track = track_number(TRACK_OF_LANE, perfetto->tracks++)};
        perfetto->lane_count++;
        write_track(perfetto, perfetto->lanes[i].track, parent, name, 0);
    }
    struct lane *lane = &perfetto->lanes[i];
    lane->ends[lane->depth++] = timeline_end(event);
    return lane->track;
}

/* ---- events ---- */

static void begin_event(struct perfetto *perfetto, size_t begun[2], int64_t ns, enum event_type type, uint64_t track) {
    begun[0] = begin_packet(perfetto);
    protobuf_add_int(&perfetto->out, TIMESTAMP, ns);
    begun[1] = protobuf_begin(&perfetto->out, TRACK_EVENT);
    protobuf_add_int(&perfetto->out, EVENT_TYPE, type);
    protobuf_add_int(&perfetto->out, EVENT_TRACK, (int64_t)track);
}

static void end_event(struct perfetto *perfetto, const size_t begun[2]) {
    protobuf_end(&perfetto->out, begun[1]);
    protobuf_end(&perfetto->out, begun[0]);
}

static void add_annotation(struct buffer *out, enum annotation name, enum annotation_field type, int64_t value) {
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
        .name = intern_name(perfetto, event, err),
        .category = intern_text(perfetto, INTERNED_CATEGORY, timeline->kinds[event->kind].name),
        .trace = intern_trace(perfetto, event->trace_id, err),
    };
    if (event->owner != TIMELINE_NONE)
        details->owner = intern_text(perfetto, INTERNED_TEXT, timeline->threads[event->owner].name);
    if (timeline_class(timeline, event) == TIMELINE_WAIT && event->release != TIMELINE_NONE) {
        const struct timeline_event *release = &timeline->events[event->release];
        details->releaser = intern_text(perfetto, INTERNED_TEXT, timeline->threads[release->thread].name);
    }
    return details->name < 0 || details->trace < 0 ? -1 : 0;
}

static void add_details(struct perfetto *perfetto, const struct timeline_event *event, const struct details *details) {
    struct buffer *out = &perfetto->out;
    protobuf_add_int(out, EVENT_CATEGORY, details->category);
    protobuf_add_int(out, EVENT_NAME, details->name);
    if (details->owner) {
        add_annotation(out, OWNER, ANNOTATION_TEXT, details->owner);
        add_annotation(out, OWNER_TID, ANNOTATION_INT, perfetto->timeline.threads[event->owner].tid);
    }
    if (details->releaser) add_annotation(out, RELEASED_BY, ANNOTATION_TEXT, details->releaser);
    if (event->is_late) add_annotation(out, GAVE_UP, ANNOTATION_BOOL, 1);
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
    begin_event(perfetto, begun, timeline_end(event), SLICE_END, track);
    end_event(perfetto, begun);
}

/* Where a flow ends: an instant behind the wait, because the trace processor counts the end of a slice as its beginning, and would turn
 * the arrow round. */
static void write_wake(struct perfetto *perfetto, const struct timeline_event *wait, uint64_t track) {
    size_t begun[2];
    int64_t name = intern_text(perfetto, INTERNED_EVENT_NAME, "wake");
    begin_event(perfetto, begun, timeline_end(wait), INSTANT, track);
    protobuf_add_int(&perfetto->out, EVENT_NAME, name);
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
        track = take_lane(perfetto, event, track_number(TRACK_OF_PROCESS, thread->process), thread->name, false);
    begin_event(perfetto, begun, event->start_ns, is_slice ? SLICE_BEGIN : INSTANT, track);
    add_details(perfetto, event, &details);
    if (class == TIMELINE_RELEASE) add_flows(perfetto, event);
    if (event->has_flow) protobuf_add_fixed64(&perfetto->out, EVENT_FLOW, (uint64_t)event->flow);
    end_event(perfetto, begun);
    if (is_slice) write_slice_end(perfetto, event, track);
    if (class == TIMELINE_WAIT && event->release != TIMELINE_NONE) write_wake(perfetto, event, track);
    return 0;
}

static int write_sample(struct perfetto *perfetto, const struct timeline_event *event, struct error *err) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[event->thread];
    struct buffer *out = &perfetto->out;
    int64_t trace = intern_trace(perfetto, event->trace_id, err);
    if (trace < 0) return -1;
    size_t packet = begin_packet(perfetto);
    protobuf_add_int(out, TIMESTAMP, event->start_ns);
    size_t sample = protobuf_begin(out, PERF_SAMPLE);
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
        if (event->thread != thread) clear_lanes(perfetto, track_number(TRACK_OF_THREAD, thread = event->thread));
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
    details.name = intern_text(perfetto, INTERNED_EVENT_NAME, thread->name);
    details.category = intern_text(perfetto, INTERNED_CATEGORY, TIMELINE_OF_OBJECT);
    uint64_t track = take_lane(perfetto, event, parent, lane_name, true);
    begin_event(perfetto, begun, event->start_ns, SLICE_BEGIN, track);
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
            parent = track_number(TRACK_OF_OBJECT, perfetto->tracks++);
            write_track(perfetto, parent, track_number(TRACK_OF_PROCESS, timeline->threads[event->thread].process),
                        title, 0);
            free(title);
            clear_lanes(perfetto, parent);
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
        if (timeline->processes[i].id == process_id) return track_number(TRACK_OF_PROCESS, i);
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
            track = track_number(TRACK_OF_COUNTER, perfetto->tracks++);
            write_track(perfetto, track, parent, name, sqlite3_column_int(row, UNIT));
        }
        begin_event(perfetto, begun, sqlite3_column_int64(row, AT), COUNTER, track);
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
    size_t packet = begin_packet(perfetto), snapshot = protobuf_begin(&perfetto->out, CLOCK_SNAPSHOT);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        size_t clock = protobuf_begin(&perfetto->out, CLOCK);
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
    write_annotation_names(perfetto);
    for (size_t i = 0; i < perfetto->timeline.process_count; i++)
        write_process(perfetto, i);
    for (size_t i = 0; i < perfetto->timeline.thread_count; i++)
        write_thread(perfetto, i);
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
