/* kinds.h: the kinds of profile of a run (schema/kinds.h) as rows of samples. */
#ifndef CLEAR_EXPORT_KINDS_H
#define CLEAR_EXPORT_KINDS_H

#include "export/rows.h"
#include "query/runs/timespan.h"
#include "schema/db.h"
#include "schema/kinds.h"

/* Adds the profiles of the kind `name` of a run that a span takes to `rows`, which may be empty ({0}) or hold those of another run. */
int kind_read(struct rows *rows, struct db *db, int64_t run_id, const char *name, const struct timespan *span,
              struct error *err);

/* The same for rows that hold all before the span, its state too: only what ends in it is read. */
int kind_read_more(struct rows *rows, struct db *db, int64_t run_id, const char *name, const struct timespan *span,
                   struct error *err);

/* As export_write of one run, as pprof; a run without that kind gives a profile without samples. */
int export_kind(struct db *db, int64_t run_id, const struct kind *kind, const char *path, struct error *err);

#endif
