/* profile_options.h: reads the command line of `clear profile`. */
#ifndef CLEAR_CLI_PROFILE_OPTIONS_H
#define CLEAR_CLI_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/option.h"
#include "ingest/record/collector.h"
#include "ingest/writer/run_uuid.h"

struct profile_request {
    const char *database, *output; /* output: NULL for NAME.profile */
    int64_t interval_ns;           /* 0: by the age of the run */
    int64_t ids_max;               /* becomes the recorder's; -1: by the memory of the machine */
    bool no_git;                   /* --no-git: the run is not tagged with the commit of the work tree */
    bool no_files;                 /* --no-files: the directory `output` is not written */
    char uuid[RUN_UUID_SIZE];      /* what run.uuid points at, if --uuid was given */
    bool quiet, has_windows;       /* has_windows: --windows was given */
    bool waits, detaches;          /* --wait, --detach */
    bool has_no_budget;            /* --budget=off */
    bool is_service;               /* clear env */
    bool is_switched;              /* --start was given: SIGUSR2 switches recording off and on */
    const char *http;              /* the address to serve the run at; NULL: none */
    bool http_anywhere;
    const char *tls_cert, *tls_key;     /* files of --tls-cert and --tls-key, or NULL */
    const char *http_token;             /* the file with the token; NULL: the environment's or a new one */
    bool uses_perf, counters, syscalls; /* --cpu=perf, --counters, --syscalls */
    char *pprof;                        /* --pprof: the address of the program's own profiles; NULL: none */
    uint32_t cpu_hz;                    /* also of perf; 0: off */
    bool asks_cpu;                      /* --cpu was given, and not off */
    struct collector_options recorder;
    struct run_description run;
    struct run_tags tags;
    char **arguments; /* the target's, the target itself first; NULL-terminated */
    pid_t *pids;      /* --pid and --name: processes that run already, in place of a target */
    size_t pid_count;
    char **names; /* of --name */
    size_t name_count;
    int64_t duration_ns; /* --duration; 0: until somebody ends it */
};

/* 0, or -1 with the error set. Free the request in both cases. */
int profile_request_read(struct profile_request *request, int argc, char **argv, struct error *err);
void profile_request_free(struct profile_request *request);

/* For `clear env`, which has these of the options: what the runtime does alone, without a recorder beside the program. Their offsets count
 * from a struct profile_request. Between profile_request_init and profile_request_settle the options are read. */
extern const struct option_row profile_recorded_rows[], profile_cost_rows[];
void profile_request_init(struct profile_request *request);
int profile_request_settle(struct profile_request *request, struct error *err); /* 0, or -1 with the error set */

#endif
