/* perfetto_packets.h: a Perfetto trace on its way out, for export/perfetto.c: its packets, what they name by number, and their tracks. */
#ifndef CLEAR_EXPORT_PERFETTO_PACKETS_H
#define CLEAR_EXPORT_PERFETTO_PACKETS_H

#include "base/perfetto_proto.h"
#include "base/protobuf.h"
#include "export/file.h"
#include "export/timeline.h"

enum { PERFETTO_LANE_DEPTH = 64 };

/* Tracks have numbers of 64 bits: what they are, then which. */
enum perfetto_track { TRACK_OF_PROCESS = 1, TRACK_OF_THREAD, TRACK_OF_COUNTER, TRACK_OF_OBJECT, TRACK_OF_LANE };
enum perfetto_annotation { OWNER = 1, OWNER_TID, RELEASED_BY, GAVE_UP, FIBER };

/* A line of slices that nest: the ends of those that are open. */
struct perfetto_lane {
    int64_t ends[PERFETTO_LANE_DEPTH];
    size_t depth;
    uint64_t track;
};

struct perfetto {
    struct file file;
    struct db *db;
    struct timeline timeline;
    struct buffer out;
    struct map interned[INTERNED_FIELDS]; /* by field: what -> its number, from 1 */
    struct map names;                     /* {kind, object} -> the number of the name of such slices */
    struct perfetto_lane *lanes;          /* of a thread or of an object; the first is its own track */
    size_t lane_count;
    uint64_t tracks; /* lanes and counters so far, for their numbers */
    bool is_started;
};

static inline uint64_t perfetto_track_number(enum perfetto_track what, uint64_t which) {
    enum { SHIFT = 56 };
    return (uint64_t)what << SHIFT | which;
}

/* A packet of this trace: its fields are added until protobuf_end(&perfetto->out, what this returned). */
size_t perfetto_begin_packet(struct perfetto *perfetto);

/* ---- names and stacks : their numbers; each is written once, so not while another packet is begun ---- */

int64_t perfetto_intern_text(struct perfetto *perfetto, enum interned_field field, const char *text);
/* Of the stack of a trace, and of its place; 0 for no stack, below 0 for an error. */
int64_t perfetto_intern_trace(struct perfetto *perfetto, int64_t trace_id, struct error *err);
/* Of the name of an event; below 0 for an error. */
int64_t perfetto_intern_name(struct perfetto *perfetto, const struct timeline_event *event, struct error *err);
/* Annotations are few and have numbers of their own (enum perfetto_annotation): before the first event. */
void perfetto_write_annotation_names(struct perfetto *perfetto);

/* ---- tracks ---- */

void perfetto_write_process(struct perfetto *perfetto, size_t index);
void perfetto_write_thread(struct perfetto *perfetto, size_t index);
/* One with a name, under another; unit: of a counter, as in CounterDescriptor, else 0. */
void perfetto_write_track(struct perfetto *perfetto, uint64_t number, uint64_t parent, const char *name, int unit);

/* Slices of one track must nest: this begins with one lane, of that track, and then an event gets the first lane that has room for it, where
 * further lanes are tracks of the given name beside the first. `flat`: beside each other only. Events come in the order of their start. */
void perfetto_clear_lanes(struct perfetto *perfetto, uint64_t track);
uint64_t perfetto_take_lane(struct perfetto *perfetto, const struct timeline_event *event, uint64_t parent,
                            const char *name, bool flat);

#endif
