/* collector.h: writes what a recorded program stored in its segments (ingest/segment.h) to rows of the warehouse.
 *
 * The room ingest/record runs a program under the runtime and records it. It promises:
 *   - Whatever dies (the program, the recorder, the machine), the file is valid and holds everything up to the last
 *     flush.
 *   - Nothing is lost or counted twice. A flush that fails is rolled back, and the next one covers its time too.
 *   - A program that cannot be recorded is refused before it runs, with the reason.
 *
 * A run has its row from before its start (run_begin); it is marked 'unfinished' until run_end. Each flush is one
 * transaction. It writes a row for each process, and a window for each kind and process in which something changed: a
 * profile with the rows that changed. */
#ifndef CLEAR_INGEST_RECORD_COLLECTOR_H
#define CLEAR_INGEST_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ingest/read/ingest.h"
#include "ingest/record/kernel/control_group.h"
#include "ingest/record/windows.h"
#include "ingest/segment.h"
#include "ingest/writer/run_tags.h"
#include "schema/db.h"

/* ---- the run's own row ---- */

struct run_description {
    char *const *command;        /* as given, NULL-terminated; stored quoted as for a shell */
    const char *label;           /* NULL for none */
    const char *uuid;            /* NULL: a random one */
    const struct run_tags *tags; /* NULL: none */
    uint32_t sample_n;           /* 0 or 1: every event; else every Nth one, counted N times */
    uint64_t sample_bytes;       /* 0, or mean bytes between sampled allocations */
};
/* The id of a new run, or -1. Its facts come with the first flush, or with collector_seal. */
int64_t run_begin(struct db *db, const struct run_description *description, struct error *err);
/* The run has ended. */
struct run_ending {
    int wait_status;                 /* as from waitpid(2) */
    uint64_t symbolize_ns, write_ns; /* what the recorder spent; as in the table `runs` */
};
int run_end(struct db *db, int64_t run_id, const struct run_ending *ending, struct error *err);
/* The same in two transactions: all that was recorded, and then the facts of it, which whoever opens the file makes if the second does not come. */
int run_end_unsealed(struct db *db, int64_t run_id, const struct run_ending *ending, struct error *err);
int run_seal_ended(struct db *db, int64_t run_id, struct error *err);
/* The program was not started: removes the run. */
int run_cancel(struct db *db, int64_t run_id, struct error *err);

/* ---- recording ---- */

struct collector;

/* As in struct control. */
struct collector_options {
    uint32_t features;       /* enum segment_feature; FEATURE_TSC is decided here */
    uint32_t depth;          /* 1 .. SEGMENT_DEPTH_MAX */
    uint64_t ids_max;        /* 0: no limit */
    uint32_t sample_n;       /* 0 or 1: every event */
    uint64_t sample_bytes;   /* mean bytes between sampled allocations, 0: off. Not together with sample_n */
    uint32_t cpu_hz;         /* of FEATURE_CPU */
    uint32_t wall_hz;        /* of FEATURE_WALL: looks at each thread a second */
    uint64_t trace_max;      /* of FEATURE_TRACE: bytes of the rings of a process */
    uint32_t trace_kinds;    /* the same: enum segment_trace_kind */
    uint64_t trace_limit_ns; /* the same: shorter sleeps, system calls and holds are no events */
    struct trace_when trace_when[TRACE_WHEN_MAX]; /* the same */
    uint32_t trace_when_count;
    bool
        stores_when_asked; /* the same: store events only when an event, the program or collector_store_events asks for it */
    bool streams_events;   /* the same: store events at each flush */
    int64_t trace_last_ns; /* the same: store events of the last so many ns; 0: all that there are */
    uint64_t trace_alloc;  /* the same: smaller blocks are no events */
    bool is_paused;        /* start paused; see collector_pause */
    double
        budget; /* what recording may add to the CPU time of the program, as a share of that; 0: no budget. Not together with sampling */
    struct window_limits windows;
};

/* Totals as of the last flush, for the summary and for tests. */
struct collector_totals {
    uint64_t processes, running;       /* that were recorded; of these, that were running at the last flush */
    uint64_t alloc_count, alloc_bytes; /* of all processes */
    uint64_t free_count, free_bytes;
    uint64_t peak_bytes;                 /* most live bytes of one process */
    uint64_t sites;                      /* distinct stacks that allocated */
    uint64_t acquires, locks;            /* lock operations, shared ones too; distinct locks */
    uint64_t contended, wait_ns;         /* waits for locks, also those that ended without the lock; how long in all */
    uint64_t other_waits, other_wait_ns; /* for condition variables, semaphores, barriers, threads and futexes */
    uint64_t cells, cell_events, channels, channel_events; /* distinct ones, and their events */
    uint64_t cpu_samples, cpu_ns, fibers;
    /* As in struct segment. */
    uint64_t cpu_squares, alloc_variance, free_variance, alloc_byte_variance, free_byte_variance;
    uint64_t heap_seen;       /* of a budget: allocations, also those that were not recorded; the next two also */
    uint64_t coarsest_bytes;  /* the largest mean of the sampling; 0: none was sampled */
    uint32_t coarsest_lock_n; /* the same of acquisitions of locks, by number */
    int64_t locks_passed;   /* acquisitions that were passed over, and so many `acquires` has too many of those that */
    int64_t locks_excess;   /* stand for others */
    double hold_variance;   /* of the time of all holds, ns^2 */
    double budget_cost;     /* a share, estimated */
    uint64_t unseen_cpu_ns; /* of cpu_ns, what no recorder saw: see collector.c */
    uint64_t io_calls, io_bytes; /* of input and output; bytes that they moved */
    uint64_t maps, mapped_bytes; /* mappings that the program made itself; what is mapped */
    uint64_t recorder_samples,
        recorder_cpu_ns; /* CPU time that the runtime took inside the program; not in the two above */
    uint64_t dropped, truncated;
    uint64_t cpu_dropped;             /* of `dropped`: CPU samples, mostly of the recorder's own slow paths */
    uint64_t capped;                  /* processes with more stacks than ids_max, of which the further ones were cut */
    uint64_t corrupt;                 /* damaged segments */
    uint64_t unrecorded;              /* processes that could make no segment */
    uint64_t blind_threads, nameless; /* as in struct segment */
    uint64_t unread_python;  /* processes with a Python interpreter whose frames are not known; the next: its version */
    uint32_t python_version; /* major << 8 | minor; 1: older than 3.11 */
    uint64_t segment_bytes, events, flushes, flush_ns;
    uint64_t symbolize_ns; /* of flush_ns: looking for names of addresses */
    uint64_t paused_ns;    /* how long recording was paused */
};

/* Call it before the program starts: writes `control` into the directory and starts the clocks. `directory` is a
 * descriptor of the private directory, which stays the caller's. collector_close frees *collector. */
int collector_open(struct collector **collector, struct db *db, int64_t run_id, int directory,
                   const struct collector_options *options, struct error *err);
/* The same for a recording whose recorder was killed or could not store its end: what stands in the directory is what
 * it left there. Segments are not removed when they are stored. */
int collector_reopen(struct collector **collector, struct db *db, int64_t run_id, int directory, struct error *err);
/* The same recording was stored up to the moment of an earlier copy of it, which is in the directory `earlier`: only what came after that
 * is stored. Call it after collector_reopen, in the transaction of the flush. 0, or -1 with the error set. */
int collector_after(struct collector *collector, int earlier, struct error *err);
/* The program's file, when a link to it with another name was started: it goes by the name of the link. */
void collector_called(struct collector *collector, const char *file, const char *link);
/* What was below the directory `moved` is below `moved_to` now. The texts stay the caller's. */
void collector_moved(struct collector *collector, const char *moved, const char *moved_to);
/* The program was built for this recording: looks for its transpiled files, and keeps them with the run. */
void collector_built(struct collector *collector, const struct ingest_program *program);
/* The load bias of the executable of that process: run-time address minus address in the file. False where it was not
 * recorded. `started_ns` is that of its row in `processes`. */
bool collector_bias(const struct collector *collector, int64_t pid, int64_t started_ns, uint64_t *bias);
/* Sets the target's process, before it execs. FEATURE_NO_CHILDREN needs it. */
int collector_set_first(struct collector *collector, pid_t pid, struct error *err);
/* When the program started, and when it ended (0: it runs), by CLOCK_MONOTONIC. The run's duration is what lies between;
 * without this call it is the time from collector_open to the last flush. */
void collector_set_span(struct collector *collector, uint64_t started_ns, uint64_t ended_ns);
/* How often the program's threads gave the processor away by themselves, and their CPU time, as getrusage(2) counts for it and the
 * children that it waited for. Call it at the end. */
void collector_set_usage(struct collector *collector, uint64_t waits, uint64_t cpu_ns);
/* The program ran for so long before it was attached to, and then had so many bytes allocated: by its allocator's own figures, or all of its own
 * memory. -1: unknown. */
struct collector_before {
    int64_t age_ns, bytes;
    bool is_exact;
};
void collector_set_attached(struct collector *collector, struct collector_before before);
/* How the program ended, as from waitpid(2). Only collector_reopen needs it. */
void collector_set_status(struct collector *collector, int wait_status);
/* What the kernel took from the program: a warning of the run where memory ran out, and counters of throttled threads. Before the last flush. */
void collector_set_group(struct collector *collector, const struct control_group_use *use);
/* Pauses or resumes recording in all processes at once. While it is paused a hook costs about a nanosecond. The end of
 * what was recorded is still recorded (frees of known blocks), so that what is in use stays exact for what was
 * recorded. */
int collector_pause(struct collector *collector, bool is_paused, struct error *err);
/* Begins to read the symbols of the files that the program has met so far, on a thread of its own: the next flush need not. Once. */
void collector_read_ahead(struct collector *collector);
/* Makes the facts of what is stored so far. */
int collector_seal(struct collector *collector, struct error *err);
/* The rows go on as run `run_id` of another warehouse, which is at the same place now (db_move): all is looked up and written anew. */
void collector_move(struct collector *collector, int64_t run_id);
/* In place of a flush that cannot be made: notes when it would have been, for clear recover. */
void collector_pass(struct collector *collector);
/* The next flush stores the events that the rings have then. */
void collector_store_events(struct collector *collector);
/* What the last flush copied of the rings of running processes, and how long that took: what comes after it is not in them. The rows
 * are written from the copy, while the program runs on. */
struct saved_rings {
    uint64_t events, ns;
};
struct saved_rings collector_saved_rings(const struct collector *collector);
/* Looks how long threads had no processor, if a look is due; between flushes. When the next one is, in ns from now. */
int64_t collector_look(struct collector *collector);
/* `final`: writes the recorder's own cost too. */
int collector_flush(struct collector *collector, bool final, struct error *err);
/* Adds a text to the comments of the run's first profile; doctor shows those that begin with "# WARNING:" first. */
int collector_warn(struct collector *collector, const char *text, struct error *err);
/* The same of every kind: it stands in the head of each of their reports. */
int collector_say(struct collector *collector, const char *text, struct error *err);
/* Notes anew since when and for how long was recorded, beside the run's first profile: a tool beside the recording may have made that. */
int collector_store_times(struct collector *collector, struct error *err);
/* The number of recorded processes that run now. It looks at the directory and not at the last flush. */
size_t collector_running(struct collector *collector);
void collector_totals(const struct collector *collector, struct collector_totals *totals);
void collector_close(struct collector *collector); /* safe on NULL */

#endif
