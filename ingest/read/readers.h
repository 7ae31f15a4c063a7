/* readers.h: the formats that `clear ingest` reads, and how one is recognised.
 *
 * The room ingest/read turns files of foreign formats into rows. It promises:
 *   - A format is recognised by its content, never by a file's name.
 *   - One file is one run and one transaction: it is stored whole, or not at all. --lenient stores it without its
 *     broken records, and counts those.
 *   - Nothing in a file is trusted: offsets, counts, lengths, depth and inflated size are checked or bounded. What is
 *     wrong is an error that names the file and the line, column or byte.
 *
 * Each format is a struct of callbacks (struct format) that its own file defines, and a row of the table in
 * readers.c. */
#ifndef CLEAR_INGEST_READ_READERS_H
#define CLEAR_INGEST_READ_READERS_H

#include <stdbool.h>

#include "ingest/read/ingest.h"
#include "ingest/read/input.h"

struct format {
    const char *name; /* "pprof" */
    const char *help; /* one line: what it is and who writes it */
    /* Whether the input is of this format. Looks at its first bytes alone (of a directory: at its names), in constant
     * time and without allocating. */
    bool (*recognise)(const struct input *input);
    /* Calls ingest_begin_run once, then for each profile ingest_begin_profile and the adders. It runs inside a
     * transaction that is rolled back when it fails, so it never removes rows. */
    int (*read)(struct ingest *ingest, const struct input *input, struct error *err);
};

/* All formats, ends with NULL. The first that recognises an input reads it, so strict ones come before lenient ones:
 * binary magics, text headers, then folded stacks and profile.proto. */
extern const struct format *const formats[];

/* The format of an input; NULL where none recognises it. */
const struct format *format_find(const struct input *input);

extern const struct format format_pprof;           /* pprof/profile_proto.c */
extern const struct format format_otlp;            /* otlp/otlp.c */
extern const struct format format_folded;          /* folded_stacks.c */
extern const struct format format_legacy;          /* pprof/legacy.c */
extern const struct format format_perf_data;       /* perf/event_profiles.c */
extern const struct format format_chrome;          /* trace/chrome_trace.c */
extern const struct format format_perfetto;        /* trace/perfetto_trace.c */
extern const struct format format_go_trace;        /* gotrace/go_trace.c */
extern const struct format format_clear_dump;      /* dumps/clear_dumps.c */
extern const struct format format_run_text;        /* warehouse/read_run.c */
extern const struct format format_clear_directory; /* dumps/clear_dumps.c */

#endif
