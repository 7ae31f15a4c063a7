/* service_copy.h: copies a service's recording, so that nobody else changes it while it is read, and so that the next one can tell what came
 * after it. A copy is a recording that ingest/record/lost.h stores: a directory with the segments, `control`, `note` and `run.json`. */
#ifndef CLEAR_INGEST_SERVICE_COPY_H
#define CLEAR_INGEST_SERVICE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/services/service_dir.h"

struct service_moment {
    uint64_t ns, ticks; /* CLOCK_MONOTONIC and the time stamp counter, at once */
};
struct service_moment service_moment_now(void);

struct service_cut {
    const char *warehouse;       /* that it is for */
    const char *earlier;         /* the directory of the copy before, up to which it was stored; NULL: none */
    bool is_final;               /* its processes have ended: all of it */
    struct service_moment until; /* of a cut: now; else when a process of it was seen last, zeros: never */
    int64_t paused_ns;           /* how long recording was paused */
};

/* Makes the directory `to`. 0, or -1 with the error set, and nothing is left. */
int service_copy(const struct service_dir *dir, const struct service_cut *cut, const char *to, struct error *err);

/* Of a copy: whether it is one of service_cut.is_final. */
bool service_copy_is_final(const char *path);
/* Calls `visit` with each segment of a copy whose process had ended. */
void service_copy_each_ended(const char *path, void (*visit)(void *context, const char *name), void *context);

#endif
