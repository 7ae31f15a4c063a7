/* services.h: the recordings of programs that clear did not start, and what becomes of them: `clear collect`.
 *
 * A recording is a directory that the runtime made below CLEAR_DIR (service_dir.h). It is looked at, and left alone while its program runs.
 * When all of its processes have ended, or a cut is due, it is copied to WAREHOUSE.collect/RUN/next, the copy is stored as a run, and what
 * was stored is removed. A copy of one that goes on stays as WAREHOUSE.collect/RUN/base: the next run has what came after it, so that the
 * sums of all runs are what the program counted. Whoever is killed in between leaves files that say what is to be done next:
 *
 *   next.new     being copied: removed
 *   next         complete: stored, if its run (run.json has the UUID) is not there yet, then what follows that
 *   base         stored
 *   of           a link to CLEAR_DIR: only who collects that removes it
 *
 * A recording that cannot be stored stays, and is tried again later. */
#ifndef CLEAR_INGEST_SERVICES_H
#define CLEAR_INGEST_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct services;

struct services_terms {
    const char *directory, *warehouse; /* CLEAR_DIR; the file, also where the runs go on to a store */
    int64_t every_ns;                  /* programs that run for longer are cut; 0: they are not */
    int64_t memory;                    /* bytes of all recordings, the oldest are limited first; 0: no limit */
    /* Stores the copy as a run, as lost_store does; `earlier` as in struct lost. 0, or -1 where it is to be tried again. */
    int (*store)(void *context, const char *copy, const char *earlier);
    void (*say)(void *context, const char *text); /* of what is left, dropped or paused */
    void *context;
};

/* The terms stay the caller's. 0, or -1 with the error set, as where another collector has the warehouse. services_close it. */
int services_open(struct services **services, const struct services_terms *terms, struct error *err);
void services_close(struct services *services); /* safe on NULL */

/* Looks at all of them once. What has ended is stored if the look before saw that too, or if it `is_last`. */
struct services_seen {
    int64_t running, waiting; /* recordings: that go on; that have ended, and are not stored yet */
    int64_t stored, failed, unknown, others,
        bytes; /* by this look: runs; tries; of another version; of other users; memory in use */
};
int services_look(struct services *services, bool is_last, struct services_seen *seen, struct error *err);

#endif
