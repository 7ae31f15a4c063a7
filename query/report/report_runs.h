/* report_runs.h: reports that tell runs apart, which is what a profile as pprof has it cannot. Both are as `top` for the sum of
 * the same runs, with all its options, and read a run (or the runs of one column) at a time: memory goes with the distinct
 * stacks, whatever the number of runs.
 *
 * over_runs: of each function the mean of its value over the runs, the sample standard deviation of it, and in how many runs
 *   it is. A run without the function counts as 0, so that for N runs with the values x
 *     mean = sum(x) / N        sd = sqrt(sum((x - mean)^2) / (N - 1)), unknown for one run
 *   and the means add up as the values of one run do. Order, percentages and what is left out are those of the means.
 *
 * by_tag: a column for each value of a tag of the runs, from that of the oldest run to that of the newest; where no run has
 *   such a tag, for each value of a label of the samples, the largest first. What has none is the column (none). At most
 *   `columns`: of the values of a tag the newest are kept, of a label the largest, and the rest is the column (other). Order,
 *   total and what is left out are those of the sum. A sample with several values of the label counts for the first.
 *
 * history: for each run in turn, what the functions that match cost (query/report/history.c).
 *
 * `format` is text, top or json; of history json. */
#ifndef CLEAR_QUERY_REPORT_REPORT_RUNS_H
#define CLEAR_QUERY_REPORT_REPORT_RUNS_H

#include "query/profile/load/gather.h"
#include "query/report/report.h"

struct report_runs {
    const struct run_list *runs;
    const char *kind;                         /* NULL: the one that all have */
    const struct report_overrides *overrides; /* as of report_finish_profile; may be NULL */
    const struct timespan_request *span;      /* that part of each run; NULL: all of it */
};

/* Is the report one of these? Then report_write is not for it. */
static inline bool report_runs_wanted(const struct report_options *options) {
    return options->over_runs || (options->by_tag && *options->by_tag) || (options->history && *options->history);
}

/* Writes what options->over_runs, options->by_tag or options->history ask for. Two at once, a format that has no such report, or a tag that
 * neither a run nor a sample has are usage errors. */
int report_runs_write(const struct report_runs *runs, const struct report_format *format,
                      const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                      struct error *err);

/* ---- the two of them ---- */
int report_over_runs(const struct report_runs *runs, const struct report_format *format,
                     const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                     struct error *err);
int report_by_tag(const struct report_runs *runs, const struct report_format *format,
                  const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                  struct error *err);
int report_history(const struct report_runs *runs, const struct report_format *format,
                   const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                   struct error *err);

#endif
