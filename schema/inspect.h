/* inspect.h: compares the tables and views of an open file with those that this program would make.
 *
 * A file may come from a stranger. Where a table of clear is a view, or a view of clear has another text, reading it could cost any
 * time and give any answer. Views and triggers with other names belong to users. */
#ifndef CLEAR_SCHEMA_INSPECT_H
#define CLEAR_SCHEMA_INSPECT_H

#include "base/buffer.h"
#include "schema/db.h"

/* A failure that names a table of clear that is missing, is something else than an ordinary table, or has a computed column. For files
 * of this version only. */
int inspect_tables(struct db *db, struct error *err);

/* The same for a file of the earlier version, which need not have all tables. */
int inspect_older(struct db *db, int64_t version, struct error *err);

/* Before rows are written to a file of this version: a failure that names a table of clear with a constraint or a default value that
 * computes, or an index on one that does, unless clear made it. Columns of users without such things may be there. Triggers do not
 * matter: none runs (schema/db.c). */
int inspect_computing(struct db *db, struct error *err);

/* Adds the rows of sqlite_schema: of two files that have the same here, all these looks say the same. */
int inspect_write(struct db *db, struct buffer *schema, struct error *err);

/* *own: every view of clear is in the file with the text that the program has. `doctor` is not compared (schema/diagnoses.h). */
int inspect_views(struct db *db, bool *own, struct error *err);

#endif
