/* format.h: the formats of `clear export`, one table row and one file each. A format other than pprof is a function that
 * reads the finished profile (export/model.h) and adds text to a buffer. */
#ifndef CLEAR_EXPORT_FORMAT_H
#define CLEAR_EXPORT_FORMAT_H

#include "export/model.h"
#include "query/runs/timespan.h"
#include "schema/db.h"

/* A picture or a text on its way out. */
struct drawing {
    const struct model *model;
    const char *title;
    struct buffer *out;
};

struct export_format {
    const char *name;
    const char *suffix; /* of a file, with the dot */
    const char *help;   /* one line */
    /* Of a profile. NULL: the profile itself, gzipped, or … */
    int (*render)(const struct drawing *drawing, struct error *err);
    /* … files of a run, written by what is called here: */
    int (*dump)(struct db *db, int64_t run_id, const struct timespan *span, const char *kind, const char *path,
                struct error *err);
    /* … or something that is about the warehouse and no profile. */
    int (*about)(struct db *db, const char *path, struct error *err);
};
extern const struct export_format export_formats[]; /* ends with a NULL name; the first is pprof */

/* The format of that name, or NULL with a usage error that lists them. */
const struct export_format *export_format_find(const char *name, struct error *err);
int format_write(const struct export_format *format, const struct model *model, const char *title, struct buffer *out,
                 struct error *err);

int folded_render(const struct drawing *drawing, struct error *err);
int flamegraph_render(const struct drawing *drawing, struct error *err);
int callgrind_render(const struct drawing *drawing, struct error *err);
int speedscope_render(const struct drawing *drawing, struct error *err);
int dot_render(const struct drawing *drawing, struct error *err);
int csv_render(const struct drawing *drawing, struct error *err);
int json_render(const struct drawing *drawing, struct error *err);
int datasette_metadata(struct db *db, const char *path, struct error *err);

#endif
