/* load_rows.h: the samples of a kind of profile, run after run, into a profile that is being built: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_LOAD_ROWS_H
#define CLEAR_QUERY_PROFILE_LOAD_LOAD_ROWS_H

#include "query/profile/load/load_names.h"
#include "query/profile/load/load_types.h"
#include "query/profile/load/query_rows.h"
#include "query/profile/load/table_rows.h"
#include "query/runs/timespan.h"

struct load_rows {
    struct db *db;
    const char *kind;
    const struct load_types *types;
    struct profile_names *names; /* whose builder takes the samples, or whose stream */
    struct table_rows table;
    struct query_rows query;
    bool is_first;  /* nothing was added before: each row of a table is a sample of its own */
    bool is_stored; /* the run that is being read came in with sample types of its own */
};

void load_rows_open(struct load_rows *rows, struct profile_names *names, const char *kind,
                    const struct load_types *types);
void load_rows_free(struct load_rows *rows);

/* Adds what a run has in a span. `has_before`: what ends before the span was added already, its state too. */
int load_rows_add(struct load_rows *rows, int64_t run_id, const struct timespan *span, bool has_before,
                  struct error *err);
/* The names' stream gets the samples of a run that came in with sample types of its own, as they are. */
int load_rows_stream(struct load_rows *rows, int64_t run_id, struct error *err);

#endif
