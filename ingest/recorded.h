/* recorded.h: one recorded process: its segment's sums, and the rows that stand for them in the warehouse.
 *
 * Invariants, after recorded_read: sum of a site row's `now` over the rows == sum of the slots' counters; after a
 * committed recorded_write: `written` == `now` in every row. Two ids may share a row (one stack met before and after its
 * library was loaded again elsewhere), so rows are keyed by trace and by (object, address), not by id. */
#ifndef CLEAR_INGEST_RECORDED_H
#define CLEAR_INGEST_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ingest/resolve.h"
#include "ingest/segment.h"
#include "ingest/segment_view.h"

/* The clock of lock times. `ticks` of it took `ns`; 1:1 where it counts nanoseconds. */
struct tick_rate {
    uint64_t ns, ticks;
};

struct stack_slot { /* by stack id */
    struct heap_counters sum;
    uint64_t offset; /* of the stack in the segment; 0: not met yet */
    int64_t trace_id;
    uint32_t row; /* 1 + index into sites; 0: none */
};
struct lock_slot { /* by lock id */
    struct lock_counters sum;
    struct segment_lock lock; /* id 0: not met yet */
    uint32_t row;             /* 1 + index into locks; 0: none */
};
struct site_row {
    int64_t trace_id;
    struct heap_counters now, written;
};
struct lock_row {
    int64_t object_id;
    uint64_t address;
    uint32_t kind;
    struct lock_counters now, written;
};

struct recorded {
    char *name; /* of the segment file */
    struct segment head;
    struct address_space space;
    size_t module_index; /* while the modules are walked */
    struct stack_slot *stacks;
    struct lock_slot *locks;
    size_t stack_capacity, lock_capacity;
    uint64_t id_max;
    struct thread_counters threads; /* summed */
    struct site_row *sites;
    struct lock_row *lock_rows;
    size_t site_count, lock_row_count;
    struct map site_index, lock_index;              /* trace id, (object id, address) -> index */
    int64_t process_id, heap_profile, lock_profile; /* 0: no row yet */
    struct heap_counters heap_total;
    uint64_t acquires, dropped_heap, dropped_locks, truncated, lost; /* lost: events of ids that the segment lacks */
    uint64_t written;                                    /* fingerprint of the totals as of the last committed flush */
    bool is_running, is_corrupt, is_finished, is_stored; /* stored: the ids above are committed */
};

struct recorded *recorded_new(const char *name);
void recorded_free(struct recorded *recorded);

/* Sums what the open segment holds now. */
void recorded_read(struct recorded *recorded, struct resolver *resolver, struct segment_view *view);
/* Writes what changed, in the caller's transaction, with the view that recorded_read used still open. */
int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, int64_t run_id,
                   struct tick_rate rate, struct error *err);
/* The transaction is there, or it is not. */
void recorded_committed(struct recorded *recorded);
void recorded_rolled_back(struct recorded *recorded);

#endif
