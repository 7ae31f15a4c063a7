/* sum.h: 64-bit sums that never wrap unseen. */
#ifndef CLEAR_BASE_SUM_H
#define CLEAR_BASE_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* Adds `value` to `*sum`. Sets `*overflows` where 64 bits do not hold the result, and leaves it alone otherwise: check it after the
 * last addition. */
static inline void sum_add(int64_t *sum, int64_t value, bool *overflows) {
    if (__builtin_add_overflow(*sum, value, sum)) *overflows = true;
}

/* Adds, or stays at the end of the range. */
static inline void sum_add_capped(int64_t *sum, int64_t value) {
    if (__builtin_add_overflow(*sum, value, sum)) *sum = value > 0 ? INT64_MAX : INT64_MIN;
}

/* The whole part of a number; the nearest end of the range where 64 bits do not hold it, 0 for NaN. */
static inline int64_t sum_from_real(double number) {
    if (number >= 0x1p63) return INT64_MAX;
    if (number <= -0x1p63) return INT64_MIN;
    return number == number ? (int64_t)number : 0;
}

#endif
