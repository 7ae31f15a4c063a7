/* event_regions.h: how long the regions of each name take, and how much of the longest one its thread was off the CPU: the rows of
 * region_facts. */
#ifndef CLEAR_SCHEMA_EVENT_REGIONS_H
#define CLEAR_SCHEMA_EVENT_REGIONS_H

#include "schema/event_log.h"

struct regions {        /* zeroed at the start */
    struct map numbers; /* object -> number of the name */
    struct region_sum {
        int64_t object_id, count, time_ns, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
        int64_t rank;                             /* while they are gone through from the shortest on */
        struct event longest;                     /* of several the one with the greatest id */
        int64_t process_id, off_ns, off_trace_id; /* of the longest */
    } * regions;
    struct event_point *times; /* of every region its time and the number of its name */
    size_t time_count;
};

/* Adds those of a process. */
void regions_add(struct regions *regions, const struct event_log *log, int64_t process_id);
/* When all processes were added. */
int regions_put(struct regions *regions, struct db *db, int64_t run_id, struct error *err);
void regions_free(struct regions *regions);

#endif
