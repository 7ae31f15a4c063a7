/* open_slices.h: slices whose beginning and end come apart. Those of one thread nest: an end is that of the last one that began. */
#ifndef CLEAR_INGEST_READ_TRACE_OPEN_SLICES_H
#define CLEAR_INGEST_READ_TRACE_OPEN_SLICES_H

#include "ingest/read/trace/trace_rows.h"

struct open_slice {
    struct trace_slice slice;
    uint32_t outer; /* index + 1 of the one around it; 0: none */
};

struct open_slices {
    struct trace_rows *rows; /* not owned: what is whole goes there */
    struct open_slice *slices;
    size_t count, capacity;
    uint32_t free;  /* index + 1 of the first that is used no more */
    uint32_t *last; /* by thread: index + 1 of the innermost one; 0: none */
    size_t threads; /* of `last` */
    int64_t latest_ns;
};

void open_slices_begin(struct open_slices *open, const struct trace_slice *slice);
/* An end without a beginning, which a ring lost, is left out; so is one before its beginning. */
void open_slices_end(struct open_slices *open, uint32_t thread, int64_t end_ns);
/* What is still open on the thread, whose end this is, lasts until then, and is marked. */
void open_slices_cut_thread(struct open_slices *open, uint32_t thread, int64_t end_ns);
/* What is still open lasts to the latest time in the trace, and is marked. */
void open_slices_cut(struct open_slices *open);
void open_slices_free(struct open_slices *open);

#endif
