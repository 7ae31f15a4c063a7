/* perfetto_tracks.c: the tracks of a Perfetto trace, and the lanes of those whose slices do not nest. */
#include <stdlib.h>

#include "export/perfetto_packets.h"

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
