/* number.h: parses numbers with units. `name` is what messages call the number ("--depth"). Text that is not a number,
 * or out of range, is a usage error.
 *   count    1000, 10k, 5M
 *   bytes    4096, 512KiB, 1M, 2GB (K, KB and KiB are all 1024)
 *   duration 1, 0.5, 250ms, 2s, 5m, 1h, 30d, 4w (without a unit seconds), in nanoseconds */
#ifndef CLEAR_BASE_NUMBER_H
#define CLEAR_BASE_NUMBER_H

#include <stdint.h>

#include "base/error.h"
#include "base/units.h"

int number_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int number_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int number_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err);

/* A limit in bytes for messages, as a whole number in the largest unit that it is a multiple of: 512 MiB, 1500 KiB, 3001 B. */
struct units_text number_limit(int64_t bytes);

#endif
