#include "ingest/read/trace/open_slices.h"

#include <stdlib.h>

static uint32_t *innermost(struct open_slices *open, uint32_t thread) {
    while (open->threads <= thread) {
        size_t more = open->threads ? open->threads : 16;
        open->last = xrealloc(open->last, (open->threads + more) * sizeof *open->last);
        for (size_t i = 0; i < more; i++)
            open->last[open->threads++] = 0;
    }
    return &open->last[thread];
}

static void see(struct open_slices *open, int64_t ns) {
    if (!open->latest_ns || ns > open->latest_ns) open->latest_ns = ns;
}

void open_slices_begin(struct open_slices *open, const struct trace_slice *slice) {
    uint32_t *last = innermost(open, slice->thread);
    uint32_t number = open->free;
    if (number)
        open->free = open->slices[number - 1].outer;
    else {
        if (open->count == open->capacity) {
            open->capacity = open->capacity ? 2 * open->capacity : 64;
            open->slices = xrealloc(open->slices, open->capacity * sizeof *open->slices);
        }
        number = (uint32_t)++open->count;
    }
    open->slices[number - 1] = (struct open_slice){*slice, *last};
    *last = number;
    see(open, slice->start_ns);
}

static void close_one(struct open_slices *open, uint32_t *last, int64_t end_ns) {
    uint32_t number = *last;
    struct open_slice *closed = &open->slices[number - 1];
    *last = closed->outer;
    if (!__builtin_sub_overflow(end_ns, closed->slice.start_ns, &closed->slice.duration_ns))
        (void)trace_add(open->rows, &closed->slice);
    closed->outer = open->free;
    open->free = number;
}

void open_slices_end(struct open_slices *open, uint32_t thread, int64_t end_ns) {
    uint32_t *last = innermost(open, thread);
    see(open, end_ns);
    if (*last) close_one(open, last, end_ns);
}

void open_slices_cut_thread(struct open_slices *open, uint32_t thread, int64_t end_ns) {
    for (uint32_t *last = innermost(open, thread); *last; close_one(open, last, end_ns))
        open->slices[*last - 1].slice.is_cut = true;
}

void open_slices_cut(struct open_slices *open) {
    for (size_t i = 0; i < open->rows->slice_count; i++)
        see(open, open->rows->slices[i].start_ns + open->rows->slices[i].duration_ns);
    for (size_t i = 0; i < open->threads; i++)
        while (open->last[i]) {
            open->slices[open->last[i] - 1].slice.is_cut = true;
            close_one(open, &open->last[i], open->latest_ns);
        }
}

void open_slices_free(struct open_slices *open) {
    free(open->slices);
    free(open->last);
}
