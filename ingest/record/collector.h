/* collector.h: from the segments that a recorded program writes (ingest/segment.h) to rows of the warehouse.
 *
 * A run has one row from before its start (run_begin), marked 'unfinished' until run_end. Each flush is one transaction
 * that writes what changed since the last one: a row per process, and of each kind and process in which something moved a window, that is
 * a profile with the rows of what moved. So whatever dies, the file is valid and holds all up to the last flush. A flush
 * that fails is rolled back, and the window of the next one covers its time too: nothing is lost or counted twice. */
#ifndef CLEAR_INGEST_RECORD_COLLECTOR_H
#define CLEAR_INGEST_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ingest/read/ingest.h"
#include "ingest/record/windows.h"
#include "ingest/segment.h"
#include "schema/db.h"

/* ---- the run's own row ---- */

struct run_tag {
    const char *key, *value;
};
struct run_description {
    char *const *command; /* as given, NULL-terminated; stored quoted as for a shell */
    const char *label;    /* NULL for none */
    const struct run_tag *tags;
    size_t tag_count;
    uint32_t sample_n;     /* 0 or 1: every event; else every Nth one, counted N times */
    uint64_t sample_bytes; /* 0, or mean bytes between sampled allocations */
};
/* The id of a new run, or -1. */
int64_t run_begin(struct db *db, const struct run_description *description, struct error *err);
/* How it ended: `wait_status` as from waitpid(2). */
int run_end(struct db *db, int64_t run_id, int wait_status, struct error *err);
/* For a run that never started: as if run_begin had not been. */
int run_cancel(struct db *db, int64_t run_id, struct error *err);

/* ---- what it recorded ---- */

struct collector;

/* As in struct control. */
struct collector_options {
    uint32_t features;     /* enum segment_feature; FEATURE_TSC is decided here */
    uint32_t depth;        /* 1 .. SEGMENT_DEPTH_MAX */
    uint64_t ids_max;      /* 0: no cap */
    uint32_t sample_n;     /* 0 or 1: every event */
    uint64_t sample_bytes; /* mean bytes between sampled allocations, 0: off. Not together with sample_n */
    uint32_t cpu_hz;       /* of FEATURE_CPU */
    bool is_paused;        /* nothing is recorded until collector_pause says otherwise */
    struct window_limits windows;
};

/* Totals as of the last flush, for the closing words and for tests. */
struct collector_totals {
    uint64_t processes, running;       /* recorded ones; of these, those that still ran at the last flush */
    uint64_t alloc_count, alloc_bytes; /* of all processes */
    uint64_t free_count, free_bytes;
    uint64_t sites;              /* distinct stacks that allocated */
    uint64_t acquires, locks;    /* lock operations, shared ones too; distinct locks */
    uint64_t contended, wait_ns; /* of the lock operations: those that waited, and how long in all */
    uint64_t cells, cell_events, channels, channel_events; /* distinct ones, and what was done with them */
    uint64_t cpu_samples, cpu_ns, fibers;
    uint64_t dropped, truncated;
    uint64_t cpu_dropped; /* of the dropped ones: CPU samples, which fell into the recorder's own slow half */
    uint64_t corrupt;     /* segments with something broken in them */
    uint64_t unrecorded;  /* processes that could not make a segment */
    uint64_t segment_bytes, events, flushes, flush_ns;
    uint64_t paused_ns; /* for how long recording was off */
};

/* Writes `control` into the directory and starts the clocks: before the program starts. `directory` is an open
 * descriptor of the private directory, which stays the caller's. */
int collector_open(struct collector **collector, struct db *db, int64_t run_id, int directory,
                   const struct collector_options *options, struct error *err);
/* The program was built for this recording: its transpiled files are looked for, and kept with the run. */
void collector_built(struct collector *collector, const struct ingest_program *program);
/* Where the executable of that process was loaded: run-time address minus address in the file. False where it was not recorded.
 * started_ns: of the row in `processes`. */
bool collector_bias(const struct collector *collector, int64_t pid, int64_t started_ns, uint64_t *bias);
/* The target's process, before it execs: FEATURE_NO_CHILDREN goes by it. */
int collector_set_first(struct collector *collector, pid_t pid, struct error *err);
/* Stops or resumes recording in all processes at once. While it is off a hook costs the program about a nanosecond. What was recorded is
 * followed to its end: frees of known blocks count, so that what is in use stays true of what was recorded. */
int collector_pause(struct collector *collector, bool is_paused, struct error *err);
/* `final`: the recorder's own cost is written too. */
int collector_flush(struct collector *collector, bool final, struct error *err);
/* How many processes that recorded something still run. Looks at the directory, not at the last flush. */
size_t collector_running(struct collector *collector);
void collector_totals(const struct collector *collector, struct collector_totals *totals);
void collector_close(struct collector *collector); /* safe on NULL */

#endif
