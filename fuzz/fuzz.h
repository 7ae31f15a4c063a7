/* fuzz.h: one input through one reader into a warehouse in memory. A reader may refuse anything, but it may not crash, leak,
 * or leave rows of what it refused. */
#ifndef CLEAR_FUZZ_FUZZ_H
#define CLEAR_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/read/readers.h"

int fuzz_one(const struct format *format, const uint8_t *data, size_t size);
void fuzz_path(const struct format *format, const char *path); /* the same with what stands there, as a directory */

/* What takes the place of a command that serve/ starts; NULL: it is started. The targets whose commands would be themselves set it, and have
 * one stand-in for job_start together: the program that replays all of them can have one alone. */
struct job;
extern void (*fuzz_job)(struct job *job);

#endif
