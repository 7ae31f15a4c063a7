/* suggest.h: what a message about SQL adds when a column or a table is not known. */
#ifndef CLEAR_QUERY_SQL_SUGGEST_H
#define CLEAR_QUERY_SQL_SUGGEST_H

#include "base/buffer.h"
#include "schema/db.h"

/* `message` is SQLite's. For "no such column" adds the columns of the tables and views that `sql` names, the most similar
 * one first; for "no such table" the most similar name. Adds nothing to other messages. */
void suggest_names(struct db *db, const char *sql, const char *message, struct buffer *out);

#endif
