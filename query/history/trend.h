/* trend.h: figures over many runs, and where their levels changed. */
#ifndef CLEAR_QUERY_HISTORY_TREND_H
#define CLEAR_QUERY_HISTORY_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "query/history/change_points.h"
#include "query/history/known_changes.h"
#include "schema/db.h"

struct trend_run {
    int64_t id, started_ns;
    char *uuid, *label, *commit; /* label and commit: NULL for none */
    bool is_estimated;           /* sampled, or events were lost: no figure is exact */
};

/* A change of a series. The runs of `point` are indexes of trend.runs; between `first` - 1 and `last` are the runs that it may have
 * begun after and in. */
struct trend_change {
    struct change_point point;
    size_t before_first; /* the run before `point.first` that has a value: the newest that is surely of the old level */
    const struct known_change *accepted; /* NULL: it is news */
};

struct trend_series {
    char *figure, *subject;       /* as in the view series */
    double *values;               /* one a run; NAN: the run did not record the figure */
    size_t value_count;           /* those that are not NAN */
    struct trend_change *changes; /* the oldest first */
    size_t change_count;
};

struct trend {
    struct trend_run *runs; /* the oldest first */
    size_t run_count;
    bool is_of_store;  /* the runs have no numbers that last: they are named by the beginning of their uuid */
    size_t unfinished; /* runs that were left out, because they are not over or their end is not known */
    struct trend_series
        *series; /* totals in the order of the view; subjects by their latest value, the largest first */
    size_t series_count;
    struct known_changes accepted;
    struct map index; /* of the series, while they are read */
};

struct trend_request {
    const int64_t *runs; /* NULL: those with the command of the latest run */
    size_t run_count;
    bool has_bisected;  /* also runs that clear bisect took */
    const char *figure; /* NULL: all totals */
    const char *of;     /* GLOB of subjects; NULL: the whole run */
};

/* Reads and judges. trend_free it, also after a failure. A figure that no run has is a usage error, which names those that there are. */
int trend_make(struct trend *trend, struct db *db, const struct trend_request *request, struct error *err);
void trend_free(struct trend *trend);

/* The latest value; NAN if there is none. */
double trend_latest(const struct trend *trend, const struct trend_series *series);
/* Does it have a change that is not accepted? */
bool trend_has_news(const struct trend_series *series);

#endif
