/* changes.h: the tables of a comparison: gathered from the runs (changes.c), judged (judge.c), then printed (changes_text.c,
 * changes_json.c). Private to query/diff. */
#ifndef CLEAR_QUERY_DIFF_CHANGES_H
#define CLEAR_QUERY_DIFF_CHANGES_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/units.h"
#include "query/diff/diff.h"
#include "query/diff/noise.h"

enum diff_table_id {
    DIFF_TOTALS,
    DIFF_FUNCTIONS,
    DIFF_SITES,
    DIFF_LOCKS,
    DIFF_CELLS,
    DIFF_CHANNELS,
    DIFF_FIBERS,
    DIFF_CPU,
    DIFF_SAMPLES,
    DIFF_TABLES
};
enum diff_unit { DIFF_COUNT, DIFF_BYTES_UNIT, DIFF_NS };
enum { DIFF_FIGURES_MAX = 13, DIFF_NAME_MAX = 32 };

struct diff_column {
    const char *name, *heading;
    enum diff_unit unit;
    bool varies; /* from run to run of the same program: times, waits, samples */
};

/* One figure of one row. */
struct diff_figure {
    struct noise noise;
    double delta;     /* new mean - old mean */
    double percent;   /* of the old mean; NAN where that is 0 */
    bool is_change;   /* large enough, and outside the noise */
    bool is_in_noise; /* large enough, but not outside the noise */
};

enum diff_presence { DIFF_BOTH, DIFF_ADDED, DIFF_GONE };

struct diff_row {
    const char *subject, *file, *module; /* texts are the diff's */
    int64_t line;
    uint64_t signature;   /* sites */
    const char *identity; /* locks, cells, channels, task sites */
    const char *what;     /* samples: kind, type and unit of the profile */
    struct db *db;        /* where `trace_id` is a stack of it; trace_id 0 for none */
    int64_t trace_id;
    double *values;            /* [figure * runs + run], the runs of the old side first */
    uint32_t seen[DIFF_SIDES]; /* in how many runs it is */
    size_t last_run;           /* 1 + the run that was counted in `seen` last */
    struct diff_figure *figures;
    enum diff_presence presence;
    const char *change; /* "up", "down", "same", "new", "eliminated", "newly contended", ... */
    bool is_change;     /* worth telling: outside the noise */
};

struct diff_table {
    const char *section, *by; /* "heap", "function" */
    struct diff_column columns[DIFF_FIGURES_MAX];
    size_t column_count;
    size_t judged;   /* the column that rows are judged and sorted by */
    struct map keys; /* what makes a row the same -> its index */
    struct diff_row *rows;
    size_t count, capacity;
};

struct diff_rules {
    double floor_percent, single_percent, false_percent, contended_percent, retry_ratio;
};

/* What one side did not record, or sampled. */
struct diff_loss {
    int side;
    const char *code, *subject;
    int64_t count; /* the most of one run */
    size_t runs;   /* of how many */
};

struct diff {
    const struct diff_options *options;
    struct diff_rules rules;
    struct diff_table tables[DIFF_TABLES];
    size_t run_count[DIFF_SIDES], runs; /* and of both */
    struct diff_loss *losses;
    size_t loss_count;
    struct arena texts;
    size_t trace_count; /* stacks that were looked at, and how many of them --focus and --ignore left */
    size_t kept_count;
};

/* Gathers and judges. On failure too, diff_free it. */
int diff_make(struct diff *diff, const struct diff_options *options, struct error *err);
void diff_free(struct diff *diff);

/* Locks, cells, channels, task sites: not by a stack, but by what the thing is. */
bool diff_is_object(enum diff_table_id id);

int diff_gather(struct diff *diff, struct error *err);
void diff_judge(struct diff *diff);

/* The rows of a table in the order in which people want them: changes first, the largest difference first. free() it. */
const struct diff_row **diff_sorted(const struct diff_table *table);
/* A figure with its unit: "1.2 MiB", "1,234", "3.4 ms". `sign`: with + where it is positive. */
struct units_text diff_value(enum diff_unit unit, double value, bool sign);
struct units_text diff_percent(double percent); /* "+12 %", "-0.3 %", "x 31" for +3,000 %; "" for NAN */
/* Up to four functions that called the one that a row is shown as: "a < b < main". */
int diff_callers(const struct diff_row *row, struct buffer *out, struct error *err);
/* The line to quote. */
void diff_quote(const struct diff *diff, struct buffer *out);

#endif
