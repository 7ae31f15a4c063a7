/* diff.h: what changed between two runs, or between two sets of runs.
 *
 * Figures of a run are sums over its processes and windows; a side's figure is the mean over its runs, where a row that a
 * run lacks counts as 0. Rows are the same thing on both sides by what they are, never by an id: functions by name and
 * file name, sites by the signature of their stack, locks, cells and channels by objects.identity, task sites by their number;
 * other samples by kind, function and file name. So the runs may be of different
 * builds and of different warehouses.
 *
 * A difference is a change where it is as large as the rule diff_floor_percent says, and outside the noise:
 *   with more than one run on a side, by the test of query/diff/noise.h, of all rows of a table at once (rule
 *     diff_false_percent: the share of the changes called that may be chance);
 *   with one run a side, where nothing is known of the noise, figures that vary by themselves (times, waits, samples)
 *     must differ by the rule diff_single_percent.
 * Rules are taken from `rules`, where it has them. */
#ifndef CLEAR_QUERY_DIFF_DIFF_H
#define CLEAR_QUERY_DIFF_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "query/runs/heap_by.h"
#include "query/runs/run_set.h"

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

struct diff_options {
    struct {
        const char *name; /* as a person named it */
        struct run_list runs;
    } sides[DIFF_SIDES];
    struct db *rules;
    enum heap_by by;            /* what functions and sites are judged and sorted by */
    int64_t top;                /* rows shown of each group; 0: all, those without a change too */
    bool cumulative;            /* functions with what they call */
    const char *focus, *ignore; /* PCRE2 over names in the stack and the row's own; NULL for none */
    bool colour;
};

/* For people: what was lost, totals, then a table each for functions, sites, locks, cells, channels, task sites, processor time and other samples, and one line
 * to quote. No line is wider than 100 columns. */
int diff_print(FILE *out, const struct diff_options *options, struct error *err);
/* The same rows, and those without a change, as one JSON object. */
int diff_print_json(FILE *out, const struct diff_options *options, struct error *err);

#endif
