/* windows.h: the windows of one kind of one process: the rows of `profiles` that a recording made of it, oldest first. Each holds what
 * happened from its start to its end, and they neither overlap nor change their order, so that two neighbours can be
 * folded into one that says the same about the run as a whole. */
#ifndef CLEAR_INGEST_RECORD_WINDOWS_H
#define CLEAR_INGEST_RECORD_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/record/measure.h"
#include "schema/db.h"

struct window {
    int64_t profile_id, start_ns, end_ns; /* ns since the epoch */
    uint64_t rows;                        /* at most so many */
};

struct windows {
    struct window *items;
    size_t count, capacity;
};

/* What is kept of them. Nothing is lost to a limit: what is beyond it is folded. */
struct window_limits {
    uint64_t most;   /* windows of a kind and process; 0 is no limit */
    int64_t keep_ns; /* all that ended earlier is one window, the oldest; 0 is no limit */
};

void windows_add(struct windows *windows, const struct window *window);
void windows_copy(struct windows *to, const struct windows *from);
void windows_free(struct windows *windows);

/* Folds until the limits hold (without any, forgets all but the last two windows), in the caller's transaction. `now_ns`: the end of the newest flush. A fold moves the rows
 * of the smaller of two windows into the larger one, and a window is as long as a fixed share of its age, so a row is moved a few times in
 * a run, however long that is. */
int windows_fold(struct windows *windows, struct db *db, const struct measure *measure,
                 const struct window_limits *limits, int64_t now_ns, struct error *err);

#endif
