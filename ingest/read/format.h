/* format.h: the formats that `clear ingest` reads: one struct of callbacks a format, one row each in the table of
 * ingest/read/formats.c. A format is recognised by content, never by name; the first row that recognises wins, so the strict
 * ones stand before the lenient ones (binary magics, text headers, then profile.proto, then folded stacks). */
#ifndef CLEAR_INGEST_READ_FORMAT_H
#define CLEAR_INGEST_READ_FORMAT_H

#include "ingest/read/ingest.h"
#include "ingest/read/input.h"

struct format {
    const char *name; /* "pprof" */
    const char *help; /* one line: what it is and who writes it */
    /* Looks at the first bytes (or the names in the directory) alone: constant time, no allocation. */
    bool (*recognise)(const struct input *input);
    /* Calls ingest_begin_run once, then for each profile ingest_begin_profile and the adders. Runs inside a transaction
     * that is rolled back where this fails, so it never cleans up rows. Bounds everything that it takes from the input:
     * offsets, counts, lengths, depth. */
    int (*read)(struct ingest *ingest, const struct input *input, struct error *err);
};

extern const struct format *const formats[]; /* ends with NULL */

const struct format *format_find(const struct input *input); /* NULL where none recognises it */

#endif
