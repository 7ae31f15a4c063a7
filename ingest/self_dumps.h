/* self_dumps.h: what a program writes about itself. CLEAR's runtime, in a program built for profiling, writes text dumps when it
 * ends, to the files that the environment names:
 *   CLEAR_ALLOC_PROFILE  CLEAR_LOCK_PROFILE  CLEAR_MVCC_PROFILE  CLEAR_CHANNEL_PROFILE  CLEAR_FIBER_PROFILE
 * and obeys CLEAR_PROFILE_SAMPLE=N and CLEAR_PROFILE_SYNC_CALLSTACKS=1.
 *
 * A recording sets the variables of the kinds that it records, to files in its private directory, over what the user may have
 * set. What is there at the end becomes the run's profile of that kind, in the place of what the hooks recorded of the same
 * processes: those that run a program which names the variable, or all where none does. All processes inherit the one file,
 * and the last one to end has written it; where several could have, the profile says so. A dump that is broken is not
 * stored, and the hooks' profile stays. */
#ifndef CLEAR_INGEST_SELF_DUMPS_H
#define CLEAR_INGEST_SELF_DUMPS_H

#include <stdbool.h>

#include "ingest/collector.h"

enum { SELF_DUMPS = 5, SELF_VARIABLES = SELF_DUMPS + 2 };

struct self_dumps {
    const char *directory;                /* the recording's */
    char *variables[SELF_VARIABLES + 1];  /* for struct launch */
    const char *replaced[SELF_DUMPS + 1]; /* of these, those that the user had set; ends with NULL */
    bool is_taken[SELF_DUMPS];
    struct error errors[SELF_DUMPS]; /* of each dump that was not stored */
};

/* `directory` must live as long. */
void self_dumps_open(struct self_dumps *dumps, const char *directory, const struct collector_options *options);
void self_dumps_close(struct self_dumps *dumps); /* safe on a zeroed one */

/* Takes the dumps that are there into the run, after the last flush. A dump that cannot be read is no failure of the
 * call: see dumps->errors. `target` is the program that was started. */
int self_dumps_take(struct self_dumps *dumps, struct db *db, int64_t run_id, const struct collector *collector,
                    const struct ingest_program *target, struct error *err);
/* The name of the file of a kind, and of the variable. */
const char *self_dumps_file(int kind);
const char *self_dumps_variable(int kind);

/* Puts the figures of what was taken in the place of the hooks'. */
int self_dumps_totals(const struct self_dumps *dumps, struct db *db, int64_t run_id, struct collector_totals *totals,
                      struct error *err);

#endif
