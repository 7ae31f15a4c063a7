/* perfetto_trace.c: the slices of a Perfetto trace: TrackEvent packets of any program that uses its SDK, of Chrome, and of clear export. Names are interned by sequence of packets; a track belongs to a thread, to a process, or to
 * another track. Counters, flows, samples, scheduling (ftrace) and the arguments of events are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/perfetto_proto.h"
#include "base/wire.h"
#include "ingest/read/readers.h"
#include "ingest/read/trace/keyed_list.h"
#include "ingest/read/trace/open_slices.h"
#include "ingest/read/trace/perfetto_clocks.h"

enum { PARENTS_MAX = 64 };

struct track {
    uint64_t parent;
    int64_t pid, tid;
    bool has_process, has_thread;
    const char *name;
    uint32_t thread; /* an index + 1; 0: not known yet */
};

/* What the packets of a sequence share. */
struct sequence {
    uint64_t default_track;
    uint64_t default_clock; /* 0: the trace's own */
    uint64_t generation;    /* of interned names: they end when the state is cleared */
};

struct perfetto_reader {
    struct trace_rows rows;
    struct open_slices open;
    const struct input *input;
    struct map sequences, names,
        tracks; /* id -> index of the arrays; names: {sequence, generation, field, iid} -> text */
    struct sequence *sequence_list;
    struct track *track_list;
    struct perfetto_clocks clocks;
    uint64_t packets;
};

/* One packet; what it has is known when all its fields are read. */
struct packet {
    uint64_t timestamp, clock, flags;
    uint64_t sequence_id;
    bool has_timestamp;
    struct wire event, interned, defaults, descriptor, snapshot;
    bool has_event, has_interned, has_defaults, has_descriptor, has_snapshot;
};

/* ---- lists ---- */

static struct sequence *sequence_of(struct perfetto_reader *reader, uint64_t id) {
    return keyed_list_entry(&reader->sequences, &id, sizeof id, (void **)&reader->sequence_list,
                            sizeof *reader->sequence_list);
}

static struct track *track_of(struct perfetto_reader *reader, uint64_t uuid) {
    return keyed_list_entry(&reader->tracks, &uuid, sizeof uuid, (void **)&reader->track_list,
                            sizeof *reader->track_list);
}

/* ---- messages ---- */

static const char *text_of(struct perfetto_reader *reader, struct wire bytes) {
    return trace_text(&reader->rows, (const char *)bytes.at, wire_size(bytes));
}

/* EventName and EventCategory: {iid, name}. */
static int read_interned_entry(struct perfetto_reader *reader, const struct packet *packet, uint64_t field,
                               struct wire wire) {
    struct wire_field part;
    enum wire_state state;
    uint64_t iid = 0;
    const char *name = "";
    while ((state = wire_next(&wire, &part)) == WIRE_OK) {
        if (part.number == ENTRY_IID && part.type == WIRE_VARINT) iid = part.value;
        if (part.number == ENTRY_NAME && part.type == WIRE_BYTES) name = text_of(reader, part.bytes);
    }
    const uint64_t key[] = {packet->sequence_id, sequence_of(reader, packet->sequence_id)->generation, field, iid};
    map_put(&reader->names, key, sizeof key, NULL)->value = (int64_t)(intptr_t)name;
    return state;
}

static int read_interned(struct perfetto_reader *reader, const struct packet *packet) {
    struct wire wire = packet->interned;
    struct wire_field field;
    enum wire_state state;
    while ((state = wire_next(&wire, &field)) == WIRE_OK)
        if ((field.number == INTERNED_EVENT_NAME || field.number == INTERNED_CATEGORY) && field.type == WIRE_BYTES &&
            (state = read_interned_entry(reader, packet, field.number, field.bytes)) != WIRE_END)
            break;
    return state;
}

static const char *interned(struct perfetto_reader *reader, const struct packet *packet, uint64_t field, uint64_t iid) {
    const uint64_t key[] = {packet->sequence_id, sequence_of(reader, packet->sequence_id)->generation, field, iid};
    const struct map_entry *entry = map_find(&reader->names, key, sizeof key);
    return entry ? (const char *)(intptr_t)entry->value : "";
}

/* ProcessDescriptor or ThreadDescriptor. */
static int read_owner(struct perfetto_reader *reader, struct track *track, bool is_thread, struct wire wire) {
    struct wire_field field;
    enum wire_state state;
    const char *name = NULL;
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.number == (is_thread ? THREAD_PID : PROCESS_PID) && field.type == WIRE_VARINT)
            track->pid = (int32_t)field.value;
        if (is_thread && field.number == THREAD_TID && field.type == WIRE_VARINT) track->tid = (int64_t)field.value;
        if (field.number == (is_thread ? THREAD_NAME : PROCESS_NAME) && field.type == WIRE_BYTES)
            name = text_of(reader, field.bytes);
    }
    track->has_process |= !is_thread;
    track->has_thread |= is_thread;
    if (name && is_thread) trace_name_thread(&reader->rows, track->pid, track->tid, name);
    if (name && !is_thread) trace_name_process(&reader->rows, track->pid, name);
    return state;
}

static int read_descriptor(struct perfetto_reader *reader, struct wire wire) {
    struct wire first = wire;
    struct wire_field field;
    enum wire_state state;
    uint64_t uuid = 0;
    while ((state = wire_next(&first, &field)) == WIRE_OK)
        if (field.number == TRACK_UUID && field.type == WIRE_VARINT) uuid = field.value;
    if (state != WIRE_END) return state;
    struct track *track = track_of(reader, uuid);
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.number == TRACK_PARENT && field.type == WIRE_VARINT) track->parent = field.value;
        if ((field.number == TRACK_NAME || field.number == TRACK_STATIC_NAME) && field.type == WIRE_BYTES)
            track->name = text_of(reader, field.bytes);
        if ((field.number == TRACK_PROCESS || field.number == TRACK_THREAD) && field.type == WIRE_BYTES &&
            (state = read_owner(reader, track, field.number == TRACK_THREAD, field.bytes)) != WIRE_END)
            return state;
    }
    return state;
}

/* TracePacketDefaults: its fields have the numbers of those of a packet. */
static int read_defaults(struct perfetto_reader *reader, const struct packet *packet) {
    struct wire wire = packet->defaults;
    struct wire_field field, part;
    enum wire_state state;
    struct sequence *sequence = sequence_of(reader, packet->sequence_id);
    *sequence = (struct sequence){.generation = sequence->generation};
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.number == PACKET_TIMESTAMP_CLOCK && field.type == WIRE_VARINT) sequence->default_clock = field.value;
        if (field.number != PACKET_TRACK_EVENT || field.type != WIRE_BYTES) continue;
        struct wire defaults = field.bytes;
        while ((state = wire_next(&defaults, &part)) == WIRE_OK)
            if (part.number == EVENT_TRACK && part.type == WIRE_VARINT) sequence->default_track = part.value;
        if (state != WIRE_END) return state;
    }
    return state;
}

/* ---- events ---- */

/* The thread of a track; of one that is no thread's a row of its own in the process that it belongs to. */
static uint32_t thread_of(struct perfetto_reader *reader, uint64_t uuid) {
    struct track *track = track_of(reader, uuid);
    if (track->thread) return track->thread - 1;
    uint32_t thread;
    if (track->has_thread)
        thread = trace_thread(&reader->rows, track->pid, track->tid);
    else {
        const struct track *owner = track;
        const char *name = track->name;
        for (int i = 0; i < PARENTS_MAX && !owner->has_process && !owner->has_thread && owner->parent; i++) {
            const uint64_t parent = owner->parent;
            if (!map_find(&reader->tracks, &parent, sizeof parent)) break;
            owner = track_of(reader, parent);
            if (!name) name = owner->name;
        }
        char key[24];
        snprintf(key, sizeof key, "%llu", (unsigned long long)uuid);
        thread = trace_track(&reader->rows, owner->pid, key, name ? name : "");
    }
    track_of(reader, uuid)->thread = thread + 1;
    return thread;
}

static int read_event(struct perfetto_reader *reader, const struct packet *packet) {
    struct wire wire = packet->event;
    struct wire_field field;
    enum wire_state state;
    struct trace_slice slice = {.name = "", .category = ""};
    uint64_t type = 0, track = sequence_of(reader, packet->sequence_id)->default_track;
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.type == WIRE_VARINT && field.number == EVENT_TYPE) type = field.value;
        if (field.type == WIRE_VARINT && field.number == EVENT_TRACK) track = field.value;
        if (field.type == WIRE_VARINT && field.number == EVENT_NAME_IID)
            slice.name = interned(reader, packet, INTERNED_EVENT_NAME, field.value);
        if (field.type == WIRE_BYTES && field.number == EVENT_NAME) slice.name = text_of(reader, field.bytes);
        if (field.type == WIRE_VARINT && field.number == EVENT_CATEGORY_IID && !*slice.category)
            slice.category = interned(reader, packet, INTERNED_CATEGORY, field.value);
        if (field.type == WIRE_BYTES && field.number == EVENT_CATEGORY && !*slice.category)
            slice.category = text_of(reader, field.bytes);
    }
    if (state != WIRE_END || !packet->has_timestamp || type < EVENT_SLICE_BEGIN || type > EVENT_INSTANT) return state;
    uint64_t clock = packet->clock ? packet->clock : sequence_of(reader, packet->sequence_id)->default_clock;
    if (!perfetto_clocks_take(&reader->clocks, packet->sequence_id, clock, packet->timestamp, &slice.start_ns))
        return WIRE_TOO_LONG;
    slice.thread = thread_of(reader, track);
    if (type == EVENT_SLICE_BEGIN) open_slices_begin(&reader->open, &slice);
    if (type == EVENT_SLICE_END) open_slices_end(&reader->open, slice.thread, slice.start_ns);
    if (type == EVENT_INSTANT) (void)trace_add(&reader->rows, &slice);
    return state;
}

static enum wire_state split_packet(struct wire wire, struct packet *packet) {
    struct wire_field field;
    enum wire_state state;
    *packet = (struct packet){0};
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.type == WIRE_VARINT) switch (field.number) {
            case PACKET_TIMESTAMP: packet->timestamp = field.value, packet->has_timestamp = true; break;
            case PACKET_TIMESTAMP_CLOCK: packet->clock = field.value; break;
            case PACKET_SEQUENCE_ID: packet->sequence_id = field.value; break;
            case PACKET_SEQUENCE_FLAGS: packet->flags = field.value; break;
            }
        if (field.type == WIRE_BYTES) switch (field.number) {
            case PACKET_TRACK_EVENT: packet->event = field.bytes, packet->has_event = true; break;
            case PACKET_INTERNED_DATA: packet->interned = field.bytes, packet->has_interned = true; break;
            case PACKET_DEFAULTS: packet->defaults = field.bytes, packet->has_defaults = true; break;
            case PACKET_TRACK_DESCRIPTOR: packet->descriptor = field.bytes, packet->has_descriptor = true; break;
            case PACKET_CLOCK_SNAPSHOT: packet->snapshot = field.bytes, packet->has_snapshot = true; break;
            }
    }
    return state;
}

static enum wire_state read_packet(struct perfetto_reader *reader, struct wire wire) {
    struct packet packet;
    enum wire_state state = split_packet(wire, &packet);
    if (state == WIRE_END && packet.flags & SEQUENCE_STATE_CLEARED) {
        struct sequence *sequence = sequence_of(reader, packet.sequence_id);
        *sequence = (struct sequence){.generation = sequence->generation + 1};
    }
    if (state == WIRE_END && packet.has_snapshot)
        state = perfetto_clocks_read(&reader->clocks, packet.sequence_id, packet.snapshot);
    if (state == WIRE_END && packet.has_interned) state = read_interned(reader, &packet);
    if (state == WIRE_END && packet.has_defaults) state = read_defaults(reader, &packet);
    if (state == WIRE_END && packet.has_descriptor) state = read_descriptor(reader, packet.descriptor);
    if (state == WIRE_END && packet.has_event) state = read_event(reader, &packet);
    return state;
}

static int read_packets(struct perfetto_reader *reader, struct error *err) {
    enum { PROGRESS_STEP = 4096 };
    const struct input *input = reader->input;
    struct wire wire = {input->data, input->data + input->size};
    struct wire_field field;
    for (;;) {
        uint64_t at = (uint64_t)(wire.at - input->data);
        enum wire_state state = wire_next(&wire, &field);
        if (state == WIRE_END) return 0;
        if (state == WIRE_OK && (field.number != TRACE_PACKET || field.type != WIRE_BYTES)) continue;
        if (state == WIRE_OK) state = read_packet(reader, field.bytes);
        if (state != WIRE_END) {
            input_fail_byte(err, input, at, "%s", wire_problem(state));
            if (ingest_broken(reader->rows.ingest, err)) return -1;
            if (field.type != WIRE_BYTES || wire.at <= input->data + at) return 0; /* nothing behind it can be found */
        }
        if (++reader->packets % PROGRESS_STEP == 0) ingest_progress(reader->rows.ingest, at);
    }
}

static int read_perfetto(struct ingest *ingest, const struct input *input, struct error *err) {
    struct perfetto_reader reader = {.input = input};
    trace_rows_open(&reader.rows, ingest);
    reader.open.rows = &reader.rows;
    int code = read_packets(&reader, err);
    if (code == 0) {
        open_slices_cut(&reader.open);
        code = trace_rows_write(&reader.rows, reader.clocks.epoch_ns, err);
    }
    free(reader.sequence_list);
    free(reader.track_list);
    map_free(&reader.sequences);
    map_free(&reader.names);
    map_free(&reader.tracks);
    perfetto_clocks_free(&reader.clocks);
    open_slices_free(&reader.open);
    trace_rows_free(&reader.rows);
    return code;
}

/* Both this and profile.proto begin with messages of field 1: there a ValueType, which has fields 1 and 2 alone. */
static bool recognise_perfetto(const struct input *input) {
    enum { LOOK_AT = 64 };
    struct wire wire = {input->data, input->data + input->size};
    struct wire_field field, part;
    if (wire_next(&wire, &field) != WIRE_OK || field.number != TRACE_PACKET || field.type != WIRE_BYTES) return false;
    struct wire packet = field.bytes;
    bool has_field = false;
    for (int i = 0; i < LOOK_AT; i++) {
        enum wire_state state = wire_next(&packet, &part);
        if (state != WIRE_OK) return state == WIRE_END && has_field;
        has_field |= part.number == PACKET_TIMESTAMP || part.number == PACKET_SEQUENCE_ID ||
                     part.number == PACKET_CLOCK_SNAPSHOT || part.number == PACKET_TRACK_DESCRIPTOR;
    }
    return has_field;
}

const struct format format_perfetto = {
    .name = "perfetto",
    .help = "slices of a Perfetto trace: Android, Chrome and programs with its SDK",
    .recognise = recognise_perfetto,
    .read = read_perfetto,
};
