/* gc.h: keeps a warehouse small: deletes runs that are too old or too many, then what only they used, and gives the space back.
 *
 * Every step is a transaction: a kill leaves a valid file, and the next gc goes on. A batch of runs takes some hundredths of a second, so that
 * recorders and readers hardly wait. */
#ifndef CLEAR_INGEST_UPKEEP_GC_H
#define CLEAR_INGEST_UPKEEP_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/upkeep/delete_runs.h"
#include "schema/db.h"
#include "schema/retention.h"

struct gc_policy {
    const struct retention *rules; /* without has_keep and thin no run is too old */
    const int64_t *bases;
    size_t base_count;   /* runs that stay because others are compared with them */
    int64_t deadline_ns; /* no new step after this moment of CLOCK_MONOTONIC; INT64_MAX: none */
    bool is_trial;       /* nothing is changed; tells what would be */
    bool may_rewrite;    /* a file that cannot give pages back is written anew */
};

struct gc_result {
    struct deleted deleted;
    int64_t *ids; /* the runs that were deleted, the oldest first; free() it */
    size_t id_count;
    int64_t names;                     /* rows of names and stacks that were swept */
    int64_t bytes_before, bytes_after; /* of the file, without pages that hold nothing */
    int64_t free_bytes;                /* pages that hold nothing and are still there */
    int64_t
        room_needed;  /* to write the file anew there was too little room: this much is needed; 0: there was enough */
    bool is_recorded; /* names stay, because a run is being recorded */
    bool is_late;     /* the deadline came first */
};

int gc_run(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err);

#endif
