/* timespan.h: a stretch of a recorded run's time, as whole windows. What happened in it is the sum of the windows that end in it; what was in
 * use at its end is the sum of all windows up to that, for a state is no difference. A window that only begins in it is
 * left out, so the edges of a span snap to ends of windows. */
#ifndef CLEAR_QUERY_RUNS_TIMESPAN_H
#define CLEAR_QUERY_RUNS_TIMESPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "schema/db.h"

/* Windows with from_ns < profiles.time_ns <= to_ns, ns since the epoch. */
struct timespan {
    int64_t from_ns, to_ns;
};
extern const struct timespan timespan_all;

/* What a person asks for: nothing (zeroed) for the whole run, a stretch, or one window. */
struct timespan_edge {
    const char *text; /* as given; NULL: open */
    bool is_moment;   /* "2026-11-21T12:00:00Z", and not a time since the start of the run: */
    int64_t offset_ns;
};
struct timespan_request {
    struct timespan_edge from, to;
    int64_t window; /* as in the view windows: from 1; -1 is the last one, -2 the one before; 0: none */
};

bool timespan_is_wanted(const struct timespan_request *request);
/* In a run, where windows are numbered by kind. A window or a time that the run does not have is a usage error. */
int timespan_find(struct db *db, int64_t run_id, const char *kind, const struct timespan_request *request,
                  struct timespan *span, struct error *err);
/* Adds in words which windows the span takes: "windows 3 to 7 of 12, 10.000 s to 20.012 s of run 4", or that it takes none. */
int timespan_describe(struct db *db, int64_t run_id, const char *kind, const struct timespan *span,
                      struct buffer *words, struct error *err);

/* Binds :from and :to. */
void timespan_bind(sqlite3_stmt *statement, const struct timespan *span);

#endif
