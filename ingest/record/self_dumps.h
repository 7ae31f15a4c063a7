/* self_dumps.h: what a program writes about itself. CLEAR's runtime, in a program built for profiling, writes text dumps when it
 * ends, to the files that the environment names:
 *   CLEAR_ALLOC_PROFILE  CLEAR_LOCK_PROFILE  CLEAR_MVCC_PROFILE  CLEAR_CHANNEL_PROFILE  CLEAR_FIBER_PROFILE
 * and obeys CLEAR_PROFILE_SAMPLE=N and CLEAR_PROFILE_SYNC_CALLSTACKS=1.
 *
 * A recording sets the variables of the kinds that it records, to files in its private directory, over what the user may have
 * set. The runtime makes the names each process's own (SEGMENT_NO_DUMP_ID in ingest/segment.h), so that of a tree of processes every one
 * that dumps is kept. What is there at the end becomes that process's profile of that kind, in the place of what the hooks
 * recorded of it. A dump that is broken is not stored, and the hooks' profile stays. Processes without the runtime (static
 * programs) share one name: the last one to end has written it; so does a process that was forked and never came to a hook of
 * ours before it dumped, with its parent. */
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
    const char *directory;                /* the recording's */
    bool has_children;                    /* processes that are forked belong to the run */
    char *variables[SELF_VARIABLES + 1];  /* for struct launch */
    const char *replaced[SELF_DUMPS + 1]; /* of these, those that the user had set; ends with NULL */
    bool is_taken[SELF_DUMPS];
    struct self_dump_loss *losses; /* each dump that was not stored */
    size_t loss_count;
};

/* `directory` must live as long. */
void self_dumps_open(struct self_dumps *dumps, const char *directory, const struct collector_options *options);
void self_dumps_close(struct self_dumps *dumps); /* safe on a zeroed one */

/* Takes the dumps that are there into the run, after the last flush. A dump that cannot be read is no failure of the
 * call: see dumps->losses. `target` is the program that was started. */
int self_dumps_take(struct self_dumps *dumps, struct db *db, int64_t run_id, const struct collector *collector,
                    const struct ingest_program *target, struct error *err);
/* The name of the file of a kind, and of the variable. */
const char *self_dumps_file(int kind);
const char *self_dumps_variable(int kind);

/* Puts the figures of what was taken in the place of the hooks'. */
int self_dumps_totals(const struct self_dumps *dumps, struct db *db, int64_t run_id, struct collector_totals *totals,
                      struct error *err);

#endif
