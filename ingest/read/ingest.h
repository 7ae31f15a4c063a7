/* ingest.h: how foreign artefacts become rows: one run an artefact, one transaction a run.
 *
 * The command calls ingest_open, ingest_path for each artefact, ingest_close. A reader (ingest/read/readers.h) calls
 * ingest_begin_run, then for each profile ingest_begin_profile and the adders; names and stacks go through
 * ingest->store (ingest/store/store.h). Rows of one profile with equal keys are summed (maxima: the greatest) in memory and
 * written at the next ingest_begin_profile or at the end; so memory is bounded by the distinct rows, and a reader needs
 * no table of its own. A sum beyond 64 bits is an error. */
#ifndef CLEAR_INGEST_READ_INGEST_H
#define CLEAR_INGEST_READ_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "ingest/store/store.h"
#include "schema/db.h"

enum { INGEST_TYPES_MAX = 256 }; /* sample types of a profile */

struct ingest_tag {
    const char *key, *value;
};

struct ingest_options {
    const char *label; /* NULL: none */
    const struct ingest_tag *tags;
    size_t tag_count;
    bool has_time; /* --time: overrides what the artefact says */
    int64_t time_ns;
    bool lenient; /* --lenient: skip and count broken rows of text formats */
    bool
        cumulative; /* --cumulative: store what grew since the process's earlier snapshots (see ingest_begin_profile) */
    const struct fetch_options *fetch; /* of URLs (ingest/read/fetch.h); NULL: the defaults */
    void (*progress)(void *context, const char *path, uint64_t done, uint64_t total); /* may be NULL; bytes */
    void *progress_context;
};

/* What the recorder knows of the program whose artefacts are added to its run. */
struct ingest_program {
    const char *path;                     /* of its executable; NULL: its addresses cannot be looked up */
    uint64_t bias;                        /* run-time address minus address in that file */
    const char *build_directory, *source; /* it was built there of that; NULL: it was there before */
};

struct format;
struct ingest_rows; /* rows of the open profile that are not written yet */

struct ingest {
    struct db *db;
    struct store store;
    struct ingest_options options;
    const struct input *input;            /* the artefact being read */
    int64_t run_id, profile_id;           /* 0: none is open */
    const struct ingest_program *program; /* NULL: unknown */
    bool has_run;                         /* run_id is a run that was there before: readers add profiles to it */
    uint64_t rows_added, rows_skipped;    /* of this artefact; skipped: --lenient */
    uint64_t profiles;                    /* of this artefact */
    struct ingest_rows *rows;
};

int ingest_open(struct ingest *ingest, struct db *db, const struct ingest_options *options, struct error *err);
void ingest_close(struct ingest *ingest);

/* What became of an artefact. */
struct ingest_result {
    int64_t run_id;
    bool is_known;      /* the same bytes are in the warehouse already, as run_id: nothing was done */
    const char *format; /* name of its format */
    uint64_t rows_added, rows_skipped, profiles;
};
/* One file, directory artefact (NAME.profile/), "-", or URL that no file is called by. On failure nothing of it stays in the warehouse. */
int ingest_path(struct ingest *ingest, const char *path, struct ingest_result *result, struct error *err);
/* Adds what a file holds to a run that is there, as `clear profile` does with what perf wrote beside it. `format` is known,
 * `program` may be NULL. In a transaction of its own. */
int ingest_into_run(struct db *db, int64_t run_id, const char *path, const struct format *format,
                    const struct ingest_program *program, struct error *err);
/* ingest_path with bytes in memory; `format` NULL finds it. For tests and fuzzing. */
int ingest_input(struct ingest *ingest, const struct input *input, const struct format *format,
                 struct ingest_result *result, struct error *err);

/* ---- for readers ---- */

/* The row in `runs`. Once an artefact, before everything else. NULL texts are empty, 0 is unknown. */
struct ingest_run {
    int64_t started_ns; /* unknown: the time of the file */
    int64_t duration_ns;
    const char *command, *host;
    int64_t sample_n; /* 0 is 1: not sampled */
};
int ingest_begin_run(struct ingest *ingest, const struct ingest_run *run, struct error *err);

/* A row in `processes`, for formats that know them; the id, or -1. */
struct ingest_process {
    int64_t pid, ppid;
    const char *executable, *build_id;
    int64_t started_ns, ended_ns;
};
int64_t ingest_process(struct ingest *ingest, const struct ingest_process *process, struct error *err);

struct ingest_type {
    const char *type, *unit;
};

/* The row in `profiles`; profile_id is set. Kinds: heap (sites), lock (locks), mvcc (cells), channels, cpu, fibers,
 * syscalls, counters; any other name holds `samples`. Texts NULL are empty.
 * time_ns 0 is the run's time; options.time overrides. */
struct ingest_profile {
    const char *kind;
    int64_t process_id; /* 0: none */
    int64_t time_ns, duration_ns;
    int64_t period;
    const char *period_type, *period_unit;
    const struct ingest_type *types; /* in the artefact's order */
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

/* Writes the rows of the open profile, and all names and stacks that wait, and closes it, for readers that ask the database
 * about them; else the next ingest_begin_profile does, or the end. */
int ingest_end_profile(struct ingest *ingest, struct error *err);

/* Adders: one row each of the table of that name, of the open profile. Ids are the store's. */
struct ingest_site {
    int64_t trace_id, label_set_id;
    int64_t alloc_count, alloc_bytes, free_count, free_bytes;
};
int ingest_site(struct ingest *ingest, const struct ingest_site *row, struct error *err);

struct ingest_lock {
    int64_t object_id, address, trace_id;
    const char *kind; /* mutex, rwlock, spin; NULL unknown. Not part of the key */
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

/* As many values as the profile has types. */
int ingest_sample(struct ingest *ingest, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                  struct error *err);

/* Tables that are small (fibers, schedulers, task_sites, syscalls, counters): readers insert into them with db_prepare
 * themselves and call this for each row. */
void ingest_count_row(struct ingest *ingest);

/* A row is broken and `err` says how. 0: --lenient, it is counted and the error is cleared, go on; -1: fail. */
int ingest_broken(struct ingest *ingest, struct error *err);

/* For progress: how many bytes of the input are behind us. Cheap; call it every few thousand records. */
void ingest_progress(struct ingest *ingest, uint64_t done);

#endif
