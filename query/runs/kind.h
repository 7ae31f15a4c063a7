/* kind.h: the kinds of profile of a run, one table row each. Their samples are queries in schema/export. A kind that is not
 * in the table has its figures in the table `samples`, under the profile's own types. */
#ifndef CLEAR_QUERY_RUNS_KIND_H
#define CLEAR_QUERY_RUNS_KIND_H

#include <stdbool.h>

#include "schema/db.h"

struct kind {
    const char *name;  /* as in profiles.kind; the file in a run's directory is NAME.pb.gz */
    const char *query; /* in schema/: of one :profile where it is plain, else of :run, :kind, :from and :to */
    /* What the profile says where the recorder did not: */
    const char *default_type, *period_type, *period_unit;
    bool plain;        /* the query gives trace_id, label_set_id and values, nothing else */
    bool has_state;    /* some of its values are a state, to which windows before a span count (:counted is 0) */
    bool addressed;    /* recorded samples carry the address of their site as label `addr` */
    bool in_directory; /* belongs into NAME.profile/ */
    const char *of[2]; /* made of profiles of these kinds; NULLs: of its own */
};
extern const struct kind kinds[]; /* ends with a NULL name */

/* The row of that name, or the one for all other kinds. */
const struct kind *kind_find(const char *name);

/* Whether the figures of that kind have no stacks, and so are a table (counters) and no samples. */
bool kind_is_table(const char *name);

/* The kinds of profile that the kind `name` is made of: binds :kind and, where the statement has it, :also, NULL for none. */
void kind_bind(sqlite3_stmt *statement, const char *name);

#endif
