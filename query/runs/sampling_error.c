#include "query/runs/sampling_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "schema/schema.h"

#define NORMAL_95 1.959964 /* standard deviations on both sides that hold 95 % of a normal distribution */

/* An estimate and its variance. */
struct estimate {
    double value, variance;
};

static double seen_probability(double sample_n, double period, double size) {
    return period > 0 ? -expm1(-size / period) : 1 / sample_n;
}

double sampling_error_variance(double sample_n, double period, double blocks, double bytes) {
    if (blocks <= 0 || (sample_n <= 1 && period <= 0)) return 0;
    double p = seen_probability(sample_n, period, bytes / blocks);
    return p > 0 ? blocks * (1 - p) / p : 0;
}

static void add_blocks(struct estimate *count, struct estimate *bytes, double sample_n, double period,
                       sqlite3_stmt *row, int column) {
    double blocks = sqlite3_column_double(row, column), sum = sqlite3_column_double(row, column + 1);
    if (blocks <= 0) return;
    double size = sum / blocks, variance = sampling_error_variance(sample_n, period, blocks, sum);
    count->value += blocks;
    count->variance += variance;
    bytes->value += sum;
    bytes->variance += variance * size * size;
}

static double half_width(const struct estimate *estimate) {
    return estimate->value > 0 ? 100 * NORMAL_95 * sqrt(estimate->variance) / estimate->value : 0;
}

enum { ALLOCS, ALLOC_BYTES, LIVE, LIVE_BYTES, ESTIMATES };

/* Of the whole run; all 0 where its heap is not sampled. */
static int read_heap(struct db *db, int64_t run_id, struct estimate estimates[ESTIMATES], struct error *err) {
    enum { SAMPLE_N, PERIOD, ALLOC_COLUMN, LIVE_COLUMN = ALLOC_COLUMN + 2 };
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/sampled_sites"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        double sample_n = sqlite3_column_double(row, SAMPLE_N), period = sqlite3_column_double(row, PERIOD);
        add_blocks(&estimates[ALLOCS], &estimates[ALLOC_BYTES], sample_n, period, row, ALLOC_COLUMN);
        add_blocks(&estimates[LIVE], &estimates[LIVE_BYTES], sample_n, period, row, LIVE_COLUMN);
    }
    return code;
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

/* "with 1 % of the time to 56 %"; nothing where the samples are too few to tell such a function from none. */
static void add_share(struct buffer *text, double samples, double share) {
    double percent = 100 * NORMAL_95 * sqrt((1 - share) / (share * samples));
    if (percent >= 99.5) return;
    const char *before = text->size ? ", with" : "; in 95 of 100 runs right: a function with";
    buffer_printf(text, "%s %g %% of the time to %s", before, 100 * share, units_percent(percent).text);
}

static int read_cpu(struct db *db, int64_t run_id, int64_t *samples, int64_t *ns, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampling_error/cpu_samples"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    *samples = sqlite3_column_int64(row, 0);
    *ns = sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return 0;
}

int sampling_error_add_cpu(struct db *db, int64_t run_id, struct buffer *text, struct error *err) {
    int64_t samples, ns;
    if (read_cpu(db, run_id, &samples, &ns, err)) return -1;
    if (samples <= 0) return 0;
    struct buffer shares = {0};
    add_share(&shares, (double)samples, 0.1);
    add_share(&shares, (double)samples, 0.01);
    buffer_printf(text, "%s%s", units_things(samples, "CPU sample").text,
                  shares.size ? buffer_text(&shares)
                              : ": too few to compare functions (record longer, or with a higher --cpu=HZ)");
    buffer_free(&shares);
    return 0;
}

/* ---- of single figures ---- */

static int cpu_scale(struct db *db, int64_t run_id, const char *type, struct sampling_scale *scale, struct error *err) {
    int64_t samples, ns;
    if (read_cpu(db, run_id, &samples, &ns, err)) return -1;
    if (samples > 0) scale->whole = strcmp(type, "cpu") == 0 ? (double)ns : (double)samples;
    if (samples > 0) scale->variance = scale->whole / (double)samples;
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
    double rest = scale->whole > 0 ? fmax(0, 1 - value / scale->whole) : 1;
    return NORMAL_95 * sqrt(fabs(value) * scale->variance * rest);
}

struct sampling_margin sampling_scale_margin(const struct sampling_scale *scale, double value, double total) {
    struct sampling_margin margin = {""};
    if (scale->variance <= 0 || value == 0 || total == 0) return margin;
    double points = 100 * sampling_scale_error(scale, value) / fabs(total);
    if (points <= 0) return margin;
    snprintf(margin.text, sizeof margin.text, points < 9.95 ? "±%.1f%%" : "±%.0f%%", points);
    return margin;
}
