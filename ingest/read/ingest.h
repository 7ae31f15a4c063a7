/* ingest.h: reads files of foreign formats into the warehouse: one run for each file, one transaction for each run.
 *
 * A caller uses ingest_open, ingest_path for each file, ingest_close. A reader (ingest/read/readers.h) calls
 * ingest_begin_run, then for each profile ingest_begin_profile and the adders. Names and stacks go through
 * ingest->store (ingest/writer/row_writer.h).
 *
 * Rows of one profile with equal keys are summed in memory (of maxima the greatest is kept), and are written at the
 * next ingest_begin_profile or at the end. So memory is bounded by the distinct rows, and a reader needs no table of
 * its own. A sum that exceeds 64 bits is an error. */
#ifndef CLEAR_INGEST_READ_INGEST_H
#define CLEAR_INGEST_READ_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "ingest/writer/row_writer.h"
#include "ingest/writer/run_tags.h"
#include "schema/db.h"

enum { INGEST_TYPES_MAX = 256 }; /* sample types of a profile */

struct ingest_options {
    const char *label;           /* NULL: none */
    const struct run_tags *tags; /* NULL: none */
    bool has_time;               /* --time: time_ns replaces the time in the file */
    int64_t time_ns;
    bool lenient;    /* --lenient: skip and count broken records */
    bool cumulative; /* --cumulative: store the difference to earlier snapshots (ingest/read/cumulative.h) */
    const struct fetch_options *fetch; /* of URLs (ingest/read/fetch.h); NULL: the defaults */
    void (*progress)(void *context, const char *path, uint64_t done, uint64_t total); /* may be NULL; bytes */
    void *progress_context;
};

/* What the recorder knows of the program, when a file is added to its run. */
struct ingest_program {
    const char *path;                     /* of its executable; NULL: its addresses cannot be looked up */
    uint64_t bias;                        /* run-time address minus address in that file */
    const char *build_directory, *source; /* of the build for this run; NULL: it was not built for it */
};

struct format;
struct received;
struct ingest_rows; /* rows of the open profile that are not written yet */

struct ingest {
    struct db *db;
    struct row_writer writer;
    struct ingest_options options;
    const struct input *input;            /* the file that is being read */
    int64_t run_id, profile_id;           /* 0: none is open */
    const struct ingest_program *program; /* NULL: unknown */
    bool has_run;                         /* run_id is an existing run, to which readers add profiles */
    const char *kind; /* of a part: what a profile.proto is stored as, in the table samples; NULL: its types say it */
    bool is_known;    /* the reader has found that the run is in the warehouse already, as run_id; nothing is stored */
    struct received
        *received;  /* of what programs send: which run a profile goes to (received.h); NULL: each file is one */
    bool has_parts; /* the run has begun with the first part of the file: ingest_begin_run does nothing */
    uint64_t rows_added, rows_skipped; /* of this file; skipped by --lenient */
    uint64_t profiles;                 /* of this file */
    struct ingest_rows *rows;
};

int ingest_open(struct ingest *ingest, struct db *db, const struct ingest_options *options, struct error *err);
void ingest_close(struct ingest *ingest);

/* What was read. */
struct ingest_result {
    int64_t run_id;
    bool is_known;      /* the same bytes are in the warehouse already, as run_id; nothing was stored */
    const char *format; /* name of its format */
    uint64_t rows_added, rows_skipped, profiles;
};
/* Reads a file, a directory (NAME.profile/), "-" for standard input, or a URL. On failure nothing of it is in the
 * warehouse. */
int ingest_path(struct ingest *ingest, const char *path, struct ingest_result *result, struct error *err);
/* Adds the profiles of a file to an existing run, in a transaction of its own; for the output of perf beside a
 * recording. `program` may be NULL. */
int ingest_into_run(struct db *db, int64_t run_id, const char *path, const struct format *format,
                    const struct ingest_program *program, struct error *err);
/* The same of a profile that a program that runs gave of itself. */
struct ingest_snapshot {
    const char *kind; /* what it is stored as, in the table samples; NULL: its types say it */
    bool
        is_window; /* one of several, oldest first, that count from the program's start: what the run has of earlier ones is subtracted
                         (ingest/read/cumulative.h) */
};
int ingest_snapshot(struct db *db, int64_t run_id, const char *path, const struct format *format,
                    const struct ingest_snapshot *snapshot, struct error *err);
/* Adds the profiles of an input to the runs that ingest->received finds, in the transaction of the caller, who rolls it back and closes `ingest`
 * where this fails. */
int ingest_received(struct ingest *ingest, const struct input *input, const struct format *format, struct error *err);
/* As ingest_path, from memory; `format` NULL: it is recognised. For tests and fuzzers. */
int ingest_input(struct ingest *ingest, struct input *input, const struct format *format, struct ingest_result *result,
                 struct error *err);

/* ---- for readers ---- */

/* The row in `runs`. Call it once for a file, first. NULL texts are empty, 0 is unknown. */
struct ingest_run {
    int64_t started_ns; /* unknown: the time of the file */
    int64_t duration_ns;
    const char *command, *host;
    int64_t sample_n;            /* 0 is 1: not sampled */
    const char *service;         /* of what is received; NULL: unknown */
    const struct run_tags *tags; /* that the file has; NULL: none */
};
int ingest_begin_run(struct ingest *ingest, const struct ingest_run *run, struct error *err);

/* A row in `processes`, for formats that have them. Returns its id, or -1. */
struct ingest_process {
    int64_t pid, ppid;
    const char *executable, *build_id;
    int64_t started_ns, ended_ns;
};
int64_t ingest_process(struct ingest *ingest, const struct ingest_process *process, struct error *err);

struct ingest_type {
    const char *type, *unit;
};

/* The row in `profiles`; sets profile_id. Kinds: heap (table sites), lock (locks), mvcc (cells), channels, cpu, io, spin
 * (spins), threads (thread_starts), heap-peak (heap_peaks), leak (leaks), mmap (maps), lifetimes (histograms), fibers, syscalls, counters; a profile of any other kind has `samples`. NULL texts are empty. time_ns 0 is the time of the
 * run. */
struct ingest_profile {
    const char *kind;
    int64_t process_id; /* 0: none */
    int64_t time_ns, duration_ns;
    int64_t period;
    const char *period_type, *period_unit;
    const struct ingest_type *types; /* in the order of the file */
    size_t type_count;
    const char *default_type;
    const char *const *comments;
    size_t comment_count;
    const char *drop_frames, *keep_frames, *doc_url;
    const int64_t *mapping_ids; /* main binary first */
    size_t mapping_count;
    int64_t dropped, truncated, sample_n; /* sample_n 0 is 1 */
};
int ingest_begin_profile(struct ingest *ingest, const struct ingest_profile *profile, struct error *err);
/* As in profiles.sample_types; free() it. */
char *ingest_types_json(const struct ingest_type *types, size_t count);

/* Writes and closes the open profile, with all names and stacks that wait. For readers that read them back by SQL; else
 * the next ingest_begin_profile or the end does it. */
int ingest_end_profile(struct ingest *ingest, struct error *err);
/* Gives the open profile up, and all that the writer knows, before a savepoint is rolled back. */
void ingest_give_up_profile(struct ingest *ingest);

/* Adders. Each adds a row to a table of the open profile. Ids are those of the store. */
struct ingest_site {
    int64_t trace_id, label_set_id;
    int64_t alloc_count, alloc_bytes, free_count, free_bytes;
};
int ingest_site(struct ingest *ingest, const struct ingest_site *row, struct error *err);

struct ingest_lock {
    int64_t object_id, address, trace_id;
    const char *kind; /* as in the table locks; NULL unknown. Not part of the key */
    int64_t acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns;
    int64_t read_acquires, read_contended, read_wait_ns, read_max_wait_ns;
};
int ingest_lock(struct ingest *ingest, const struct ingest_lock *row, struct error *err);

struct ingest_cell {
    int64_t object_id, address, trace_id;
    int64_t struct_size; /* the greatest of equal keys */
    int64_t reads, commits, multi_commits, retries, update_failures;
};
int ingest_cell(struct ingest *ingest, const struct ingest_cell *row, struct error *err);

struct ingest_channel {
    int64_t object_id, channel;
    int64_t capacity; /* the greatest, as max_depth */
    int64_t pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, pop_blocked_ns;
};
int ingest_channel(struct ingest *ingest, const struct ingest_channel *row, struct error *err);

int ingest_cpu(struct ingest *ingest, int64_t trace_id, int64_t label_set_id, int64_t samples, int64_t cpu_ns,
               struct error *err);

/* A call of input or output by its name in a column `call`; 0: there is none of that name. */
int64_t ingest_io_call(const char *name);
int ingest_io(struct ingest *ingest, int64_t trace_id, int64_t call, int64_t calls, int64_t bytes, int64_t time_ns,
              struct error *err);

struct ingest_spin {
    int64_t trace_id;
    int64_t yields, short_sleeps, sleep_ns, failed_tries;
};
int ingest_spin(struct ingest *ingest, const struct ingest_spin *row, struct error *err);

/* How many of the threads ended is not said. */
int ingest_thread_start(struct ingest *ingest, int64_t trace_id, int64_t started, int64_t life_ns, struct error *err);

int ingest_heap_peak(struct ingest *ingest, int64_t trace_id, int64_t count, int64_t bytes, struct error *err);

struct ingest_leak {
    int64_t trace_id;
    int64_t lost_count, lost_bytes, indirect_count, indirect_bytes;
};
int ingest_leak(struct ingest *ingest, const struct ingest_leak *row, struct error *err);

/* enum segment_mapping_use as in the column maps.use, and back; 0: there is none of that name. */
const char *ingest_use_name(int64_t use);
int64_t ingest_use(const char *name);
struct ingest_map {
    int64_t trace_id, use;
    int64_t map_count, map_bytes, unmap_count, unmap_bytes;
};
/* Its label set is the use. */
int ingest_map(struct ingest *ingest, const struct ingest_map *row, struct error *err);

/* As enum segment_histogram; its name is that in the column histograms.histogram. */
enum { INGEST_SIZE = 1, INGEST_LIFETIME, INGEST_PASSED, INGEST_HISTOGRAMS };
const char *ingest_histogram_name(int64_t histogram);
struct ingest_bucket {
    int64_t trace_id, histogram, from_value;
    int64_t count;
};
int ingest_bucket(struct ingest *ingest, const struct ingest_bucket *row, struct error *err);

/* As many values as the profile has types. */
int ingest_sample(struct ingest *ingest, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                  struct error *err);

/* For the small tables (fibers, schedulers, task_sites, syscalls, counters), into which readers insert by themselves:
 * call it for each row. */
void ingest_count_row(struct ingest *ingest);

/* A record is broken, and `err` says how. 0 with --lenient: it is counted, the error is cleared, and reading goes on.
 * Else -1. */
int ingest_broken(struct ingest *ingest, struct error *err);

/* Reports progress: `done` bytes of the input are read. Cheap; call it every few thousand records. */
void ingest_progress(struct ingest *ingest, uint64_t done);

#endif
