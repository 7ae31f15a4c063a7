/* limit.h: the largest size of one input file after decompression, and of one report or response.
 *
 * A small file can hold much: repeated text inflates a thousand times, and stacks that share their frames are written out for each
 * sample. Readers and writers ask here before they take more. One limit for the process, which the option --limit sets. */
#ifndef CLEAR_BASE_LIMIT_H
#define CLEAR_BASE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* 512 MiB: the stacks of a million samples as text. */
#define LIMIT_DEFAULT (INT64_C(512) << 20)

/* 0: no limit. */
void limit_set(int64_t bytes);
/* A failure that names the limit and --limit, if `what` ("the report") takes more bytes. */
int limit_check(const char *what, uint64_t bytes, struct error *err);

/* The bytes that a compressed file of `size` bytes may inflate to: 64 times its size, at least 64 MiB; more where the limit was
 * raised. Profiles inflate 3 to 20 times. */
uint64_t limit_inflated(uint64_t size);
int limit_inflated_fail(const char *path, uint64_t size, struct error *err); /* a failure that says so */

#endif
