/* trace_rows.h: the slices of a foreign trace on their way into the tables processes, threads, objects and events. They are collected in
 * memory, because a trace is in no order and its start is the smallest time in it. */
#ifndef CLEAR_INGEST_READ_TRACE_TRACE_ROWS_H
#define CLEAR_INGEST_READ_TRACE_TRACE_ROWS_H

#include "base/arena.h"
#include "base/map.h"
#include "ingest/read/ingest.h"

struct trace_slice {
    int64_t start_ns, duration_ns; /* duration 0: a moment */
    const char *name, *category;   /* interned */
    uint32_t thread;               /* an index */
    bool is_cut;                   /* its end is not in the trace */
    bool has_owner, has_value;     /* else the columns are NULL */
    const char *kind;              /* as in the column events.kind; NULL: by its category and name */
    int64_t address, stack;        /* as in events; `stack` is an id of the row writer, 0: unknown */
    int64_t owner, value;          /* owner_tid, value */
};

struct trace_thread {
    int64_t pid, tid;
    const char *name;
};

struct trace_rows {
    struct ingest *ingest;
    struct trace_slice *slices;
    struct trace_thread *threads;
    size_t slice_count, slice_capacity, thread_count;
    struct map thread_index, track_index, texts,
        processes; /* {pid, tid} -> index; pid and key -> index; text -> itself; pid -> its name */
    struct arena arena;
};

void trace_rows_open(struct trace_rows *rows, struct ingest *ingest);
void trace_rows_free(struct trace_rows *rows);

/* A copy of the text that lives as long as the rows, with bytes that are no UTF-8 replaced; equal texts are one. */
const char *trace_text(struct trace_rows *rows, const char *text, size_t size);
uint32_t trace_thread(struct trace_rows *rows, int64_t pid, int64_t tid);
/* A track that is no thread: one more row of threads, with a number above those of the kernel. `key` tells tracks of a process apart. */
uint32_t trace_track(struct trace_rows *rows, int64_t pid, const char *key, const char *name);
/* The last name counts. */
void trace_name_thread(struct trace_rows *rows, int64_t pid, int64_t tid, const char *name);
void trace_name_process(struct trace_rows *rows, int64_t pid, const char *name);
/* Below 0 where the slice ends before it begins. */
int trace_add(struct trace_rows *rows, const struct trace_slice *slice);

/* Writes all of it. `epoch_ns` is the time since 1970 at the trace's time 0; 0: not known. A trace without slices is a failure. */
int trace_rows_write(struct trace_rows *rows, int64_t epoch_ns, struct error *err);

#endif
