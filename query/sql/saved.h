/* saved.h: saved queries by name: found, listed, kept and forgotten; and their typed parameters. Their shape, and where
 * they come from, is in schema/queries.h. */
#ifndef CLEAR_QUERY_SQL_SAVED_H
#define CLEAR_QUERY_SQL_SAVED_H

#include "query/sql/ask.h"
#include "schema/queries.h"

/* The saved query of that name (without the '@' that stands before it on a command line); queries_free it. An unknown
 * name is a usage error that names the nearest. Call it before ask_open. */
int saved_find(struct db *db, const char *name, struct saved_query *query, struct error *err);

/* Binds the parameters of the statement that was prepared from the query's SQL: from `arguments`, each NAME=VALUE, else
 * from the defaults. A value that has not the parameter's type, a missing and a left-over one are usage errors. A
 * parameter that the query does not declare is bound as ask_bind does. */
int saved_bind(struct ask *ask, sqlite3_stmt *statement, const struct saved_query *query, char *const *arguments,
               size_t count, struct error *err);

/* SQL without parameters whose rows are the saved queries: name, params (as "run=latest top=20"), description. */
const char *saved_list_sql(void);

/* Puts SQL that ask_prepare takes into a database that is open for writing. Each of its parameters is declared: `run` as a run, the
 * others with the type of the argument NAME=VALUE, which becomes the default; text without one. A name of clear's own is
 * refused. */
int saved_save(struct db *db, const char *name, const char *description, const char *sql, char *const *arguments,
               size_t count, struct error *err);
int saved_forget(struct db *db, const char *name, struct error *err);

#endif
