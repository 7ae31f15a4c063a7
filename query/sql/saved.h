/* saved.h: finds, lists, saves and removes saved queries by name, and binds their typed parameters. schema/queries.h says what a
 * saved query is and where it comes from. */
#ifndef CLEAR_QUERY_SQL_SAVED_H
#define CLEAR_QUERY_SQL_SAVED_H

#include "query/sql/ask.h"
#include "schema/queries.h"

/* The saved query of that name (without the '@' of the command line); the caller calls queries_free. An unknown name is a usage
 * error with the nearest known name. Call it before ask_open. */
int saved_find(struct db *db, const char *name, struct saved_query *query, struct error *err);

/* Binds the parameters of the statement that was prepared from the query's SQL: from `arguments`, each NAME=VALUE, else from the
 * defaults. A value of the wrong type, a missing one and an unused one are usage errors. A parameter that the query does not
 * declare is bound as by ask_bind. */
int saved_bind(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *query, char *const *arguments,
               size_t count, struct error *err);

/* A SELECT without parameters whose rows are the saved queries: name, params (such as "run=latest top=20"), description. */
const char *saved_list_sql(void);

/* saved_save stores SQL that ask_prepare accepts in a database that is open for writing. It declares each parameter: `run` as a
 * run, any other with the type of its argument NAME=VALUE, which becomes the default; without an argument as text. saved_forget
 * removes a query. Both refuse the names of clear's own queries. */
int saved_save(struct db *db, const char *name, const char *description, const char *sql, char *const *arguments,
               size_t count, struct error *err);
int saved_forget(struct db *db, const char *name, struct error *err);

#endif
