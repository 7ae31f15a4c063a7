/* timespan.h: a part of a recorded run's time, in whole windows. It contains the windows that end in it. What happened in it is the
 * sum of these windows; what was in use at its end is the sum of all windows up to its end. Its edges are therefore the ends of
 * windows. Times are nanoseconds. */
#ifndef CLEAR_QUERY_RUNS_TIMESPAN_H
#define CLEAR_QUERY_RUNS_TIMESPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "schema/db.h"

/* The windows with from_ns < profiles.time_ns <= to_ns, both in ns since the epoch. */
struct timespan {
    int64_t from_ns, to_ns;
};
extern const struct timespan timespan_all;

/* What a user asks for: the whole run (zeroed), a part of its time, or one window. */
struct timespan_edge {
    const char *text; /* as given; NULL: open */
    bool is_moment; /* text is a date such as "2026-11-21T12:00:00Z"; else offset_ns counts from the start of the run */
    int64_t offset_ns;
};
struct timespan_request {
    struct timespan_edge from, to;
    int64_t
        window; /* number as in the view windows, from 1; -1 is the last window, -2 the one before it; 0: none is asked for */
};

/* As options and parameters have them; `name` is for errors. An edge is a duration since the start of the run, or a date and time, which has a
 * '-' and is read when the run is known; it keeps `text`. */
int timespan_read_edge(struct timespan_edge *edge, const char *name, const char *text, struct error *err);
int timespan_read_window(int64_t *window, const char *name, const char *text, struct error *err);

bool timespan_is_wanted(const struct timespan_request *request);
/* The timespan in a run; windows are numbered per kind. A window or a time that the run does not have is a usage error. */
int timespan_find(struct db *db, int64_t run_id, const char *kind, const struct timespan_request *request,
                  struct timespan *span, struct error *err);
/* Appends which windows the span contains: "windows 3 to 7 of 12, 10.000 s to 20.012 s of run 4", or that it contains none. */
int timespan_describe(struct db *db, int64_t run_id, const char *kind, const struct timespan *span,
                      struct buffer *words, struct error *err);

/* Binds :from and :to. */
void timespan_bind(sqlite3_stmt *statement, const struct timespan *span);

#endif
