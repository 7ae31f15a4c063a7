/* export.h: everything that goes out of the warehouse as a file. All of it reads tables and views only. */
#ifndef CLEAR_EXPORT_EXPORT_H
#define CLEAR_EXPORT_EXPORT_H

#include "schema/db.h"

/* One kind of one run ("heap", "lock", …) as a gzipped pprof profile; all processes of the run together. Sample
 * types and period as DESIGN.md section 6 lists them. A run without that kind is a failure that names the kinds it has. */
int export_run(struct db *db, int64_t run_id, const char *kind, const char *path, struct error *err);

/* The result of any query as a profile: columns `trace_id`, `TYPE/UNIT` …, as section 6 says. The SQL stands in the
 * profile as a comment. */
int export_sql(struct db *db, const char *sql, const char *path, struct error *err);

/* The directory `NAME.profile/` of a run: text dumps and .pb.gz of every kind it has. Replaced whole: a new directory
 * is filled beside it and exchanged by rename(2), so that a reader sees the old one or the new one. */
int export_directory(struct db *db, int64_t run_id, const char *directory, struct error *err);

#endif
