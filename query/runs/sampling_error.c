#include "query/runs/sampling_error.h"

#include <math.h>

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

static void add_blocks(struct estimate *count, struct estimate *bytes, double sample_n, double period,
                       sqlite3_stmt *row, int column) {
    double blocks = sqlite3_column_double(row, column), sum = sqlite3_column_double(row, column + 1);
    if (blocks <= 0) return;
    double size = sum / blocks, p = seen_probability(sample_n, period, size);
    double variance = p > 0 ? blocks * (1 - p) / p : 0;
    count->value += blocks;
    count->variance += variance;
    bytes->value += sum;
    bytes->variance += variance * size * size;
}

static double half_width(const struct estimate *estimate) {
    return estimate->value > 0 ? 100 * NORMAL_95 * sqrt(estimate->variance) / estimate->value : 0;
}

int sampling_error_of(struct db *db, int64_t run_id, struct sampling_error *error, struct error *err) {
    enum { SAMPLE_N, PERIOD, ALLOCS, LIVE = ALLOCS + 2 };
    struct estimate allocs = {0}, alloc_bytes = {0}, live = {0}, live_bytes = {0};
    *error = (struct sampling_error){0};
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/sampled_sites.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        double sample_n = sqlite3_column_double(row, SAMPLE_N), period = sqlite3_column_double(row, PERIOD);
        add_blocks(&allocs, &alloc_bytes, sample_n, period, row, ALLOCS);
        add_blocks(&live, &live_bytes, sample_n, period, row, LIVE);
    }
    if (code < 0) return -1;
    *error = (struct sampling_error){half_width(&allocs), half_width(&alloc_bytes), half_width(&live),
                                     half_width(&live_bytes)};
    return allocs.value > 0;
}

static void add_part(struct buffer *text, const char *what, double percent) {
    if (percent > 0) buffer_printf(text, "%s%s ±%.2g %%", text->size ? ", " : "", what, percent);
}

void sampling_error_text(const struct sampling_error *error, struct buffer *text) {
    add_part(text, "allocations", error->allocs);
    add_part(text, "their bytes", error->alloc_bytes);
    add_part(text, "live blocks", error->live);
    add_part(text, "live bytes", error->live_bytes);
}

/* "with 1 % of the time ±56 %"; nothing where the samples are too few to tell such a function from none. */
static void add_share(struct buffer *text, double samples, double share) {
    double percent = 100 * NORMAL_95 * sqrt((1 - share) / (share * samples));
    if (percent >= 99.5) return;
    buffer_printf(text, "%swith %g %% of the time ±%.2g %%",
                  text->size ? ", " : "; in 95 of 100 runs the truth is within: a function ", 100 * share, percent);
}

int sampling_error_add_cpu(struct db *db, int64_t run_id, struct buffer *text, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/cpu_samples.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    if (db_step(db, row, err) != 1) return -1;
    int64_t samples = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
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
