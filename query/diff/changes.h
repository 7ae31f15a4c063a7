/* changes.h: the tables of a comparison: gathered from the runs (changes.c), judged (judge.c, weigh.c), then printed (changes_text.c,
 * changes_json.c). Private to query/diff. */
#ifndef CLEAR_QUERY_DIFF_CHANGES_H
#define CLEAR_QUERY_DIFF_CHANGES_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/units.h"
#include "query/diff/diff.h"
#include "query/diff/noise.h"
#include "query/diff/sites.h"
#include "schema/figure_kinds.h"

enum diff_table_id {
    DIFF_TOTALS,
    DIFF_FUNCTIONS,
    DIFF_SITES,
    DIFF_LOCKS,
    DIFF_WAITS, /* for what is no lock: condition variables, semaphores, barriers, the end of threads, futexes */
    DIFF_CELLS,
    DIFF_CHANNELS,
    DIFF_FIBERS,
    DIFF_CPU,
    DIFF_IO,
    DIFF_MAPS,
    DIFF_SAMPLES,
    DIFF_TABLES
};
/* Columns of the totals. Those of the heap stand in the order of enum heap_by. */
enum {
    TOTAL_DURATION,
    TOTAL_HEAP,
    TOTAL_PEAK = TOTAL_HEAP + 4,
    TOTAL_LOCK, /* operations, waits, their time */
    TOTAL_RETRIES = TOTAL_LOCK + 3,
    TOTAL_CHANNEL, /* waits, their time */
    TOTAL_FIBERS = TOTAL_CHANNEL + 2,
    TOTAL_CPU
};
/* Columns of the locks and of what else is waited for, which has the same first three; of the cells, and of the channels. */
enum {
    LOCK_OPERATIONS,
    LOCK_CONTENDED,
    LOCK_WAIT,
    LOCK_HOLD,
    LOCK_TIMEOUTS,
    LOCK_UNFINISHED,
    LOCK_FAILED_TRIES,
    LOCK_COLUMNS
};
enum { CELL_RETRIES, CELL_COMMITS, CELL_COPIED = 3 };
enum { CHANNEL_BLOCKED = 1, CHANNEL_WAIT };
enum { DIFF_FIGURES_MAX = 14, DIFF_NAME_MAX = 32 };

struct diff_column {
    const char *name, *heading;
    enum figure_unit unit;
    enum figure_variation variation;
};

/* One figure of one row. */
struct diff_figure {
    struct noise noise;
    double delta;     /* new mean - old mean */
    double percent;   /* of the old mean; NAN where that is 0 */
    bool is_change;   /* large enough, and outside the noise */
    bool is_in_noise; /* large enough, but within the noise */
    const char *why;  /* it is no change though it is large enough; NULL where that is not so */
};

enum diff_presence { DIFF_BOTH, DIFF_ADDED, DIFF_GONE };

struct diff_row {
    const char *subject, *file, *module; /* the diff owns the texts */
    int64_t line;
    uint64_t signature;   /* sites */
    const char *identity; /* locks, what else is waited for, cells, channels, task sites */
    const char *what;     /* samples: kind, type and unit of the profile */
    struct db *db;        /* the warehouse of `trace_id`, which is 0 for none */
    int64_t trace_id;
    int place_side;                 /* which file, line and trace_id are of */
    const struct site_place *place; /* sites: of the stack seen last; the arena's */
    size_t claimed_run;             /* sites: 1 + the last run that has a stack of this site */
    size_t next_same;               /* sites: 1 + index of the next row with this signature; 0: none */
    double *values;                 /* values[figure * runs + run]; the runs of the old side come first */
    uint32_t seen[DIFF_SIDES];      /* number of runs that have the row */
    size_t last_run;                /* 1 + the last run that `seen` counts */
    struct diff_figure *figures;
    enum diff_presence presence;
    const char *change; /* "up", "down", "same", "new", "eliminated", "newly contended", ... */
    bool is_change;     /* outside the noise */
};

struct diff_table {
    const char *section, *by; /* "heap", "function" */
    struct diff_column columns[DIFF_FIGURES_MAX];
    size_t column_count;
    size_t judged; /* the column that rows are judged and sorted by */
    struct map
        keys; /* key that identifies a row -> index of the row; of the sites signature -> index of its latest row */
    struct diff_row *rows;
    size_t count, capacity;
};

/* Thresholds by name, for which the table `rules` of a warehouse has rows (changes_json.c prints them in this order). */
struct diff_rules {
    double floor_percent, floor_ns, single_percent, single_threads_percent, single_ns, single_cpu_percent,
        single_cpu_ns, single_wait_ns, single_bytes, single_row_percent, few_waits, false_percent, contended_percent,
        retry_ratio;
};

struct diff_threshold {
    const char *name;
    size_t offset; /* in struct diff_rules */
    double value;  /* by default */
};
enum { DIFF_THRESHOLDS = 14 };
extern const struct diff_threshold diff_thresholds[DIFF_THRESHOLDS];

/* The kinds that have a profile in each run that records them. */
enum { DIFF_KINDS = 3 };

/* A loss or a sampling rate of one side, or a kind that it did not record. */
struct diff_loss {
    int side;
    const char *code, *subject;
    int64_t count; /* in the run that has most */
    size_t runs;   /* number of runs that have it */
};

/* How the heap of one side was sampled (zeros: no run has one), and the variance that this gives the sum of its runs' totals, in the order of
 * enum heap_by. */
struct diff_sampling {
    double sample_n, period, variance[4];
};

struct diff {
    const struct diff_options *options;
    struct diff_rules rules;
    struct diff_table tables[DIFF_TABLES];
    size_t run_count[DIFF_SIDES], runs; /* runs: of both sides together */
    double cpu_samples[DIFF_SIDES];     /* of all runs of a side */
    double samples_each
        [DIFF_SIDES]; /* how many CPU samples are as exact as one that is independent, of the coarsest run; 0: it has none */
    double delay_ns
        [DIFF_SIDES];     /* for how long threads were ready and had no processor, of the run with most; 0: not known */
    bool has_sampled_cpu; /* of some run samples alone tell the CPU time */
    size_t interrupted[DIFF_SIDES]; /* number of runs that a signal ended */
    size_t paused[DIFF_SIDES];      /* number of runs in which recording was paused from the start to the end */
    struct diff_sampling sampling[DIFF_SIDES];
    size_t recorded[DIFF_SIDES][DIFF_KINDS]; /* number of runs that have the kind (unrecorded.c) */
    bool has_waits;                          /* threads met: a thread waited or tried again in some run */
    bool has_other_code;   /* the runs of one side have other programs or arguments than those of the other */
    bool has_inexact_peak; /* the peak of some run is of several threads, or of a sample, or that is not known */
    struct diff_loss *losses;
    size_t loss_count;
    struct arena texts;
    size_t trace_count; /* stacks that were read; kept_count: those that passed --focus and --ignore */
    size_t kept_count;
};

/* Gathers and judges. Call diff_free after a failure too. */
int diff_make(struct diff *diff, const struct diff_options *options, struct error *err);
void diff_free(struct diff *diff);

/* True for locks, what else is waited for, cells, channels and task sites, whose rows are identified by what they are and not by a stack. */
bool diff_is_object(enum diff_table_id id);

int diff_gather(struct diff *diff, struct error *err);
/* Counts the kinds that a run has; then takes out of the tables what only one side recorded, and adds that to the losses. */
int diff_count_recorded(struct diff *diff, int side, struct db *db, int64_t run_id, struct error *err);
void diff_leave_out_unrecorded(struct diff *diff);
/* True for a column of the totals that only one side recorded: it is no change, and is not printed. */
bool diff_is_unrecorded(const struct diff *diff, size_t total);
/* Applies the rules by which a figure of the row that is large enough is no change all the same. Of the totals after all other tables. */
void diff_weigh(const struct diff *diff, enum diff_table_id id, struct diff_row *row);
/* One run on each side: the noise is not known, so rules stand in for it. */
bool diff_is_single(const struct diff *diff);
/* Counts of events vary by chance: whether the difference of two means is within so many standard deviations. Means of several runs vary less. */
enum { DIFF_CHANCE = 3 };
bool diff_may_be_chance(const struct diff *diff, int deviations, double before, double after);
/* The same of CPU samples, of which several may be of one expiry of a timer (query/runs/sampling_error.h). */
bool diff_samples_may_be_chance(const struct diff *diff, double before, double after);
/* Percentages are rounded to whole numbers before they are compared, as everywhere in the doctor. Where threads met, what they allocated may
 * depend on who was first. */
bool diff_is_above_floor(const struct diff *diff, const struct diff_figure *figure);
/* One run on each side: a total that differs by diff_floor_percent or more, but not so much that it is a change. */
bool diff_is_unsure(const struct diff *diff, size_t total);

/* The rows of a table as they are printed: changes first, the largest difference first. free() the array. */
const struct diff_row **diff_sorted(const struct diff_table *table);
/* A figure with its unit: "1.2 MiB", "1,234", "3.4 ms". `sign`: write + before a positive one. */
struct units_text diff_value(enum figure_unit unit, double value, bool sign);
struct units_text diff_percent(double percent); /* "+12 %", "-0.3 %", "x 31" for +3,000 %; "" for NAN */
/* Up to four callers of the row's function: "a < b < main". */
int diff_callers(const struct diff_row *row, bool full_names, struct buffer *out, struct error *err);
/* The line that sums up the comparison. */
void diff_quote(const struct diff *diff, struct buffer *out);

#endif
