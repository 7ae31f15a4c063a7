/* load_query.h: the result of a query as a profile: rows are samples, columns are what query/profile/load/columns.h says. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_QUERY_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_QUERY_H

#include "query/profile/model.h"
#include "query/runs/run_set.h"
#include "query/sql/saved.h"

struct profile_query {
    const char *sql;
    const char *comment;             /* of the profile; NULL: `sql` */
    const struct saved_query *saved; /* the one that `sql` is from, whose defaults count; NULL for none */
    char *const *arguments;          /* NAME=VALUE for its parameters; not for :run */
    size_t argument_count;
    const struct run_set *runs; /* the values of its :run; it then runs once for each. May be empty */
};

/* Exact (query/profile/build.h), with samples of nothing too. On failure there is nothing to free. */
int profile_load_query(struct profile *profile, struct db *db, const struct profile_query *query, struct error *err);

#endif
