/* perfetto_packets.c: packets of a Perfetto trace, its tracks, and the names and stacks that they refer to by number ("interned"): each is written once,
 * before the first packet that has its number. */
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_packets.h"
#include "schema/schema.h"

enum { SEQUENCE = 1 }; /* all packets are of one */

size_t perfetto_begin_packet(struct perfetto *perfetto) {
    size_t begin = protobuf_begin(&perfetto->out, TRACE_PACKET);
    protobuf_add_int(&perfetto->out, PACKET_SEQUENCE_ID, SEQUENCE);
    protobuf_add_int(&perfetto->out, PACKET_SEQUENCE_FLAGS,
                     perfetto->is_started ? SEQUENCE_NEEDS_STATE : SEQUENCE_STATE_CLEARED | SEQUENCE_NEEDS_STATE);
    perfetto->is_started = true;
    return begin;
}

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
    struct interned_entry begun = {.packet = perfetto_begin_packet(perfetto)};
    begun.data = protobuf_begin(&perfetto->out, PACKET_INTERNED_DATA);
    begun.entry = protobuf_begin(&perfetto->out, field);
    protobuf_add_int(&perfetto->out, ENTRY_IID, number);
    return begun;
}

static void end_interned(struct perfetto *perfetto, struct interned_entry begun) {
    protobuf_end(&perfetto->out, begun.entry);
    protobuf_end(&perfetto->out, begun.data);
    protobuf_end(&perfetto->out, begun.packet);
}

int64_t perfetto_intern_text(struct perfetto *perfetto, enum interned_field field, const char *text) {
    bool is_new;
    int64_t number = intern(perfetto, field, text, strlen(text), &is_new);
    if (!is_new) return number;
    struct interned_entry begun = begin_interned(perfetto, field, number);
    protobuf_add_text(&perfetto->out, ENTRY_NAME, text);
    end_interned(perfetto, begun);
    return number;
}

void perfetto_write_annotation_names(struct perfetto *perfetto) {
    static const char *const names[] = {[OWNER] = "owner",
                                        [OWNER_TID] = "owner_tid",
                                        [RELEASED_BY] = "released_by",
                                        [GAVE_UP] = "gave_up",
                                        [FIBER] = "fiber"};
    for (int64_t i = OWNER; i <= FIBER; i++) {
        struct interned_entry begun = begin_interned(perfetto, INTERNED_ANNOTATION_NAME, i);
        protobuf_add_text(&perfetto->out, ENTRY_NAME, names[i]);
        end_interned(perfetto, begun);
    }
}

static int64_t intern_mapping(struct perfetto *perfetto, const char *module) {
    bool is_new;
    int64_t path = perfetto_intern_text(perfetto, INTERNED_PATH, module);
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
    const int64_t frame[] = {perfetto_intern_text(perfetto, INTERNED_FUNCTION, db_text(row, FUNCTION)),
                             intern_mapping(perfetto, db_text(row, MODULE)),
                             *source ? perfetto_intern_text(perfetto, INTERNED_SOURCE_PATH, source) : 0,
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

/* Stack and place have the same number. */
int64_t perfetto_intern_trace(struct perfetto *perfetto, int64_t trace_id, struct error *err) {
    bool is_new;
    if (!trace_id) return 0;
    int64_t number = intern(perfetto, INTERNED_CALLSTACK, &trace_id, sizeof trace_id, &is_new);
    if (is_new && (write_callstack(perfetto, number, trace_id, err) || write_source(perfetto, number, trace_id, err)))
        return -1;
    return number;
}

int64_t perfetto_intern_name(struct perfetto *perfetto, const struct timeline_event *event, struct error *err) {
    const int64_t key[] = {event->kind, event->object_id};
    bool is_new;
    struct map_entry *entry = map_put(&perfetto->names, key, sizeof key, &is_new);
    if (!is_new) return entry->value;
    char *name = timeline_name(&perfetto->timeline, event, err);
    if (!name) return -1;
    entry->value = perfetto_intern_text(perfetto, INTERNED_EVENT_NAME, name);
    free(name);
    return entry->value;
}

/* ---- tracks ---- */

/* A packet with the description of a track: between the two calls its fields are added. */
struct begun_track {
    size_t packet, track;
};

static struct begun_track begin_track(struct perfetto *perfetto, uint64_t number) {
    struct begun_track begun = {.packet = perfetto_begin_packet(perfetto)};
    begun.track = protobuf_begin(&perfetto->out, PACKET_TRACK_DESCRIPTOR);
    protobuf_add_int(&perfetto->out, TRACK_UUID, (int64_t)number);
    return begun;
}

static void end_track(struct perfetto *perfetto, struct begun_track begun) {
    protobuf_end(&perfetto->out, begun.track);
    protobuf_end(&perfetto->out, begun.packet);
}

void perfetto_write_process(struct perfetto *perfetto, size_t index) {
    const struct timeline_process *process = &perfetto->timeline.processes[index];
    struct buffer *out = &perfetto->out;
    struct begun_track begun = begin_track(perfetto, perfetto_track_number(TRACK_OF_PROCESS, index));
    size_t descriptor = protobuf_begin(out, TRACK_PROCESS);
    protobuf_add_int(out, PROCESS_PID, process->pid);
    protobuf_add_text(out, PROCESS_NAME, process->executable);
    protobuf_end(out, descriptor);
    end_track(perfetto, begun);
}

void perfetto_write_thread(struct perfetto *perfetto, size_t index) {
    const struct timeline_thread *thread = &perfetto->timeline.threads[index];
    struct buffer *out = &perfetto->out;
    struct begun_track begun = begin_track(perfetto, perfetto_track_number(TRACK_OF_THREAD, index));
    size_t descriptor = protobuf_begin(out, TRACK_THREAD);
    protobuf_add_int(out, THREAD_PID, perfetto->timeline.processes[thread->process].pid);
    protobuf_add_int(out, THREAD_TID, thread->tid);
    if (*thread->name) protobuf_add_text(out, THREAD_NAME, thread->name);
    protobuf_end(out, descriptor);
    end_track(perfetto, begun);
}

void perfetto_write_track(struct perfetto *perfetto, uint64_t number, uint64_t parent, const char *name, int unit) {
    struct buffer *out = &perfetto->out;
    struct begun_track begun = begin_track(perfetto, number);
    protobuf_add_int(out, TRACK_PARENT, (int64_t)parent);
    protobuf_add_text(out, TRACK_NAME, name);
    if (unit) {
        size_t counter = protobuf_begin(out, TRACK_COUNTER);
        protobuf_add_int(out, COUNTER_UNIT, unit);
        protobuf_end(out, counter);
    }
    end_track(perfetto, begun);
}

/* ---- lanes: slices of one track must nest ---- */

void perfetto_clear_lanes(struct perfetto *perfetto, uint64_t track) {
    if (!perfetto->lanes) perfetto->lanes = xcalloc(1, sizeof *perfetto->lanes);
    perfetto->lanes[0] = (struct perfetto_lane){.track = track};
    perfetto->lane_count = 1;
}

/* Whether the slice nests in what is open; `flat`: beside what is open only. */
static bool fits(struct perfetto_lane *lane, const struct timeline_event *event, bool flat) {
    while (lane->depth && lane->ends[lane->depth - 1] <= event->start_ns)
        lane->depth--;
    if (!lane->depth) return true;
    return !flat && lane->depth < PERFETTO_LANE_DEPTH && timeline_end(event) <= lane->ends[lane->depth - 1];
}

uint64_t perfetto_take_lane(struct perfetto *perfetto, const struct timeline_event *event, uint64_t parent,
                            const char *name, bool flat) {
    size_t i = 0;
    while (i < perfetto->lane_count && !fits(&perfetto->lanes[i], event, flat))
        i++;
    if (i == perfetto->lane_count) {
        perfetto->lanes = xrealloc(perfetto->lanes, (i + 1) * sizeof *perfetto->lanes);
        perfetto->lanes[i] = (struct perfetto_lane){.track = perfetto_track_number(TRACK_OF_LANE, perfetto->tracks++)};
        perfetto->lane_count++;
        perfetto_write_track(perfetto, perfetto->lanes[i].track, parent, name, 0);
    }
    struct perfetto_lane *lane = &perfetto->lanes[i];
    lane->ends[lane->depth++] = timeline_end(event);
    return lane->track;
}
