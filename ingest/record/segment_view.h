/* segment_view.h: reads one segment file (see ingest/segment.h), which a foreign process wrote and may still be writing.
 *
 * Nothing in it is trusted: every offset, count, size, id and text is checked against the bytes that are really there,
 * lists are bounded by the memory that the file occupies (a sparse file of 16 GiB is no reason to allocate any), and
 * a file that is cut short under our feet reads as zeros instead of ending us with SIGBUS. What is broken is left out
 * and `corrupt` says so; all that stands before it is used. */
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
    uint64_t id_max;     /* no id above this can be real */
    struct segment head; /* a copy, texts terminated */
    bool corrupt;
};

/* What a visitor is told. Every pointer is good until the call returns; members may be NULL. Counter arrays hold
 * `count` entries of the ids first_id, first_id + 1, ...: those that have room below id_max. */
struct segment_visitor {
    void (*module)(void *context, const struct segment_module *module);
    void (*stack)(void *context, const struct segment_stack *stack, size_t offset); /* offset: for segment_view_stack */
    void (*object)(void *context, const struct segment_object *object);
    /* Asked before the `count` stacks of the chunk at an offset: false leaves them out. NULL: all are told. */
    bool (*wants_stacks)(void *context, size_t offset, uint64_t count);
    /* Counters of one kind of chunk (CHUNK_HEAP, ...), `words` 64-bit words an id. */
    void (*counters)(void *context, uint32_t kind, uint64_t first_id, const uint64_t *counters, size_t words,
                     size_t count);
    void (*thread)(void *context, const struct thread_counters *counters);
};

/* Opens `name` in the directory. Returns 1, or 0 for a file that is no segment (yet): shorter than a header, or with
 * another magic or version. -1 with the error set where it cannot be opened. One view at a time is open in a process. */
int segment_view_open(struct segment_view *view, int directory, const char *name, struct error *err);
void segment_view_walk(struct segment_view *view, const struct segment_visitor *visitor, void *context);
/* The stack at an offset that a visitor was told, checked again: *stack is a copy of its fixed part (a writer that
 * changes `depth` after the check must not matter), the result its `depth` addresses; NULL where nothing valid is there. */
const uint64_t *segment_view_stack(const struct segment_view *view, size_t offset, struct segment_stack *stack);
void segment_view_close(struct segment_view *view);

/* Whether a process still has the segment mapped: 1 yes, 0 no (it ended, or replaced itself by exec), -1 cannot be told. Asks
 * the file and not the pid, so neither a reused pid, a zombie nor another pid namespace misleads it. */
int segment_is_written(int directory, const char *name);

#endif
