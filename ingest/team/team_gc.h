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
        int64_t bytes; /* of its partitions, with their indexes */
        int64_t
            bytes_after; /* the same afterwards: 0 if no run stays, for then they are dropped. Of a trial: 0, or bytes */
    } * months;
    size_t month_count;
    int64_t names[9]; /* rows that no run uses, by enum source_name */
    int64_t runs, name_count;
    int64_t later_count; /* months that others held, so that the next time gives their space back */
};

struct team_gc_wish {
    int64_t oldest_ns;   /* the runs of months that ended before it are deleted; INT64_MIN: none */
    const char *project; /* NULL: of all projects */
    bool is_trial;       /* change nothing, and tell what would go */
};

/* Runs are deleted in one transaction, then names in another; then months are written again of which a tenth was deleted. Each gives way to who holds the tables for longer than 0.9 s, and is tried for a
 * minute. team_gc_free it, whatever it returns. */
int team_gc(struct team_gc *gc, const char *uri, const struct team_gc_wish *wish, struct error *err);
void team_gc_free(struct team_gc *gc);

#endif
