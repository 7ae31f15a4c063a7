/* report_options.h: the options of reports, as pprof spells them. One table serves the command line and the prompt. */
#ifndef CLEAR_QUERY_REPORT_OPTIONS_H
#define CLEAR_QUERY_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/code/source_files.h"
#include "query/profile/filter.h"

struct report_options {
    struct filter_options filter;
    const char *unit;         /* "minimum" */
    const char *sample_index; /* "" the default */
    const char *source_path, *trim_path;
    const char *tools; /* where objdump and addr2line are (query/code/objdump.h); "" as PPROF_TOOLS and PATH say */
    const struct sources *sources; /* texts that the runs kept (query/code/source_files.h); NULL for none */
    const char *symbol;            /* the pattern of formats that take one; NULL for others */
    int64_t nodecount;             /* -1: as the format says */
    double nodefraction, edgefraction, divide_by;
    bool all;           /* ours: nothing is left out, figures are whole numbers, and what they are worth is said */
    bool over_runs;     /* ours: means over the runs (query/report/report_runs.h) */
    const char *by_tag; /* ours: a key whose values are columns (there as well); "" or NULL none */
    int64_t columns;    /* of by_tag, at most */
    bool trim, cum, call_tree, noinlines, compact_labels, relative_percentages, mean, normalize, drop_negative,
        intel_syntax;
    int granularity; /* enum filter_granularity */
};

enum report_option_kind { REPORT_BOOL, REPORT_INT, REPORT_REAL, REPORT_TEXT, REPORT_CHOICE };

struct report_option {
    const char *name;
    enum report_option_kind kind;
    size_t offset;      /* in struct report_options */
    int value;          /* of REPORT_CHOICE: what it sets */
    const char *preset; /* as a text; NULL "" */
    const char *group;  /* of REPORT_CHOICE: "sort", "granularity"; of those that set another (inuse_space): NULL */
    const char *help;   /* one line, no full stop */
};
extern const struct report_option report_options_table[]; /* ends with a NULL name */

void report_options_init(struct report_options *options);
const struct report_option *report_option_find(const char *name); /* exact; NULL where there is none */
const char *report_option_nearest(const char *name);              /* NULL: none is near; good until the next call */
/* 0, -1 with a usage error, or 1: there is no such option. `value` NULL is true for bools and choices and a usage error for others. "sort=cum" and "granularity=lines" work
 * too. Texts are
 * kept in `arena`. */
int report_option_set(struct report_options *options, struct arena *arena, const char *name, const char *value,
                      struct error *err);
/* Checks what only shows when all are set: patterns, a divisor of 0. */
int report_options_check(const struct report_options *options, struct error *err);

#endif
