/* timeline.h: the events of a run in memory, for the formats of trace viewers. Times are ns since the start of the run. */
#ifndef CLEAR_EXPORT_TIMELINE_H
#define CLEAR_EXPORT_TIMELINE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"
#include "schema/db.h"

/* What a viewer can do with an event. */
enum timeline_class {
    TIMELINE_WAIT,    /* the thread stood still until somebody let it go on */
    TIMELINE_RELEASE, /* what ended a wait of another thread */
    TIMELINE_HOLD,    /* the thread had a lock: such times need not nest */
    TIMELINE_SLICE,   /* anything else that took time */
    TIMELINE_INSTANT, /* and what took none */
    TIMELINE_SAMPLE,  /* a stack that ran */
};

struct timeline_kind {
    const char *name; /* events.kind */
    enum timeline_class class;
};

struct timeline_process {
    int64_t id, pid;
    const char *executable;
};

struct timeline_thread {
    uint32_t process; /* an index */
    int64_t tid;
    const char *name; /* never NULL */
};

#define TIMELINE_NONE UINT32_MAX
/* The category of slices that stand on the track of a lock a second time: clear ingest leaves them out. */
#define TIMELINE_OF_OBJECT "clear.lock"
struct timeline_event {
    int64_t id, start_ns, duration_ns, object_id, address, trace_id;
    uint32_t thread, owner; /* indexes of threads; owner: TIMELINE_NONE where it is not known */
    /* Of a wait the index of the release that ended it, as the view lock_waits says; of a release that of the first wait that it ended,
     * whose `next` leads to further ones. Else TIMELINE_NONE. */
    uint32_t release, next;
    int64_t value; /* of a flow that the program reported, or of a fiber: its number */
    uint8_t kind;  /* an index */
    bool is_late, has_flow, has_fiber;
};

struct timeline {
    struct db *db; /* not owned */
    struct timeline_process *processes;
    struct timeline_thread *threads; /* by process and tid */
    struct timeline_kind *kinds;
    struct timeline_event *events; /* by thread, start, longest first */
    size_t process_count, thread_count, kind_count, event_count, event_capacity;
    struct arena texts;
    struct map thread_index, kind_index, objects;
};

/* All events of a run; a run without any is a failure that says how to record them. */
int timeline_load(struct timeline *timeline, struct db *db, int64_t run_id, struct error *err);
void timeline_free(struct timeline *timeline);

static inline int64_t timeline_end(const struct timeline_event *event) {
    return event->start_ns + event->duration_ns;
}
static inline enum timeline_class timeline_class(const struct timeline *timeline, const struct timeline_event *event) {
    enum timeline_class class = timeline->kinds[event->kind].class;
    return class == TIMELINE_SLICE && event->duration_ns == 0 ? TIMELINE_INSTANT : class;
}

/* The name of an object, for people; "" for none, NULL for an error. It lives as long as the timeline. */
const char *timeline_object(struct timeline *timeline, int64_t object_id, struct error *err);
/* What a viewer calls an event: "wait for g_table", "release g_table". free() it; NULL for an error. */
char *timeline_name(struct timeline *timeline, const struct timeline_event *event, struct error *err);

/* Indexes of the events of a class in the order of process, object, address and start. free() them. */
uint32_t *timeline_by_object(const struct timeline *timeline, enum timeline_class class, size_t *count);

#endif
