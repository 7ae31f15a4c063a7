/* format.h: the formats of files by name, for `clear export --format NAME`, `clear report NAME` and clear serve alike.
 *
 * A format is one row of export_formats and one file. Most are encoders: a report_format (query/report/report.h) whose function
 * adds text to a buffer, from a profile that was filtered as the options say. The same word with the same options gives
 * the same bytes whichever command said it. */
#ifndef CLEAR_EXPORT_FORMAT_H
#define CLEAR_EXPORT_FORMAT_H

#include "query/report/report.h"
#include "query/runs/timespan.h"
#include "schema/db.h"

struct export_format {
    /* Where `write` is NULL, no report can be made of it: it is the profile itself as it is stored, or … */
    struct report_format report;
    /* … the same in other bytes, which this adds to `out`: all kinds of a run, where none is chosen, or … */
    int (*stored)(const struct profile *profiles, size_t count, struct buffer *out, struct error *err);
    /* … files of a run, written by what is called here, or … */
    int (*dump)(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                struct error *err);
    const char *kind; /* of which `dump` is; NULL: of any, --kind says which */
    /* … something that is about the warehouse and no profile. */
    int (*about)(struct db *db, const char *path, struct error *err);
};
extern const struct export_format export_formats[]; /* ends with a NULL name; the first is pprof */

/* The format of that name, or NULL with a usage error that lists them. */
const struct export_format *export_format_find(const char *name, struct error *err);

/* Every report there is, by number from 0: those of report_formats, then the encoders; NULL after the last. */
const struct report_format *report_format_at(size_t index);
const struct report_format *report_format_named(const char *name); /* exact; NULL: there is none */
/* The row of "text", or of "peek=RE" (then *symbol points at RE, else it is NULL). Unknown names are usage errors that
 * list what there is. */
const struct report_format *report_format_find(const char *text, const char **symbol, struct error *err);

/* ---- the encoders ---- */
int otlp_write(const struct profile *profiles, size_t count, struct buffer *out, struct error *err);
int proto_write(struct report *report, struct buffer *out, struct error *err);
int topproto_write(struct report *report, struct buffer *out, struct error *err);
int folded_write(struct report *report, struct buffer *out, struct error *err);
int flamegraph_write(struct report *report, struct buffer *out, struct error *err);
int speedscope_write(struct report *report, struct buffer *out, struct error *err);
int csv_write(struct report *report, struct buffer *out, struct error *err);
int samples_write(struct report *report, struct buffer *out, struct error *err);
int callgrind_write(struct report *report, struct buffer *out, struct error *err);
int dot_write(struct report *report, struct buffer *out, struct error *err);
int picture_write(struct report *report, struct buffer *out, struct error *err); /* the format's name is graphviz's */
int pack_write(struct report *report, struct buffer *out, struct error *err);
int json_write(struct report *report, struct buffer *out, struct error *err);
int memory_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                 struct error *err); /* SVG */
int chrome_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                 struct error *err); /* of a run with --trace */
int perfetto_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                   struct error *err); /* of a run with --trace */
int firefox_write(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                  struct error *err); /* of a run with --trace */
int datasette_metadata(struct db *db, const char *path, struct error *err);

#endif
