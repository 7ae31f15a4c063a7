/* measure.h: the kinds of counters that a segment holds, one table row each: what their words mean, which profile they
 * make, and in which columns they are stored. The counters of ingest/segment.h are structs of 64-bit words alone, so one
 * piece of code sums and writes all of them. */
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
    MEASURE_COUNT,
};

enum { MEASURE_WORDS_MAX = 10, MEASURE_FOLDS_MAX = 3 };

struct measure {
    uint32_t chunk, feature; /* enum chunk_kind and segment_feature */
    bool is_by_stack;        /* its ids are those of stacks, else of objects */
    bool is_rare;            /* few programs have any, so there is a profile only where there is a row */
    bool is_sampled;         /* sample_n holds for it */
    size_t words;
    /* Bit i: word i is the largest of all threads' (not the sum); of these, is what the thing is and not what happened to
     * it (so every window has it); is a time in ticks; counts events. */
    uint32_t maxima, states, ticks, events;
    enum kind_id kind; /* of its profile */
    /* SQL, by its name in schema/. */
    const char *sql;                           /* makes one row; NULL: written otherwise */
    const char *parameters[MEASURE_WORDS_MAX]; /* of that SQL, in the order of the words */
    const char *fold[MEASURE_FOLDS_MAX]; /* adds the rows of profile :from to those of profile :into; one a table */
};

extern const struct measure measures[MEASURE_COUNT];

#endif
