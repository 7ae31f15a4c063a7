/* number.h: numbers with units, as people write them. `name` is what the message calls it ("--depth"). Out of range or
 * not a number: a usage error.
 *   count    1000, 10k, 5M
 *   bytes    4096, 512KiB, 1M, 2GB (K, KB and KiB are all 1024)
 *   duration 1, 0.5, 250ms, 2s, 5m, 1h (no unit is seconds), in nanoseconds */
#ifndef CLEAR_BASE_NUMBER_H
#define CLEAR_BASE_NUMBER_H

#include <stdint.h>

#include "base/error.h"

int number_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int number_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int number_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err);

#endif
