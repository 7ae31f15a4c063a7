/* profiling.h: one recording of `clear profile`, from its options to its end, and the steps of it. */
#ifndef CLEAR_CLI_RECORD_PROFILING_H
#define CLEAR_CLI_RECORD_PROFILING_H

#include <pthread.h>
#include <sys/types.h>

#include "cli/record/live_server.h"
#include "cli/record/profile_options.h"
#include "cli/record/profile_program.h"
#include "ingest/record/collector.h"
#include "ingest/record/kernel/control_group.h"
#include "ingest/record/launch.h"
#include "ingest/record/pprof_watch.h"
#include "ingest/record/private_dir.h"
#include "ingest/record/self_dumps.h"
#include "ingest/record/tools.h"
#include "schema/schema.h"

enum {
    LOCKED_PATIENCE_MS = 500,  /* of one attempt to begin a run or to store its end */
    MOMENT_PATIENCE_MS = 50,   /* of one to begin it while the program runs already */
    FLUSH_PATIENCE_MS = 10000, /* of a flush meanwhile: if it fails, the next one makes up for it */
};

/* The directory of the run, by a thread of its own while the facts of the run are made: of 130,000 stacks that takes 1.1 s and these 0.9 s. */
struct files_beside {
    pthread_t thread;
    bool is_there, is_written;
    bool is_unsealed; /* the run has ended, and its facts were not made with that */
};

struct profiling {
    struct profile_request *request;
    struct db db;    /* while `is_waiting`, a private one that has the run's row and nothing else */
    bool is_waiting; /* for the warehouse, which another process has locked since before the program started */
    struct private_dir directory;
    struct collector *collector;
    struct launch launch;
    struct watcher sampler, counter; /* perf record, perf stat */
    struct pprof_watch pprof;        /* of --pprof */
    off_t input_start;               /* of standard input, -1 where it cannot be rewound */
    struct profile_target target;
    struct self_dumps dumps;
    char *runtime, *output;
    char *source; /* the text of the program that was built; NULL: none */
    int64_t run_id, duration_ns;
    struct files_beside files; /* `output` while the run is sealed */
    int64_t last_flush_ns;     /* what the last flush took, as writing_ns */
    struct live_server live;   /* of --http */
    struct live_server_terms live_terms;
    char *token; /* that a client needs to switch recording */
    bool is_token_new;
    int wait_status;
    struct control_group group;        /* of the program */
    sigset_t mask;                     /* signals that the program starts with blocked */
    int link;                          /* to the supervisor; -1: none, as after --detach */
    bool is_over;                      /* the target has ended, and what it started is waited for */
    struct running_processes *running; /* that were not started by us (running_processes.h); NULL: none */
    int64_t until_ns;                  /* of those: the recording ends, by CLOCK_MONOTONIC; 0: it does not */
    bool has_outside;                  /* some of them are recorded from outside, by `sampler` */
    bool warned, is_paused;
    bool is_begun; /* it has run for a moment, and its first facts were made */
};

/* Finds or builds the program, opens the warehouse, and begins the run; while the file is locked, in a private one. Nothing runs yet. 0,
 * or -1 with the error set, and then the file has no run of it. */
int profiling_prepare(struct profiling *recording, struct error *err);
/* The same for processes that run already, of which recording->target says the name and the command. */
int profiling_prepare_running(struct profiling *recording, struct error *err);
/* Removes the run of a program that was not started. */
void profiling_cancel(struct profiling *recording);
/* For launch_start: the target's process exists but waits. Starts what must see its first instruction. */
int profiling_before_exec(void *recording, pid_t pid, struct error *err);
/* Another process has the file locked: says so, once and then every 10 s. *said_ns is 0 at first. */
void profiling_say_locked(const struct profiling *recording, int64_t *said_ns, const char *meanwhile);

/* collector_flush, and before it the move from the private warehouse as soon as the other one can be had: it is waited for so long. */
int profiling_flush(struct profiling *recording, bool final, int patience_ms, struct error *err);

/* Switches recording on or off, then flushes, so that a window ends when recording did. */
int profiling_set(struct profiling *recording, bool is_on, struct error *err);
/* What was recorded up to now; of perf, what it stored. */
struct collector_totals profiling_totals(struct profiling *recording);
/* Flushes, switches and serves until the program has ended; with --wait, until what it started has ended. */
void profiling_follow(struct profiling *recording);
/* The same for processes that run already, until they have ended, somebody asks for the end, or the time is over. */
void profiling_follow_running(struct profiling *recording);

/* The server of --http: makes it before the program runs; tells where it is once the run is there. */
int profiling_server_start(struct profiling *recording, struct error *err);
int profiling_server_open(struct profiling *recording, struct error *err);

/* Whether the program's CPU time is sampled from outside, by perf or, of a static Go program, by clear itself. */
bool profiling_samples_outside(const struct profiling *recording);

/* perf and strace. What is stored of them becomes part of the run. */
int profiling_check_tools(const struct profile_request *request, const char *directory, struct error *err);
int profiling_watch(struct profiling *recording, struct watcher *watcher, enum tool tool, pid_t pid, struct error *err);
/* The same by clear itself, of processes that run already. */
int profiling_watch_outside(struct profiling *recording, const struct outside_request *request, struct error *err);
/* The same of a program of ours that waits: its CPU time, and the times that it does not run where that is permitted. */
int profiling_watch_target(struct profiling *recording, pid_t pid, struct error *err);
/* Stores what the program said of itself (--pprof), and warns where it said nothing, or an answer could not be stored. */
void profiling_store_pprof(struct profiling *recording);
int profiling_store_watched(struct profiling *recording, struct watcher *watcher, struct error *err);
int profiling_add_perf_totals(struct profiling *recording, struct collector_totals *totals, struct error *err);
/* Runs the program a second time under strace, which would distort all other figures. */
int profiling_count_syscalls(struct profiling *recording, struct error *err);

/* Stores what must not be lost. While the file is locked it is tried again and again. */
int profiling_store_end(struct profiling *recording, struct error *err);
/* What is to be said behind a failure where a write met the limit of files: it raised a signal, which is blocked. Else empty. */
const char *profiling_met_limit(void);
/* The run could not be stored: its segments are kept for clear recover. */
void profiling_keep(struct profiling *recording, const struct error *why);
/* What perf and strace saw, the facts that profiling_store_end left, and the run's files. */
int profiling_finish(struct profiling *recording, struct error *err);

#endif
