/* windows.h: the windows of one kind of one process: its rows of `profiles` in a recording, oldest first.
 *
 * A window holds what happened between its start and its end. Windows do not overlap, so two neighbours can be folded
 * into one that holds the sum of both. */
#ifndef CLEAR_INGEST_RECORD_WINDOWS_H
#define CLEAR_INGEST_RECORD_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/record/measure.h"
#include "schema/db.h"

struct window {
    int64_t profile_id, start_ns, end_ns; /* ns since the epoch */
    uint64_t rows;                        /* an upper bound of its rows */
};

struct windows {
    struct window *items;
    size_t count, capacity;
};

/* How many windows are kept. Beyond a limit they are folded; nothing is lost but when it happened. */
struct window_limits {
    uint64_t most;   /* windows of a kind and process; 0 is no limit */
    int64_t keep_ns; /* windows older than this are folded into one; 0 is no limit */
};

void windows_add(struct windows *windows, const struct window *window);
void windows_copy(struct windows *to, const struct windows *from);
void windows_free(struct windows *windows);

/* Folds until the limits hold, in the caller's transaction. (Without limits it only drops all but the last two windows
 * from the list.) `now_ns` is the time of the newest flush. A fold moves the rows of the smaller window into the larger
 * one. The length of a window is a fixed share of its age, so a row is moved a few times in a run of any length. */
int windows_fold(struct windows *windows, struct db *db, const struct measure *measure,
                 const struct window_limits *limits, int64_t now_ns, struct error *err);

#endif
