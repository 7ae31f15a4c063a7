/* recorded.h: one recorded process: its segment's sums, and the rows that stand for them in the warehouse.
 *
 * Each flush adds a window to every kind in which something moved: a row of `profiles` and rows of what moved, as differences from
 * the window before. Differences are taken here, of sums in memory: a row that did not move costs a comparison.
 *
 * Invariants of every measure, after recorded_read: sum of `now` over the rows + `lost` == sum of the counters in the segment (of
 * words that are sums); after a committed recorded_write: `written` == `now`, and that is the sum of the process's windows in the
 * warehouse (times aside, which are rounded down in each). A flush that fails leaves `written` as it was, so the next window
 * holds its part too. Two ids may share a row (one stack met before and after its library was loaded again elsewhere), so rows
 * are keyed by what the warehouse keys them by, not by id. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_H
#define CLEAR_INGEST_RECORD_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ingest/record/measure.h"
#include "ingest/record/resolve.h"
#include "ingest/record/segment_view.h"
#include "ingest/record/windows.h"
#include "ingest/segment.h"

/* The clock of lock times. `ticks` of it took `ns`; 1:1 where it counts nanoseconds. */
struct tick_rate {
    uint64_t ns, ticks;
};

/* What the segments do not say themselves. */
struct recording_terms {
    int64_t run_id;
    uint32_t sample_n; /* as in struct control */
    uint64_t sample_bytes;
    uint32_t cpu_hz;
    struct tick_rate rate;
    int64_t time_ns; /* when all was read, ns since the epoch; never less than that of the flush before */
    struct window_limits limits;
};

struct stack_slot {  /* by stack id */
    uint64_t offset; /* of the stack in the segment; 0: not met yet */
    int64_t trace_id;
};
struct object_slot {              /* by object id */
    struct segment_object object; /* id 0: not met yet */
    int64_t object_id;
};

struct recorded_row {
    union {
        int64_t key[3];
        struct {
            int64_t trace; /* heap and cpu: the stack; lock and cell: the caller's, 0 for none */
            int64_t thing; /* lock, cell, channel: the object; fibers: the task site */
            int64_t place; /* lock and cell: the address; channel and fibers: `number` of struct segment_object */
        };
    };
    uint32_t kind;     /* of a lock: enum segment_object_kind */
    uint64_t capacity; /* of a channel */
};

/* What one measure counted in the process. */
struct counts {
    uint64_t *sums;   /* by id, measure.words each */
    uint32_t *row_of; /* by id: 1 + index into rows; 0: none */
    size_t ids;       /* capacity of the two */
    struct recorded_row *rows;
    uint64_t *now, *written; /* by row, measure.words each */
    size_t count, capacity;  /* of rows */
    size_t committed;        /* the first so many rows are those of committed flushes */
    struct map index;        /* key of a row -> its index */
    uint64_t total[MEASURE_WORDS_MAX], written_total[MEASURE_WORDS_MAX];
    uint64_t lost, dropped; /* lost: events of ids that the segment lacks; dropped: those too */
    uint64_t written_dropped;
    struct windows windows, committed_windows;
    size_t mappings, committed_mappings; /* how many of the address space's its windows have */
    bool has_window;                     /* this flush made one */
};

struct recorded {
    char *name; /* of the segment file */
    struct segment head;
    struct address_space space;
    size_t module_index;            /* while the modules are walked */
    size_t committed_mapping_count; /* of the space's */
    struct map stack_chunks;        /* offset of a chunk of stacks -> how many of it are in `stacks` */
    struct stack_slot *stacks;
    struct object_slot *objects;
    size_t stack_capacity, object_capacity;
    struct thread_counters threads; /* summed */
    struct counts counts[MEASURE_COUNT];
    int64_t process_id, committed_process_id; /* 0: no row yet */
    uint64_t truncated, written_truncated;
    uint64_t written;                                  /* fingerprint of the totals as of the last committed flush */
    int64_t time_ns, committed_time_ns;                /* of this flush, and of the last committed one */
    bool is_read, is_running, is_corrupt, is_finished; /* is_read: by this flush */
};

struct recorded *recorded_new(const char *name);
void recorded_free(struct recorded *recorded);

/* Sums what the open segment holds now. */
void recorded_read(struct recorded *recorded, struct resolver *resolver, struct segment_view *view);
/* Makes and sums the rows of what was read, of a view of the same segment. */
int recorded_sum_rows(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                      struct error *err);
/* In the caller's transaction: recorded_sum_rows, and a window of what changed. */
int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                   const struct recording_terms *terms, struct error *err);
/* The transaction is there, or it is not. */
void recorded_committed(struct recorded *recorded);
void recorded_rolled_back(struct recorded *recorded);

/* What a row or a total counted since the last committed flush: of a maximum, itself where it rose, else 0. True where anything
 * did. `difference` may be the same array as `now`. */
bool recorded_difference(const struct measure *measure, const uint64_t *now, const uint64_t *written,
                         uint64_t *difference);

/* Events of a measure, as counted (a sampled one stands for those that were left out). */
uint64_t recorded_events(const struct recorded *recorded, enum measure_id id);

#endif
