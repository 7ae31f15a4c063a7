/* report.h: reports on a profile in memory, equal to pprof's for the same input and options.
 *
 * A report is one row of report_formats and one file here. What is a format of files as well (dot, callgrind, folded, ...) is a
 * row of export_formats (export/format.h) and one file there. report_write does what is common to all: frames for tags,
 * the total, filters, granularity; then the row's function writes. */
#ifndef CLEAR_QUERY_REPORT_REPORT_H
#define CLEAR_QUERY_REPORT_REPORT_H

#include "base/buffer.h"
#include "query/profile/filter.h"
#include "query/profile/graph/graph.h"
#include "query/profile/model.h"
#include "query/report/options.h"

struct report {
    struct profile *profile; /* filtered and aggregated; the writer may change it */
    const struct report_format *format;
    struct report_options options; /* the format's overrides are in it */
    struct filter_units units;     /* of numeric labels */
    size_t type, mean_type;        /* of the values; mean_type PROFILE_NONE: no mean */
    char *type_name;               /* "mean_" before it where a mean is shown */
    const char *sample_unit;       /* of the values */
    const char *output_unit;       /* "minimum" until report_fit_unit; never NULL */
    int64_t total;                 /* of what percentages are */
    double ratio;                  /* 1 / divide_by */
    bool exact;                    /* of options.all: values are whole numbers in their own unit */
    bool overflows;                /* a sum of the writer was beyond 64 bits: report_write fails */
    filter_note *note;             /* gets messages for the user, such as a pattern without a match; may be NULL */
    void *note_context;
};

enum report_nodes { REPORT_NODES_80, REPORT_NODES_ALL }; /* shown where -nodecount is not given */

/* What a format writes of each frame of each sample, which can be much more than the profile: nothing, a number, its name. */
enum report_spread { REPORT_SPREADS_NOTHING, REPORT_SPREADS_NUMBERS, REPORT_SPREADS_NAMES };

/* How a format writes a table over runs (query/report/report_runs.h). */
enum report_table { REPORT_NO_TABLE, REPORT_TABLE_TEXT, REPORT_TABLE_JSON };

struct report_format {
    const char *name, *help; /* help: one line, no full stop */
    const char *suffix;      /* of a file, with the dot; NULL: none of its own */
    const char *media;       /* its type in HTTP; NULL: plain text */
    int (*write)(struct report *report, struct buffer *out, struct error *err);
    enum report_nodes nodes;
    enum report_table table;
    enum report_spread spread;
    bool takes_pattern; /* NAME=RE: options.symbol is never NULL */
    bool is_whole;      /* nothing is trimmed */
    bool is_raw;        /* by address, inlined frames and all, whatever the granularity asked for */
    bool is_visual;     /* for pictures: sorted by entropy, tags, redundant edges removed */
    bool is_binary;     /* not for terminals */
    bool is_drawn;      /* by graphviz, a program of its own */
    bool object_names;  /* functions of unlike binaries are apart */
    bool by_lines;      /* granularity lines, always */
    bool by_addresses;  /* granularity addresses, always; noinlines is `address_noinlines` */
    bool address_noinlines;
    bool keeps_places;    /* at the granularity of functions, lines and addresses stay in the profile */
    bool has_sides;       /* shows before and after of a difference: samples of a base are marked */
    bool has_events;      /* takes all_types and before_after */
    bool has_nodes_only;  /* of calls nothing is shown but whether they are inlined */
    bool has_whole_units; /* values are whole numbers, so the unit is small enough for the smallest one */
    bool has_values_only; /* samples without the value that is shown leave no trace in it */
};
extern const struct report_format report_formats[]; /* ends with a NULL name */

/* Does the report come out the same where the values of all other sample types are 0 (profile_load)? */
bool report_is_of_one_type(const struct report_format *format, const struct report_options *options);

/* Does the report show both sides of a difference? Then the samples of a base must be marked (compare_options.is_diff), whichever
 * option named it. `options` may be NULL. */
static inline bool report_has_sides(const struct report_format *format, const struct report_options *options) {
    return format->has_sides || (options && options->before_after);
}

/* What a person knows better than the profile, each NULL or "" where it is right: the path and build id of its first mapping, which is
 * the program; and a comment to add. `name_addresses` gives names to locations that have none; NULL: nothing does. */
struct report_overrides {
    const char *executable, *build_id, *comment;
    void (*name_addresses)(void *context, struct profile *profile);
    void *context; /* of name_addresses */
};

/* Makes a profile that was loaded, or subtracted, ready for reports: drops the frames that it says are of no interest.
 * `overrides` may be NULL. A broken expression in drop_frames is a failure. */
int report_finish_profile(struct profile *profile, const struct report_overrides *overrides, struct error *err);

/* Sets options->sampling for such a profile of that kind of one run of `db`. Nothing is said of means, of values that are divided, and of
 * what others recorded. */
int report_find_sampling(struct report_options *options, struct db *db, int64_t run_id, const char *kind,
                         const struct profile *profile, struct error *err);

/* Writes a report on `profile`, which it changes (give it a profile_copy where it is needed again) but does not free.
 * `note` gets what pprof says on the side; may be NULL. */
int report_write(struct profile *profile, const struct report_format *format, const struct report_options *options,
                 struct buffer *out, filter_note *note, void *context, struct error *err);

/* The header of a report on the whole profile: its binary, comments, type, time, duration. *total is that of the values that
 * the options choose. Changes nothing. */
int report_describe(struct profile *profile, const struct report_options *options, struct buffer *out, int64_t *total,
                    struct error *err);

/* ---- the parts of report_write, for reports on several profiles (query/report/report_runs.h) ----
 * Of a report with `profile`, `format` and `options`, in this order; each but the last can fail. */

/* Which of the profile's values is shown. */
int report_choose_values(struct report *report, struct error *err);
/* Filters, granularity and the total. */
int report_narrow(struct report *report, filter_note *note, void *context, struct error *err);
/* Gives up what sets frames apart that the granularity has as one; with keeps_places lines and addresses stay at that of functions. */
void report_aggregate(struct report *report, bool keeps_places);
void report_free(struct report *report); /* what these two made; not the profile */
/* The sum of the sizes of all samples; where samples of a base are marked, that of the base. */
int64_t report_total(const struct report *report);
/* A failure where the sizes of any type's values sum up to more than 64 bits hold. Those of the types that are shown are checked by
 * report_narrow. Then no sum over samples wraps that counts each sample once. */
int report_check_sums(const struct report *report, struct error *err);

/* ---- for writers ---- */

/* A failure where so many bytes are more than --limit allows (base/limit.h): for writers, after each sample. */
int report_check_size(const struct buffer *out, struct error *err);

/* The trimmed, sorted graph, and its unit chosen. `edges` may be false where only nodes are shown and no location has
 * inlined frames. graph_free it. */
void report_build_graph(struct report *report, struct graph *graph, struct graph_trimmed *trimmed);
/* Paths of sources without what report_trim_path takes off. */
void report_trim_paths(struct report *report);
/* As newGraph of pprof before each graph: paths trimmed, labels that pictures do not show removed. */
void report_prepare_graph(struct report *report);
void report_graph_options(struct report *report, struct graph_options *options);
/* One unit for all: that of the smallest value, or where the largest is of a larger one, such that the smallest is 0.01. */
void report_fit_unit(struct report *report, int64_t low);

/* A path without what -trim_path says, or where that is empty without all before a directory called like one of -source_path. Points
 * into `path`. */
const char *report_trim_path(const char *path, const char *trim, const char *source_path);

/* source_open of a path of the profile, by the report's source_path and trim_path. */
int report_open_source(const struct report *report, struct source_file *file, const char *path, char **why);

/* code_open (query/code/machine_code.h) of the report's profile, by its options; what cannot be read goes to its note. */
struct code;
void report_open_code(const struct report *report, struct code *code);

/* The value with the report's unit and ratio. */
void report_add_value(const struct report *report, struct buffer *text, int64_t value);
/* The same of what is no whole number; with options.all to 15 digits. */
void report_add_real(const struct report *report, struct buffer *text, double value);
/* The same in `width` characters at least, to the right. */
void report_add_padded_value(const struct report *report, struct buffer *text, int64_t value, size_t width);
void report_add_padded(struct buffer *text, const char *what, size_t width); /* UTF-8 characters, not bytes */
/* "", " (inline)" where all of a node's callers inlined it, " (partial-inline)" where some did. */
const char *report_inline_note(const struct graph_node *node);
/* The value in 10 characters, and a dot for 0: a column of a listing. */
void report_add_value_or_dot(const struct report *report, struct buffer *out, int64_t value);
/* Header lines, each with its newline: of the profile alone, and of a report on a graph. `full`: a picture's. */
void report_add_filters(const struct report *report, struct buffer *out);
void report_add_dropped(const struct report *report, struct buffer *out, size_t count, const char *what,
                        const char *value, double fraction);
/* Of options.all: how exact the figures are ("exact, nothing truncated"); and as a line on `count` nodes, or whatever `what`
 * says. */
void report_add_exactness(const struct report *report, struct buffer *out);
void report_add_exactness_line(const struct report *report, size_t count, const char *what, struct buffer *out);
/* "name":…,"function":…,"file":… and so on of a node, without braces. */
void report_json_info(struct buffer *out, const char *name, const struct graph_info *info);
/* Ends an error that says that nothing matches the report's symbol: " in inuse_space; --sample_index=alloc_space has it" where a
 * function of another sample type does, else "". Of a prepared report (report_prepare_graph). */
struct report_hint {
    char text[256];
};
struct report_hint report_elsewhere(struct report *report);
/* ]…} of the nodes and the whole report. */
void report_json_end(const struct report *report, struct buffer *out, size_t original_count, size_t dropped_count);
void report_add_profile_labels(const struct report *report, struct buffer *out);
void report_add_labels(const struct report *report, const struct graph *graph, const struct graph_trimmed *trimmed,
                       bool full, struct buffer *out);

/* The rows' functions. */
int report_text(struct report *report, struct buffer *out, struct error *err);
int report_tree(struct report *report, struct buffer *out, struct error *err); /* and peek, with options.symbol */
int report_traces(struct report *report, struct buffer *out, struct error *err);
int report_tags(struct report *report, struct buffer *out, struct error *err);
int report_raw(struct report *report, struct buffer *out, struct error *err);
int report_list(struct report *report, struct buffer *out, struct error *err);
int report_disasm(struct report *report, struct buffer *out, struct error *err);
int report_weblist(struct report *report, struct buffer *out, struct error *err);
int report_source(struct report *report, struct buffer *out, struct error *err);
int report_code(struct report *report, struct buffer *out, struct error *err);
int report_comments(struct report *report, struct buffer *out, struct error *err);

#endif
