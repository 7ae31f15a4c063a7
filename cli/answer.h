/* answer.h: runs a user's SQL or a saved query and prints the result as a table on standard output: for `clear query`
 * and the prompt of `clear report`. The SQL is read-only and limited in time (query/sql/ask.h). */
#ifndef CLEAR_CLI_ANSWER_H
#define CLEAR_CLI_ANSWER_H

#include "query/sql/ask.h"
#include "query/sql/result_table.h"

struct answer_options {
    struct table_options table;
    int64_t timeout_ns; /* 0: no limit */
    const char *run;    /* "run=3": the default of the parameter :run; NULL: the latest run */
    bool is_of_no_run;  /* of a team's store none is needed */
};

/* Each of `arguments` is NAME=VALUE for a parameter. 0, or -1 with the error set; the place of a syntax error is
 * printed on standard error. */
int answer_sql(struct db *db, const struct answer_options *options, const char *sql, char *const *arguments,
               size_t count, struct error *err);
/* The same for the saved query of that name. */
int answer_saved(struct db *db, const struct answer_options *options, const char *name, char *const *arguments,
                 size_t count, struct error *err);

/* SQL for the team's store at an address, over the runs of a project. */
int answer_remote(const char *address, const char *project, const struct answer_options *options, const char *sql,
                  char *const *arguments, size_t count, struct error *err);

#endif
