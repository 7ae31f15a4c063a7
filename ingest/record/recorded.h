/* recorded.h: one recorded process: the sums of its segment, and its rows in the warehouse.
 *
 * Each flush adds a window to every kind in which something changed: a row of `profiles`, and rows with the differences
 * to the flush before. The differences are computed in memory, so a row that did not change costs one comparison.
 *
 * Invariants of every measure, for words that are sums:
 *   after recorded_read                sum of `now` over the rows + `lost` == sum of the counters in the segment
 *   after a committed recorded_write   `written` == `now` == sum of the process's windows in the warehouse
 *                                      (but for times, which are rounded down in each window)
 * A flush that fails leaves `written` as it was, so the next window includes its part.
 *
 * Rows have the keys of the warehouse and not the ids of the segment, because two ids may mean one row: a stack that
 * was met again after its library was loaded at another address. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_H
#define CLEAR_INGEST_RECORD_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ingest/record/kernel/resident.h"
#include "ingest/record/kernel/wait_delays.h"
#include "ingest/record/measure.h"
#include "ingest/record/names/resolve.h"
#include "ingest/record/segment_view.h"
#include "ingest/record/windows.h"
#include "ingest/segment.h"

/* The clock of lock times: `ticks` took `ns`. 1:1 where it counts nanoseconds. */
struct tick_rate {
    uint64_t ns, ticks;
};

/* value * by / of, at most INT64_MAX, whatever a damaged segment says. */
static inline uint64_t tick_scaled(uint64_t value, uint64_t by, uint64_t of) {
    unsigned __int128 scaled = (unsigned __int128)value * by / (of ? of : 1);
    return scaled > INT64_MAX ? INT64_MAX : (uint64_t)scaled;
}

/* What the segments do not contain. */
struct recording_terms {
    int64_t run_id;
    uint32_t sample_n; /* as in struct control */
    uint64_t sample_bytes;
    uint32_t
        lock_n; /* of a budget, acquisitions of locks that need not wait: one of so many was recorded at times; 0, 1: each */
    uint32_t cpu_hz;
    struct tick_rate rate;
    uint64_t origin_ticks; /* a moment of the recording on the clock of FEATURE_TSC, on CLOCK_MONOTONIC, */
    int64_t origin_monotonic_ns, origin_ns; /* and as ns since the epoch */
    int64_t time_ns;                        /* of this flush, ns since the epoch; never before that of the last flush */
    struct window_limits limits;
    bool keeps_all_events;  /* store events at each flush, not only at the end */
    bool stores_when_asked; /* store events only where somebody asks for it ... */
    bool is_dump_asked;     /* ... now, beside the processes themselves */
    bool was_paused;        /* at any time: then the lives of threads are longer than what was recorded of them */
    uint32_t wall_hz;       /* looks a second; 0: none */
    bool is_final;          /* the recording ends, also where processes go on */
    const struct preemptions *preemptions; /* NULL, or what is known of them: events, too */
    int64_t trace_last_ns;                 /* events that ended earlier before the end are passed over; 0: none is */
};

/* A chunk of events in the segment. */
struct event_chunk {
    size_t offset;
    uint64_t turn, count;         /* as of recorded_save_rings, else of recorded_read */
    size_t saved_at, saved;       /* of recorded.rings: index and number of its new events */
    uint64_t stored, stored_turn; /* so many of the turn are stored; first as of this flush, ... */
    uint64_t committed, committed_turn;
};

struct stack_slot {  /* by stack id */
    uint64_t offset; /* of the stack in the segment; 0: not read yet */
    int64_t trace_id;
};
struct object_slot {              /* by object id */
    struct segment_object object; /* id 0: not read yet */
    int64_t object_id;
};

struct
    pair_key { /* part: the thread, of CPU time; the call, of input and output; the histogram and bucket, of blocks; the use, of mappings */
    uint32_t stack, part;
};
/* What a thread was found in: a number of such a pair, of MEASURE_WALL and MEASURE_OFF_CPU. */
struct look {
    const char *place; /* its name, as of a frame above the stack; NULL: it ran */
    const char *state; /* "running", "waiting", "ready" or "unsampled" */
    uint32_t thread;   /* the kernel's id, 0 for none; where it ran, its `id` in the segment */
    char name[16];     /* of the thread; where it ran, the segment has it */
};
struct thread_slot {              /* by thread id */
    struct segment_thread thread; /* id 0: not read yet */
    int64_t label_set_id;
};

struct recorded_row {
    union {
        int64_t key[3];
        struct {
            int64_t trace; /* heap and cpu: the stack; lock and cell: the caller's, 0 for none */
            int64_t
                thing; /* lock, cell, channel: the object; fibers: the task site; cpu: the label set; io: the call; lifetimes: the histogram and bucket; mmap: the use */
            int64_t
                place; /* mmap: the label set; lock and cell: the address; channel and fibers: `number` of struct segment_object */
        };
    };
    uint32_t kind; /* of a lock: enum segment_object_kind */
    int64_t
        first; /* of a lock: the stack that took it first; of a wait: that used it first without one; 0: not known */
    int64_t guard;     /* of a condition variable: the address of its mutex; 0: not known */
    uint64_t capacity; /* of a channel */
};

/* What one measure counted in the process. */
struct counts {
    uint64_t *sums;         /* by id, measure.words each */
    uint32_t *row_of;       /* by id: 1 + index into rows; 0: none */
    size_t ids;             /* capacity of the two */
    struct map pair_ids;    /* of a measure by pairs: struct pair_key -> id */
    struct pair_key *pairs; /* by id */
    size_t pair_capacity;
    struct recorded_row *rows;
    uint64_t *now, *written; /* by row, measure.words each */
    size_t count, capacity;  /* of rows */
    size_t committed;        /* number of rows in committed flushes; these come first */
    struct map index;        /* key of a row -> its index */
    uint64_t total[MEASURE_WORDS_MAX], written_total[MEASURE_WORDS_MAX];
    uint64_t lost,
        dropped; /* lost: events of ids that are not in the segment; dropped includes those of a process that ended */
    uint64_t written_dropped;
    struct windows windows, committed_windows;
    size_t mappings, committed_mappings; /* number of the address space's mappings that its windows have */
    bool has_window;                     /* made by this flush */
};

/* A wait that was not over when its thread's record was read. */
struct open_wait {
    const struct thread_counters *at; /* of the thread, in the view */
    uint64_t since;                   /* ticks */
    uint32_t object, weight;
    bool is_shared;
    bool is_endless; /* see wait_circles.h */
};

/* A thread that had not ended when its record was read. */
struct open_life {
    const struct thread_counters *at; /* of the thread, in the view */
    uint64_t born_at;                 /* ticks */
    uint64_t starter;                 /* id of the stack that started it; 0: unknown */
};

struct recorded {
    char *name; /* of the segment file */
    struct segment head;
    struct address_space space;
    size_t module_index;            /* while the modules are walked */
    size_t committed_mapping_count; /* of the space's */
    struct map stack_chunks;        /* offset of a chunk of stacks -> number of its stacks that were read */
    struct stack_slot *stacks;
    struct object_slot *objects;
    size_t stack_capacity, object_capacity;
    size_t named_objects; /* the first so many ids are resolved, where that must be in order */
    struct thread_slot *named_threads;
    size_t named_thread_capacity;
    struct wall *wall;   /* who looks at its threads; NULL: nobody */
    struct map look_ids; /* place, state and thread -> index of `looks` */
    struct look *looks;
    size_t look_count, look_capacity;
    struct event_chunk *event_chunks; /* in the order of the segment, which only adds some */
    size_t event_chunk_count, event_chunk_capacity;
    size_t event_chunk_index;    /* while they are walked */
    bool wants_events;           /* by this flush: they are to be stored */
    struct segment_event *rings; /* what recorded_save_rings copied; NULL: nothing */
    size_t rings_count, rings_room;
    uint64_t dropped_events;         /* that the program gave up, when its rings were read */
    uint64_t dumps, committed_dumps; /* that the process asked for: those that are stored */
    size_t stored_preemptions,
        committed_preemptions; /* of struct preemptions: those before are stored, or of other processes */
    uint64_t stored_events, committed_events; /* also those that were passed over */
    struct thread_counters threads;           /* summed */
    struct wait_delays wait_delays;           /* by looks of the collector */
    bool has_waited;              /* at one of them: a thread waits for a lock, or has since the one before */
    struct open_wait *open_waits; /* as of recorded_read */
    size_t open_count, open_capacity;
    struct map gone_waits;        /* since when -> ticks: until when, of threads that are gone */
    struct open_life *open_lives; /* the same */
    size_t life_count, life_capacity;
    uint64_t thread_ticks; /* the lives of all threads */
    uint64_t read_ticks;   /* when that was, on the clock of lock times */
    uint64_t run_delay_ns, written_delay_ns,
        committed_delay_ns;   /* its threads had no processor, by looks of the collector; that windows have */
    struct resident resident; /* as of recorded_write; of a process that runs no more nothing */
    struct counts counts[MEASURE_COUNT];
    int64_t process_id, committed_process_id; /* 0: no row yet */
    uint64_t truncated, written_truncated;
    uint64_t written;                                  /* fingerprint of the totals as of the last committed flush */
    int64_t time_ns, committed_time_ns;                /* of this flush, and of the last committed one */
    bool is_read, is_running, is_corrupt, is_finished; /* is_read: by this flush */
    bool is_last;                                      /* this flush is, also where the process goes on */
};

struct recorded *recorded_new(const char *name);
void recorded_free(struct recorded *recorded);

/* Notes which files the stacks of the open segment are in, for resolver_read_ahead. */
void recorded_meet(struct recorded *recorded, struct resolver *resolver, struct segment_view *view);
/* Reads and sums the counters of the open segment, and the waits and lives that are open at `ticks`, which is now on the
 * clock of lock times. */
void recorded_read(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t ticks);
/* Sums what was read into rows; needs a view of the same segment. */
int recorded_sum_rows(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                      struct error *err);
/* recorded_sum_rows, then writes a window for each kind that changed. In the caller's transaction. */
int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                   const struct recording_terms *terms, struct error *err);
/* What was read is stored already, in another run, up to `time_ns`. In the caller's transaction, in place of recorded_write. */
int recorded_pass(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, int64_t time_ns,
                  struct error *err);
/* Call one of them after the transaction. */
void recorded_committed(struct recorded *recorded);
void recorded_rolled_back(struct recorded *recorded);

/* What a row or a total counted since the last committed flush. The difference of a maximum is the maximum itself if it
 * rose, else 0. Returns whether anything changed. `difference` may be the same array as `now`. */
bool recorded_difference(const struct measure *measure, const uint64_t *now, const uint64_t *written,
                         uint64_t *difference);

/* The row of an object's id, as after recorded_sum_rows. 1: there is one, 0: the segment has no such object, -1: an error. */
int recorded_object_row(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                        struct recorded_row *row, struct error *err);
/* The trace of a stack's id; 0: the segment has no such stack; -1: an error. */
int64_t recorded_trace(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                       struct error *err);

/* Notes a chunk of events, in the order of the segment from `event_chunk_index` on. It may move all of them. */
struct event_chunk *recorded_event_chunk(struct recorded *recorded, size_t offset, uint64_t turn, uint64_t count);

/* The name of an enum segment_object_kind of a lock or of what is waited for. */
const char *recorded_object_kind(uint32_t kind);

/* Adds a number of a pair to its measure. */
void recorded_add_pair(struct recorded *recorded, enum measure_id id, struct pair_key pair, const uint64_t *words);

/* Whether the process with its number is that process, and not another one, because it has this number in a container only. */
bool recorded_is_here(const struct recorded *recorded, const struct resolver *resolver);

/* Whether the process has searched for lost blocks, and counted them all. */
bool recorded_has_leaks(const struct recorded *recorded);

/* The number of events of a measure, scaled when sampled. */
uint64_t recorded_events(const struct recorded *recorded, enum measure_id id);

#endif
