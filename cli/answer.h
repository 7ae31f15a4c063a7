/* answer.h: SQL that a person wrote, or a saved query, answered as a table on standard output, under the guard of
 * query/sql/ask.h: `clear query` and the prompt of `clear report`. */
#ifndef CLEAR_CLI_ANSWER_H
#define CLEAR_CLI_ANSWER_H

#include "query/sql/ask.h"
#include "query/sql/result_table.h"

struct answer_options {
    struct table_options table;
    int64_t timeout_ns; /* 0: no limit */
    const char *run;    /* "run=3", for a parameter :run that the arguments leave out; NULL: the latest run */
};

/* Each of `arguments` is the NAME=VALUE of a parameter. What SQLite does not understand is pointed at on standard error. */
int answer_sql(struct db *db, const struct answer_options *options, const char *sql, char *const *arguments,
               size_t count, struct error *err);
/* The query that was saved under that name. */
int answer_saved(struct db *db, const struct answer_options *options, const char *name, char *const *arguments,
                 size_t count, struct error *err);

#endif
