/* self_dumps.h: takes the dumps that a program writes about itself into its run.
 *
 * CLEAR's runtime, in a program that was built for profiling, writes text dumps when it ends. Environment variables
 * name the files:
 *   CLEAR_ALLOC_PROFILE  CLEAR_LOCK_PROFILE  CLEAR_MVCC_PROFILE  CLEAR_CHANNEL_PROFILE  CLEAR_FIBER_PROFILE
 * It also obeys CLEAR_PROFILE_SAMPLE=N and CLEAR_PROFILE_SYNC_CALLSTACKS=1.
 *
 * A recording sets the variables of the kinds that it records to files in its private directory, over values of the
 * user. The runtime gives each process names of its own (SEGMENT_NO_DUMP_ID in ingest/segment.h), so the dumps of all
 * processes are kept. At the end a dump becomes the profile of its process and kind, and replaces the one that the
 * hooks recorded. If a dump is broken it is not stored, and the profile of the hooks stays. Two cases share one name,
 * and the last to end wins: processes without the runtime (static ones), and a forked process that called no hook
 * before it dumped, with its parent. */
#ifndef CLEAR_INGEST_RECORD_SELF_DUMPS_H
#define CLEAR_INGEST_RECORD_SELF_DUMPS_H

#include <stdbool.h>

#include "ingest/record/collector.h"

enum { SELF_DUMPS = 5, SELF_VARIABLES = SELF_DUMPS + 2 };

struct self_dump_loss {
    int kind;
    struct error error;
};

struct self_dumps {
    const char *directory;                /* of the recording; not owned */
    bool has_children;                    /* forked processes belong to the run */
    char *variables[SELF_VARIABLES + 1];  /* for struct launch */
    const char *replaced[SELF_DUMPS + 1]; /* variables that the user had set; ends with NULL */
    bool is_taken[SELF_DUMPS];
    struct self_dump_loss *losses; /* each dump that was not stored */
    size_t loss_count;
};

/* `directory` must live as long as *dumps. */
void self_dumps_open(struct self_dumps *dumps, const char *directory, const struct collector_options *options);
void self_dumps_close(struct self_dumps *dumps); /* safe on a zeroed one */

/* Stores the dumps of the recording in the run, after the last flush. A dump that cannot be read is not a failure of
 * the call; it is in dumps->losses. `target` is the program that was started. */
int self_dumps_take(struct self_dumps *dumps, struct db *db, int64_t run_id, const struct collector *collector,
                    const struct ingest_program *target, struct error *err);
/* The name of the file of a dump ("alloc.txt"), and of its variable. */
const char *self_dumps_file(int kind);
const char *self_dumps_variable(int kind);

/* Replaces the figures of the hooks by those of the dumps, for kinds that have dumps. */
int self_dumps_totals(const struct self_dumps *dumps, struct db *db, int64_t run_id, struct collector_totals *totals,
                      struct error *err);

#endif
