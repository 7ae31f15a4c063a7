/* export.h: everything that goes out of the warehouse as a file. All of it reads tables and views only, in one snapshot. */
#ifndef CLEAR_EXPORT_EXPORT_H
#define CLEAR_EXPORT_EXPORT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "query/runs/run_set.h"
#include "query/runs/timespan.h"
#include "schema/db.h"

struct export_format;
struct report_options;
struct profile_series;
struct saved_query;

/* Where samples come from: one kind ("heap", "lock", ...) of some runs, all their processes together, or a query.
 * A run without that kind is a failure that names the kinds it has. */
struct export_source {
    const char *kind;             /* NULL: `sql` */
    struct timespan_request span; /* of each run of a kind: which windows; zeroed for all */
    const struct timespan *exact; /* not NULL: these, and `span` is not used */
    struct run_set runs; /* owned. For a query, the values of its :run, which then runs once for each; may be empty */
    const char *sql;     /* columns as README.md lists them */
    const char *comment; /* of a query: what the profile says of itself; NULL: `sql` */
    const struct saved_query *query; /* the one that `sql` is from, whose defaults count; NULL for none */
    char *const *arguments;          /* NAME=VALUE for its parameters; not for :run */
    size_t argument_count;
};

struct export_request {
    struct export_source source, base; /* the base is taken away where has_base */
    bool has_base;
    bool is_diff;     /* samples of the base keep their mark, which percentages are of, in every format */
    bool allows_none; /* a run that has nothing of the kind (yet) gives a profile without samples, no failure */
    struct profile_series *series;        /* not NULL: of one run, what came since (query/profile/load/series.h) */
    const struct export_format *format;   /* NULL: pprof */
    const struct report_options *options; /* of every other format; NULL: as they are preset */
    const char *type;     /* what pprof shows first, and a format with a single value alone; NULL: as `options` say */
    const char *title;    /* of a picture; NULL: one that is made of the source */
    int level;            /* gzip's, 1 to 9; 0 is the default */
    const char *path;     /* "-" is standard output */
    struct buffer *bytes; /* not NULL: what would be written to a file is added here, and `path` is not used */
};

/* A failure that lists the kinds that the run has, where this is none of them. */
int export_check(struct db *db, int64_t run_id, const char *kind, struct error *err);

int export_write(struct db *db, const struct export_request *request, struct error *err);

/* The directory `NAME.profile/` of a run: text dumps and .pb.gz of every kind it has. Replaced whole: a new directory
 * is filled beside it and exchanged by rename(2), so that a reader sees the old one or the new one. */
int export_directory(struct db *db, int64_t run_id, const char *directory, struct error *err);
/* Could it be written? Checked before a program runs, so that a wrong name costs no run. Nothing is left. */
int export_directory_check(const char *directory, struct error *err);

#endif
