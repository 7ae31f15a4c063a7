/* measure.h: the kinds of counters in a segment, one table row each: what their words mean, and in which profile, table
 * and columns they are stored. The counters of ingest/segment.h are structs of 64-bit words alone, so the same code
 * sums and writes all of them. */
#ifndef CLEAR_INGEST_RECORD_MEASURE_H
#define CLEAR_INGEST_RECORD_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/segment.h"
#include "schema/kinds.h"

enum measure_id {
    MEASURE_HEAP,
    MEASURE_LOCK,
    MEASURE_CELL,
    MEASURE_CHANNEL,
    MEASURE_FIBER, /* task sites; the tables fibers, schedulers and task_sites are sums of them */
    MEASURE_CPU,
    MEASURE_LEAK,     /* blocks that nothing reached at the end */
    MEASURE_PEAK,     /* what was live at the peak of live bytes */
    MEASURE_WAIT,     /* what threads wait for that is no lock */
    MEASURE_START,    /* threads, by the stack that started them */
    MEASURE_SPIN,     /* yields, short sleeps and failed tries */
    MEASURE_RECORDER, /* CPU time of the runtime itself */
    MEASURE_IO,       /* calls of input and output */
    MEASURE_LIFETIME, /* histograms of blocks */
    MEASURE_MMAP,     /* mappings of the program itself */
    MEASURE_OFF_CPU,  /* time in which threads did not run: recorded_wall.c */
    MEASURE_WALL,     /* that, and MEASURE_CPU */
    MEASURE_COUNT,
};

enum { MEASURE_WORDS_MAX = 20, MEASURE_FOLDS_MAX = 3 };

/* Chunks of heap counters and of heap details are read as two measures: */
struct heap_sums {
    uint64_t alloc_count, alloc_bytes, free_count, free_bytes;
    uint64_t temporary, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes;
    uint64_t realloc_bytes, resized_count, resized_bytes, step_count, step_bytes;
    uint64_t replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes;
};
/* What the program counts, and what the collector finds about it (wait_delays.h), in ns. */
struct lock_sums {
    struct lock_counters counters;
    uint64_t wait_seen, wait_delay, hold_delay;
};
struct tally_count {
    uint64_t count;
};
struct wall_counters {
    uint64_t samples, wall_ns;
};
struct peak_levels {
    uint64_t peak_count, peak_bytes;
};

struct measure {
    uint32_t chunk,
        feature;       /* enum chunk_kind, CHUNK_NONE where it is read from those of another; and segment_feature */
    bool is_by_stack;  /* its ids are those of stacks; else of objects */
    bool is_by_pair;   /* its ids are those of pairs of a stack and a number (struct counts); is_by_stack too */
    bool is_by_thread; /* the number of such a pair is a thread; else it is the row's `thing` */
    bool is_by_look;   /* the number of such a pair is a struct look (recorded.h) */
    bool is_rare;      /* few programs have any: there is no profile without a row */
    bool is_sampled;   /* sample_n applies to it */
    bool is_snapshot;  /* its words are no sums, but levels at one moment: a process has one profile, not windows */
    size_t words;
    /* Bit i is set where word i is a maximum over all threads and not a sum; where such a maximum is a property of the
     * object, which every window has; where it is a time in ticks; where it counts events. */
    uint32_t maxima, states, ticks, events;
    enum kind_id kind; /* of its profile */
    /* SQL, by its name in schema/. */
    const char *remove; /* of a snapshot: removes one row, where its levels are 0 again */
    const char *sql;    /* makes one row; NULL: the rows are written by other code. Of the heap: of site_details */
    const char *parameters[MEASURE_WORDS_MAX]; /* of that SQL, in the order of the words */
    const char *fold[MEASURE_FOLDS_MAX]; /* adds the rows of profile :from to those of profile :into; one a table */
};

extern const struct measure measures[MEASURE_COUNT];

#endif
