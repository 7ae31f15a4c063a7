/* diff.h: what changed between two runs, or between two sets of runs. Prints a report for people or one JSON object; the runs may
 * be of different builds and in different warehouses.
 *
 * A figure of a run is the sum over its processes and windows. A figure of a side is the mean over its runs; a row that is missing
 * in a run counts as 0. A row is the same thing on both sides by what it is, never by an id: functions by name and file name
 * (or by name alone, if each side has one of that name),
 * sites by the signature of their stack, locks, cells and channels by objects.identity, task sites by their number, other samples
 * by kind, function and file name.
 *
 * A difference is a change if it is at least diff_floor_percent of the old figure, and outside the noise:
 *   with several runs on a side, by the test of query/diff/noise.h over all rows of a table (diff_false_percent is the share of the
 *     reported changes that may be chance);
 *   with one run on each side the noise is not known: figures that vary from run to run (times, waits, samples) must differ by
 *     diff_single_percent, CPU time by diff_single_cpu_percent.
 * The thresholds are rows of the table rules of the warehouse `rules`. */
#ifndef CLEAR_QUERY_DIFF_DIFF_H
#define CLEAR_QUERY_DIFF_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "query/runs/heap_by.h"
#include "query/runs/run_set.h"

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

struct diff_options {
    struct {
        const char *name; /* as the user wrote it */
        struct run_list runs;
    } sides[DIFF_SIDES];
    struct db *rules;
    enum heap_by by; /* the figure that functions and sites are judged and sorted by */
    int64_t top;     /* rows shown of each group; 0: all, unchanged rows too */
    bool cumulative; /* count a function with its callees */
    const char *focus,
        *ignore;     /* PCRE2 patterns, matched against the names in the stack and the row's own; NULL: none */
    bool full_names; /* as in struct doctor_options (query/doctor/doctor.h) */
    bool colour;
};

/* For people: losses, totals, a table each for functions, sites, locks, cells, channels, task sites, CPU time and other samples,
 * and one line that sums it up. No line is wider than report_width() (base/wrap.h), but the last may end with
 * words that one run on each side gives no estimate of the noise. */
int diff_print(FILE *out, const struct diff_options *options, struct error *err);
/* All rows, unchanged ones too, as one JSON object. */
int diff_print_json(FILE *out, const struct diff_options *options, struct error *err);

#endif
