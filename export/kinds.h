/* kinds.h: the kinds of profile of a run that can be written as pprof, one table row each. Their samples are queries in
 * schema/export, in the columns of export_sql. */
#ifndef CLEAR_EXPORT_KINDS_H
#define CLEAR_EXPORT_KINDS_H

#include "schema/db.h"

struct kind {
    const char *name;  /* as in profiles.kind; the file in a run's directory is NAME.pb.gz */
    const char *query; /* in schema/ */
    /* What the profile says where the recorder did not: */
    const char *default_type, *period_type, *period_unit;
};
extern const struct kind kinds[]; /* ends with a NULL name */

/* As export_run, but a run without that kind gives a profile without samples. */
int export_kind(struct db *db, int64_t run_id, const struct kind *kind, const char *path, struct error *err);

#endif
