/* bench_set.h: what `clear bench` prints: a line a run, and a table of the figures, compared with another set. */
#ifndef CLEAR_CLI_HISTORY_BENCH_SET_H
#define CLEAR_CLI_HISTORY_BENCH_SET_H

#include <stdio.h>

#include "query/history/figure_change.h"
#include "query/history/run_values.h"

struct bench_set {
    const char *name;    /* the value of the tag `bench` */
    const char *command; /* as in the table runs */
    struct run_values values;
    const char *before_name; /* a set of runs (query/runs/run_set.h); NULL: there is nothing to compare with */
    struct run_values before;
};

/* The line of a run, with a heading above the first one. What it did not record is "-". */
void bench_print_run(FILE *out, const struct run_values *values, size_t run);

/* Every figure that is not 0 in all runs. */
void bench_print_table(FILE *out, const struct bench_set *set, const struct figure_limits *limits);
void bench_print_json(FILE *out, const struct bench_set *set, const struct figure_limits *limits);

#endif
