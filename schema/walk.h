/* walk.h: rows of a table by their ids, which are mostly asked for in rising order.
 *
 * A look-up of its own for each row costs 22,000 instructions on a page of `traces` (SQLite checks all cells of a page again whenever
 * a statement comes back to it), a step to the next row 1,000: so one statement walks the table, and starts anew where
 * the id asked for is behind or far ahead. */
#ifndef CLEAR_SCHEMA_WALK_H
#define CLEAR_SCHEMA_WALK_H

#include "schema/db.h"

struct walk {         /* zeroed to begin with */
    sqlite3_stmt *at; /* stands on the row of `id`; columns are read from it, good until the next call */
    int64_t id;       /* 0: it stands on none */
};

/* `sql`, the same for all calls on a walk, gives rows from id :first on, rising, the id in its first column; several rows may
 * have one id, then it stands on the first. The statement is the one that db_prepare keeps, so of one text one walk can be under
 * way. 1: there is such a row, 0: there is none, -1: the error is set. */
int walk_to(struct db *db, struct walk *walk, const char *sql, int64_t id, struct error *err);
/* The same where there must be one: 0, or -1 with an error that calls the row a `what` ("trace 12 is not in the warehouse"). */
int walk_to_row(struct db *db, struct walk *walk, const char *sql, const char *what, int64_t id, struct error *err);
/* To the row after it. -1: the error is set. */
int walk_on(struct db *db, struct walk *walk, struct error *err);
void walk_end(struct walk *walk);

#endif
