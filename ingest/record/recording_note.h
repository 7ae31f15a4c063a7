/* recording_note.h: what a later process must know of a recording to store it: the files `note` and `run.json` beside
 * its segments. `note` has the clocks and is written at each flush; `run.json` has the run and is written once. */
#ifndef CLEAR_INGEST_RECORD_RECORDING_NOTE_H
#define CLEAR_INGEST_RECORD_RECORDING_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/record/kernel/control_group.h"

#define RECORDING_RUN_FILE "run.json"

/* Of a copy of a recording that goes on (ingest/services/services.h): an empty file that says so, and one beside each segment whose process
 * ran. `flush_ns` is the moment of the copy. */
#define RECORDING_CUT_FILE    "cut"
#define RECORDING_RUNS_SUFFIX ".runs"

/* Moments by CLOCK_MONOTONIC, in ns, and by the time stamp counter, in ticks. */
struct recording_note {
    uint32_t magic, size;
    char boot_id[40];                              /* of the kernel whose clocks they are; NUL-terminated */
    uint32_t uses_tsc;                             /* as the segments do */
    int32_t first_pid;                             /* of the program; 0: unknown */
    uint64_t start_ns, start_ticks;                /* of the recording */
    int64_t start_realtime_ns;                     /* the same moment, since the epoch */
    uint64_t flush_ns, flush_ticks;                /* of the latest flush, stored or not */
    uint64_t program_started_ns, program_ended_ns; /* 0: not known */
    uint64_t program_waits;                        /* as collector_set_usage */
    uint64_t paused_ns;                            /* in all */
    int32_t wait_status;                           /* of the program, as from waitpid(2), where has_status is set */
    uint32_t has_status;
    struct control_group_use group; /* as collector_set_group; a note of an earlier version ends before it */
};

/* Sets what does not change: magic, size, boot_id. */
void recording_note_init(struct recording_note *note);
/* True if this is the kernel that ran then, whose clocks still go on. */
bool recording_note_is_of_now(const struct recording_note *note);
/* The file, made or opened, or -1. Close it. */
int recording_note_open(int directory);
/* Failures are ignored: the recording itself does not need the note. */
void recording_note_write(const struct recording_note *note, int file);
/* The moments of one that is read are so small that sums of them fit: start_realtime_ns is at most INT64_MAX / 2, others / 8. */
int recording_note_read(struct recording_note *note, int directory, struct error *err);

#endif
