/* options.h: the options of reports, named as pprof names them. One table serves the command line, the prompt and the
 * parameters of URLs (serve/api/resource.h, web/state/state.js). */
#ifndef CLEAR_QUERY_REPORT_OPTIONS_H
#define CLEAR_QUERY_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/option.h"
#include "query/code/source_files.h"
#include "query/profile/filter.h"
#include "query/runs/sampling_error.h"

struct report_options {
    struct filter_options filter;
    const char *unit;         /* "minimum" */
    const char *sample_index; /* "" the default */
    const char *source_path, *trim_path;
    const char *only_source_path; /* ours: source files below these and the directory of the warehouse alone; "" off */
    const char *tools; /* where objdump and addr2line are (query/code/objdump.h); "" as PPROF_TOOLS and PATH say */
    const struct sources *sources; /* texts that the runs kept (query/code/source_files.h); NULL for none */
    const char *symbol;            /* the pattern of formats that take one; NULL for others */
    int64_t nodecount;             /* -1: as the format says */
    double nodefraction, edgefraction, divide_by;
    const char *title;      /* ours: the head of flamegraph and speedscope; "" none */
    const char *base_title; /* of the base of a difference, for flamegraph; "" none. No option sets it */
    bool all_types;         /* ours: every sample type and not only the one that is shown: callgrind */
    bool before_after;      /* ours: both sides of a difference: callgrind */
    bool inverted;          /* ours: the leaf first: packed */
    const char *pivot;      /* ours: a pattern: the frames below the root: packed */
    const char *root;       /* ours: the samples through one node of a tree (query/report/zoom.h); "" or NULL all */
    bool fold;              /* ours: of `root`: the tree is without recursion */
    const char *around;     /* ours: a pattern: the nodes that match, with their neighbours: json */
    bool all;               /* ours: nothing is left out, figures are whole numbers, and how exact they are is said */
    bool over_runs;         /* ours: means over the runs (query/report/report_runs.h) */
    const char *by_tag;     /* ours: a key whose values are columns (there as well); "" or NULL none */
    int64_t columns;        /* of by_tag, at most */
    const char *history;    /* ours: a pattern: its functions in each run (there as well); "" or NULL none */
    struct sampling_scale
        sampling; /* ours: how far sampled figures may be off: json, and text with `margin`; zeroed where that is not known. No option sets it */
    bool margin;  /* ours: `sampling` as a column of the text report */
    int cum;      /* 1: sorted by cumulative value; 0: by flat value */
    bool trim, call_tree, noinlines, showcolumns, compact_labels, relative_percentages, mean, normalize, drop_negative,
        intel_syntax;
    int granularity; /* enum filter_granularity */
};

/* The rows, by heading. They set a struct report_options; `offset` is where it stands in the struct of whoever reads. */
#define REPORT_OPTION_GROUPS(offset)                                                                                   \
    {"What is shown", report_shown_rows, offset}, {"Values", report_value_rows, offset},                               \
        {"Samples and frames", report_filter_rows, offset}, {"Labels", report_label_rows, offset},                     \
        {"Several runs", report_runs_rows, offset}, {"Source and machine code", report_code_rows, offset}, {           \
        "Older names", report_older_rows, offset                                                                       \
    }
extern const struct option_row report_shown_rows[], report_value_rows[], report_filter_rows[], report_label_rows[],
    report_runs_rows[], report_code_rows[], report_older_rows[];

void report_options_init(struct report_options *options);
/* Those that help shows in turn:  for (struct option_walk walk = {0}; report_option_next(&walk);) ... walk.row ... */
bool report_option_next(struct option_walk *walk);
/* The one of that name; NULL if help shows none. */
const struct option_row *report_option_find(const char *name);
/* Sets one option; a text is copied into `arena`. 0, -1 with a usage error, or 1: there is no such option. `value`
 * NULL is true for switches and choices and a usage error for others. "sort=cum" and "granularity=lines" work too. */
int report_option_set(struct report_options *options, struct arena *arena, const char *name, const char *value,
                      struct error *err);
/* The name of the first option that is not as it is preset; NULL: all are. */
const char *report_options_changed(const struct report_options *options);
/* Appends what a URL has of the option behind its parameter; nothing where it has none, or is as preset. */
struct buffer;
void report_option_state(const struct report_options *options, const struct option_row *row, struct buffer *out);
/* Checks what only shows when all are set: patterns, a divisor of 0. */
int report_options_check(const struct report_options *options, struct error *err);

#endif
