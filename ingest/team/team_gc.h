/* team_gc.h: deletes old runs of a store: whole months, whose partitions are dropped; then names that no run uses. */
#ifndef CLEAR_INGEST_TEAM_TEAM_GC_H
#define CLEAR_INGEST_TEAM_TEAM_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct team_gc {
    struct team_gc_month {
        char text[16]; /* 2026-11 */
        int64_t runs;  /* that are deleted */
        int64_t kept;  /* that stay: with a label or a pin, or the newest of a command */
        int64_t
            bytes; /* of its partitions, with their indexes. They are dropped, and the bytes given back, if no run stays */
    } * months;
    size_t month_count;
    int64_t names[8]; /* rows that no run uses, by enum source_name */
    int64_t runs, name_count, dropped_bytes;
};

/* Deletes the runs of months that ended before `oldest_ns` (INT64_MIN: none), in one transaction: meanwhile pushes wait. `is_trial`: changes
 * nothing, and tells what would go. team_gc_free it, whatever it returns. */
int team_gc(struct team_gc *gc, const char *uri, int64_t oldest_ns, bool is_trial, struct error *err);
void team_gc_free(struct team_gc *gc);

#endif
