#include "query/runs/sampling_error.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "schema/schema.h"

#define NORMAL_95 1.959964 /* standard deviations on both sides that hold 95 % of a normal distribution */

#define PSEUDO    (NORMAL_95 * NORMAL_95 / 2) /* samples added to those that were seen (sampling_error.h) */
#define TOLD      99.5                        /* percent: an interval as wide as its figure tells nothing */
#define TOLD_HEAP 40                          /* the same of an estimate (sampling_error.h) */

enum { SMALL_BLOCK = 16 }; /* bytes; of malloc's blocks few are smaller */

/* An estimate, its variance, and what one sample more would have added. */
struct estimate {
    double value, variance, sample;
    bool is_unknown;
};

static double seen_probability(double sample_n, double period, double size) {
    return period > 0 ? -expm1(-size / period) : 1 / sample_n;
}

double sampling_error_variance(double sample_n, double period, double blocks, double bytes) {
    if (blocks <= 0 || (sample_n <= 1 && period <= 0)) return 0;
    double p = seen_probability(sample_n, period, bytes / blocks);
    return p > 0 ? blocks * (1 - p) / p : 0;
}

/* The size of a block that may have been missed beside such ones. */
static double small_block(double mean) {
    return fmax(1, fmin(SMALL_BLOCK, mean / 4));
}

/* Bytes of every Nth block depend on a few large ones, which may be among those that were not seen. */
static void add_blocks(struct estimate *count, struct estimate *bytes, double sample_n, double period,
                       sqlite3_stmt *row, int column) {
    double blocks = sqlite3_column_double(row, column), sum = sqlite3_column_double(row, column + 1);
    if (blocks <= 0) return;
    double size = sum / blocks, variance = sampling_error_variance(sample_n, period, blocks, sum);
    count->value += blocks;
    count->variance += variance;
    count->sample = fmax(count->sample, period > 0 ? period / small_block(size) : sample_n - 1);
    bytes->value += sum;
    bytes->variance += variance * size * size;
    bytes->sample = fmax(bytes->sample, period);
    if (period <= 0) bytes->is_unknown = true;
}

static double half_width(const struct estimate *estimate) {
    if (estimate->value <= 0 || estimate->is_unknown) return 0;
    double variance = estimate->variance + PSEUDO * estimate->sample * estimate->sample;
    double percent = 100 * NORMAL_95 * sqrt(variance) / estimate->value;
    return percent < TOLD_HEAP ? percent : 0;
}

enum { ALLOCS, ALLOC_BYTES, LIVE, LIVE_BYTES, ESTIMATES }; /* the order of budget_totals */

/* Of a run that is sampled by size and that a recorder wrote: the blocks of a stack differ in size, and the recorder alone has seen how. */
static int read_count_variances(struct db *db, int64_t run_id, struct estimate estimates[ESTIMATES],
                                struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/count_variances"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    for (int i = 0; sqlite3_column_int64(row, 2) && i < 2; i++) {
        struct estimate *count = &estimates[i == 0 ? ALLOCS : LIVE];
        count->is_unknown |= sqlite3_column_type(row, i) == SQLITE_NULL;
        count->variance = sqlite3_column_double(row, i);
    }
    sqlite3_reset(row);
    return 0;
}

/* Of a run with a budget: its windows have rates of their own, and the frees of a block may be in a window of another rate than its allocation. */
static int read_budget(struct db *db, int64_t run_id, struct estimate estimates[ESTIMATES], struct error *err) {
    enum { ALLOC_VARIANCE = ESTIMATES, LIVE_VARIANCE };
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/budget_totals"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code < 1) return code;
    for (int i = 0; i < ESTIMATES; i++)
        estimates[i].value = sqlite3_column_double(row, i);
    estimates[ALLOC_BYTES].variance = sqlite3_column_double(row, ALLOC_VARIANCE);
    estimates[LIVE_BYTES].variance = sqlite3_column_double(row, LIVE_VARIANCE);
    estimates[LIVE].sample = estimates[ALLOCS].sample;
    estimates[LIVE_BYTES].sample = estimates[ALLOC_BYTES].sample;
    sqlite3_reset(row);
    return 0;
}

/* Of the whole run; all 0 where its heap is not sampled. */
static int read_heap(struct db *db, int64_t run_id, struct estimate estimates[ESTIMATES], struct error *err) {
    enum { SAMPLE_N, PERIOD, ALLOC_COLUMN, LIVE_COLUMN = ALLOC_COLUMN + 2 };
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/sampled_sites"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    bool is_by_size = false;
    while ((code = db_step(db, row, err)) == 1) {
        double sample_n = sqlite3_column_double(row, SAMPLE_N), period = sqlite3_column_double(row, PERIOD);
        is_by_size |= period > 0;
        add_blocks(&estimates[ALLOCS], &estimates[ALLOC_BYTES], sample_n, period, row, ALLOC_COLUMN);
        add_blocks(&estimates[LIVE], &estimates[LIVE_BYTES], sample_n, period, row, LIVE_COLUMN);
    }
    if (code || !is_by_size) return code;
    return read_count_variances(db, run_id, estimates, err) || read_budget(db, run_id, estimates, err) ? -1 : 0;
}

int sampling_error_of(struct db *db, int64_t run_id, struct sampling_error *error, struct error *err) {
    struct estimate heap[ESTIMATES] = {0};
    *error = (struct sampling_error){0};
    if (read_heap(db, run_id, heap, err) < 0) return -1;
    *error = (struct sampling_error){half_width(&heap[ALLOCS]), half_width(&heap[ALLOC_BYTES]), half_width(&heap[LIVE]),
                                     half_width(&heap[LIVE_BYTES])};
    return heap[ALLOCS].value > 0;
}

static void add_part(struct buffer *text, const char *what, double percent) {
    if (percent > 0) buffer_printf(text, "%s%s %s", text->size ? ", " : "", what, units_percent(percent).text);
}

void sampling_error_text(const struct sampling_error *error, struct buffer *text) {
    add_part(text, "allocations", error->allocs);
    add_part(text, "their bytes", error->alloc_bytes);
    add_part(text, "live blocks", error->live);
    add_part(text, "live bytes", error->live_bytes);
}

/* How far x of n samples may be off, in samples. */
static double binomial_error(double n, double x) {
    double all = n + 2 * PSEUDO;
    return NORMAL_95 * n * sqrt((x + PSEUDO) * fmax(0, n - x + PSEUDO) / (all * all * all));
}

/* "56 % for one with 1 % of the time"; nothing where the samples are too few to tell such a function from none. */
static void add_share(struct buffer *text, double samples, double share) {
    double percent = 100 * binomial_error(samples, samples * share) / (samples * share);
    if (percent >= TOLD) return;
    const char *before = text->size ? "," : "; in 95 of 100 runs the error is at most",
               *of = text->size ? "one" : "a function";
    buffer_printf(text, "%s %s for %s with %g %% of the time", before, units_percent(percent).text, of, 100 * share);
}

struct cpu_figures {
    int64_t samples, ns;
    double independent; /* of the samples; 0: it is not known */
};

static int read_cpu(struct db *db, int64_t run_id, struct cpu_figures *cpu, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/cpu_samples"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    cpu->samples = sqlite3_column_int64(row, 0);
    cpu->ns = sqlite3_column_int64(row, 1);
    double independent = sqlite3_column_double(row, 2), samples = (double)cpu->samples;
    bool is_known = sqlite3_column_type(row, 2) != SQLITE_NULL;
    cpu->independent = !is_known ? 0 : independent > 0 ? fmin(independent, samples) : samples;
    sqlite3_reset(row);
    return 0;
}

int sampling_error_add_cpu(struct db *db, int64_t run_id, struct buffer *text, struct error *err) {
    struct cpu_figures cpu;
    if (read_cpu(db, run_id, &cpu, err)) return -1;
    if (cpu.samples <= 0) return 0;
    buffer_add_text(text, units_things(cpu.samples, "CPU sample").text);
    if (cpu.independent <= 0) return 0;
    struct buffer shares = {0};
    add_share(&shares, cpu.independent, 0.1);
    add_share(&shares, cpu.independent, 0.01);
    if (round(cpu.independent) < (double)cpu.samples)
        buffer_printf(text, ", as exact as %s", units_count((int64_t)round(cpu.independent)).text);
    buffer_add_text(text, shares.size ? buffer_text(&shares)
                                      : ": too few to compare functions (record longer, or with a higher --cpu=HZ)");
    buffer_free(&shares);
    return 0;
}

/* ---- of single figures ---- */

static int cpu_scale(struct db *db, int64_t run_id, const char *type, struct sampling_scale *scale, struct error *err) {
    struct cpu_figures cpu;
    if (read_cpu(db, run_id, &cpu, err)) return -1;
    if (cpu.independent <= 0) return 0;
    scale->whole = strcmp(type, "cpu") == 0 ? (double)cpu.ns : (double)cpu.samples;
    scale->variance = scale->whole / cpu.independent;
    return 0;
}

/* Of n blocks of s bytes that are seen with the probability p the variance is n (1 - p) / p. Where p = 1 / N that is N - 1 for each block.
 * Where p = 1 - exp(-s / period), the variance of their bytes is n s * s (1 - p) / p, and s (1 - p) / p is at most the period. */
static int heap_scale(struct db *db, int64_t run_id, const char *type, struct sampling_scale *scale,
                      struct error *err) {
    bool is_bytes = strcmp(type, "alloc_space") == 0 || strcmp(type, "inuse_space") == 0;
    bool is_count = strcmp(type, "alloc_objects") == 0 || strcmp(type, "inuse_objects") == 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/sampling_rate"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    double sample_n = sqlite3_column_double(row, 0), period = sqlite3_column_double(row, 1);
    if (is_count && period <= 0) scale->variance = sample_n - 1;
    if (is_bytes && sample_n <= 1) scale->variance = period;
    sqlite3_reset(row);
    return 0;
}

int sampling_scale_of(struct db *db, int64_t run_id, const char *kind, const char *type, struct sampling_scale *scale,
                      struct error *err) {
    *scale = (struct sampling_scale){0};
    if (strcmp(kind, "cpu") == 0) return cpu_scale(db, run_id, type, scale, err);
    return strcmp(kind, "heap") == 0 ? heap_scale(db, run_id, type, scale, err) : 0;
}

double sampling_scale_error(const struct sampling_scale *scale, double value) {
    if (scale->variance <= 0) return 0;
    double seen = fabs(value) / scale->variance, all = scale->whole / scale->variance;
    if (all <= 0) return NORMAL_95 * scale->variance * sqrt(seen + PSEUDO);
    return seen < all ? scale->variance * binomial_error(all, seen) : 0;
}

struct sampling_margin sampling_scale_margin(const struct sampling_scale *scale, double value, double total) {
    struct sampling_margin margin = {""};
    if (scale->variance <= 0 || value == 0 || total == 0) return margin;
    double points = 100 * sampling_scale_error(scale, value) / fabs(total);
    if (points <= 0) return margin;
    snprintf(margin.text, sizeof margin.text, points < 9.95 ? "±%.1f%%" : "±%.0f%%", points);
    return margin;
}
