/* sampling_error.h: how far the figures of a sampled run may be from the truth, which is what the run had without sampling.
 *
 * A block of s bytes is seen with the probability p = 1 - exp(-s / period) where a run is sampled by size, and p = 1 / N where one event in N
 * is recorded; it counts 1 / p times. So a stack that is estimated to have n blocks of s bytes has the variance n (1 - p) / p of that number,
 * and s^2 times as much of its bytes. Stacks are independent. s is the mean size of the stack's blocks: where they differ, the figures of
 * bytes hold, and those of numbers of blocks are too small, because small blocks are the ones that are seldom seen. */
#ifndef CLEAR_QUERY_RUNS_SAMPLING_ERROR_H
#define CLEAR_QUERY_RUNS_SAMPLING_ERROR_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "schema/db.h"

/* In 95 of 100 runs the truth lies within so many percent of the estimate of the whole run; 0: it is exact, or there is none. */
struct sampling_error {
    double allocs, alloc_bytes, live, live_bytes;
};

/* 1; 0 for a run that is not sampled, or has no allocations: then all are 0; -1 with the error set. */
int sampling_error_of(struct db *db, int64_t run_id, struct sampling_error *error, struct error *err);
/* The variance of a number of blocks that have so many bytes together; of their bytes it is the square of the mean size times as much. 0
 * where each was recorded: sample_n at most 1, and a period of 0 (no sampling by size). */
double sampling_error_variance(double sample_n, double period, double blocks, double bytes);
/* Adds what is not exact, for people: "allocations 2.1 %, their bytes 0.84 %, ...": per cent of the value. The sign ± is for points (sampling_scale_margin). */
void sampling_error_text(const struct sampling_error *error, struct buffer *text);

/* Of a CPU profile: where n samples were taken and a function has the share p of the processor time, it has n p of them, with the variance
 * n p (1 - p). Adds "1,204 CPU samples; ... a function with 10 % of the time to 17 %, with 1 % of the time to 56 %"; nothing where there are none. -1 with
 * the error set. */
int sampling_error_add_cpu(struct db *db, int64_t run_id, struct buffer *text, struct error *err);

/* How far a single figure of a run may be off: its variance is so many times the figure. */
struct sampling_scale {
    double variance; /* of a figure of 1; 0: the figures are exact, or no bound is known that holds for each */
    double whole;    /* the run's total, of CPU time, where the samples are divided among the figures; 0: of the heap */
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
