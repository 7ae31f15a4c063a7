/* sampling_error.h: how far the figures of a sampled run may be from the truth, which is what the run had without sampling.
 *
 * A block of s bytes is seen with the probability p = 1 - exp(-s / period) where a run is sampled by size, and p = 1 / N where one event in N
 * is recorded; it counts 1 / p times. So a stack that is estimated to have n blocks of s bytes has the variance n (1 - p) / p of that number,
 * and s^2 times as much of its bytes. Stacks are independent. s is the mean size of the stack's blocks, which holds for bytes: their variance
 * is at most the period times the bytes, whatever the sizes are. Of the number of blocks it holds where a stack has blocks of one size; a
 * recorder sums up w (w - 1) over the blocks that it sees, which count w times, and that is their variance.
 * Of a run with a budget, whose rate changed, it sums up w (w - 1) s^2 too, and the interval of the bytes of the whole run is by that; that of a
 * single figure by the longest period that there was, so it is too wide rather than too narrow.
 *
 * Few samples: what was seen says too little of how much it varies, most of all where nothing was seen. So 1.96^2 / 2 samples more are
 * counted in the variance (Agresti and Coull 1998), of CPU time for the function and for the others. 95 % intervals of binomial numbers
 * then hold in 93 to 99 of 100 cases from a mean of 1 on, and without it in 63 of a mean of 1. Sampled by size, such a sample stands for the
 * period in bytes, and for period / s blocks: s is 16 bytes, which few blocks of malloc are smaller than, or a quarter of the mean size of the
 * stack with the smallest. With 16 alone the number of 10^6 blocks, 40 % of them of 1 to 16 bytes, was right in 85 to 91 of 100 runs.
 *
 * Not told: bytes where one event in N is recorded, because a few large blocks that were not seen may be most of them; and of a heap what is
 * wider than 40 % of the figure: a limit picks the runs whose figure is too large. With one of all of it, 12 of 100 were told, of which 3 held; with
 * half of it 4 of 100 numbers of live blocks of --sample=512KiB, at 41 to 49 %, of which none did. Those of 64KiB, at 25 to 37 %, held in 99 of 100. */
#ifndef CLEAR_QUERY_RUNS_SAMPLING_ERROR_H
#define CLEAR_QUERY_RUNS_SAMPLING_ERROR_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "schema/db.h"

/* In 95 of 100 runs the truth lies within so many percent of the estimate of the whole run; 0: it is exact, or it is not known. */
struct sampling_error {
    double allocs, alloc_bytes, live, live_bytes;
};

/* 1; 0 for a run that is not sampled, or has no allocations: then all are 0; -1 with the error set. */
int sampling_error_of(struct db *db, int64_t run_id, struct sampling_error *error, struct error *err);
/* The variance of a number of blocks that have so many bytes together; of their bytes it is the square of the mean size times as much. 0
 * where each was recorded: sample_n at most 1, and a period of 0 (no sampling by size). */
double sampling_error_variance(double sample_n, double period, double blocks, double bytes);
/* Adds what is known of them, for people, nothing where that is nothing: "allocations 2.1 %, their bytes 0.84 %, ...": per cent of the value. The sign ± is for points (sampling_scale_margin). */
void sampling_error_text(const struct sampling_error *error, struct buffer *text);

/* Of a CPU profile: where n samples were taken and a function has the share p of the processor time, it has n p of them, with the variance
 * n p (1 - p). Samples of one expiry of a timer are of one moment: n is what the recorder says of how many are independent. Adds "1,204 CPU samples,
 * as exact as 301; ... a function with 10 % of the time to 34 %"; nothing where there are none, and no interval where a recorder did not say n.
 * -1 with the error set. */
int sampling_error_add_cpu(struct db *db, int64_t run_id, struct buffer *text, struct error *err);

/* How far a single figure of a run may be off: its variance is so many times the figure. */
struct sampling_scale {
    double
        variance; /* of a figure of 1, or what an independent sample stands for; 0: the figures are exact, or no bound is known for each */
    double whole; /* the run's total, of CPU time, where the samples are divided among the figures; 0: of the heap */
};

/* Of the figures of that kind and sample type ("cpu" and "cpu", "heap" and "inuse_space"), in the unit of the type: of CPU time, of bytes of a
 * heap that was sampled by size (there an upper bound), and of numbers of blocks where one event in N was recorded. The error of the other
 * figures of a sampled heap depends on the sizes of a function's blocks. -1 with the error set. */
int sampling_scale_of(struct db *db, int64_t run_id, const char *kind, const char *type, struct sampling_scale *scale,
                      struct error *err);
/* In 95 of 100 runs the truth lies within so much of the value, in its unit. */
double sampling_scale_error(const struct sampling_scale *scale, double value);
/* The same in points of percent of `total`, "±2.1%"; empty where samples cannot tell it (a function that met none of them, or all), and
 * where no error is known. */
struct sampling_margin {
    char text[32];
};
struct sampling_margin sampling_scale_margin(const struct sampling_scale *scale, double value, double total);

#endif
