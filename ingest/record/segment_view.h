/* segment_view.h: reads a segment file (ingest/segment.h), which another process wrote and may still be writing.
 *
 * Nothing in it is trusted. Every offset, count, size, id and text is checked against the bytes that are there. Lists
 * are bounded by the memory that the file occupies, so a sparse file of 16 GiB allocates nothing. A file that is
 * truncated while it is mapped reads as zeros, and does not end us by SIGBUS. Whatever is wrong is left out, and sets
 * `corrupt`; what comes before it is used. */
#ifndef CLEAR_INGEST_RECORD_SEGMENT_VIEW_H
#define CLEAR_INGEST_RECORD_SEGMENT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/segment.h"

struct segment_view {
    const unsigned char *bytes; /* the map; NULL when closed */
    size_t size;                /* of the map: `used` of the header, or less where the file ends earlier */
    size_t mapped;
    uint64_t id_max;     /* a higher id is not valid */
    struct segment head; /* a copy; its texts are NUL-terminated */
    bool corrupt;
};

/* What segment_view_walk calls. Pointers are valid during the call; members may be NULL. Counter arrays have `count`
 * entries of the ids first_id, first_id + 1, ..., none above id_max. */
struct segment_visitor {
    void (*module)(void *context, const struct segment_module *module);
    void (*stack)(void *context, const struct segment_stack *stack, size_t offset); /* offset: for segment_view_stack */
    void (*object)(void *context, const struct segment_object *object);
    void (*code)(void *context, const struct segment_code *code); /* with its texts */
    /* Called before the `count` stacks of the chunk at an offset: false skips them. NULL: none is skipped. */
    bool (*wants_stacks)(void *context, size_t offset, uint64_t count);
    /* Counters of one kind of chunk (CHUNK_HEAP, ...), `words` 64-bit words an id. */
    void (*counters)(void *context, uint32_t kind, uint64_t first_id, const uint64_t *counters, size_t words,
                     size_t count);
    void (*thread)(void *context, const struct thread_counters *counters);
    void (*cpu)(void *context, const struct segment_cpu *entry);
    void (*io)(void *context, const struct segment_io *entry);
    void (*mapping)(void *context, const struct segment_mapping *entry);
    void (*tally)(void *context, const struct segment_tally *tally);
    void (*named_thread)(void *context, const struct segment_thread *thread);
    /* A chunk of events at that offset has so many now; turn: its first_id. The events themselves: segment_view_events. */
    void (*event_chunk)(void *context, size_t offset, uint64_t turn, uint64_t count);
};

/* Opens `name` in the directory. Returns 1; 0 for a file that is not (yet) a segment, because it is shorter than a
 * header or has another magic or version; -1 with the error set where it cannot be opened. Only one view can be open in
 * a process. */
int segment_view_open(struct segment_view *view, int directory, const char *name, struct error *err);
void segment_view_walk(struct segment_view *view, const struct segment_visitor *visitor, void *context);
/* The stack at an offset that a visitor got. It is checked again, and *stack is a copy of its fixed part, so that a
 * writer that changes `depth` after the check does no harm. Returns its `depth` addresses; NULL where it is not
 * valid. */
const uint64_t *segment_view_stack(const struct segment_view *view, size_t offset, struct segment_stack *stack);
/* The `count` events from the index `from` on of the chunk at an offset that a visitor got, into `events`. Returns how many there are:
 * fewer where one is not valid, and none where the program has emptied the chunk since that turn, to fill it again. */
size_t segment_view_events(struct segment_view *view, size_t offset, uint64_t turn, size_t from, size_t count,
                           struct segment_event *events);
void segment_view_close(struct segment_view *view);

/* Whether a process has the segment mapped: 1 yes, 0 no (it ended or called exec), -1 unknown. It asks about the file
 * and not the pid, so a reused pid, a zombie or another pid namespace makes no difference. */
int segment_is_written(int directory, const char *name);

#endif
