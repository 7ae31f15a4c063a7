/* query_rows.h: rows of a query as samples of a profile that is being built; what each column is for says query/profile/load/columns.h. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_QUERY_ROWS_H
#define CLEAR_QUERY_PROFILE_LOAD_QUERY_ROWS_H

#include "base/buffer.h"
#include "query/profile/load/columns.h"
#include "query/profile/load/load_names.h"

struct query_rows {
    struct query_columns columns;
    struct profile_names *names; /* the builder's sample types are those of query_rows_types */
    int64_t row;                 /* the one last added, from 1 */
    bool keeps_zero;             /* rows without any value too */
    bool names_empty;            /* a sample without any frame gets one, [no stack]: pprof leaves out what has none */
    bool has_frames, has_labels; /* beside trace_id and label_set_id */
    int64_t *values;             /* [columns.slots + 1] */
    struct buffer frames, labels;
};

/* The columns of a statement. The same rows may take the results of several, as long as their columns are the same. */
int query_rows_open(struct query_rows *rows, sqlite3_stmt *statement, struct error *err);
void query_rows_free(struct query_rows *rows);

/* The types that values may come to have, one for each column that is or may become one; and, for a query without any, the count of
 * rows. free() the array. */
struct profile_type *query_rows_types(const struct query_rows *rows, size_t *count);
/* Of these, those that turned out to be values, in order. free() the array. */
size_t *query_rows_values(const struct query_rows *rows, size_t *count);

/* Adds the row on which the statement stands. */
int query_rows_add(struct query_rows *rows, sqlite3_stmt *statement, struct error *err);

#endif
