/* walk.h: reads rows of a table by their ids, which mostly come in ascending order.
 *
 * A look-up for each row costs 22,000 instructions on a page of `traces`, because SQLite checks all cells of a page again when a
 * statement returns to it; a step to the next row costs 1,000. So one statement walks the table, and is restarted if the next
 * id is before the current row or far behind it. */
#ifndef CLEAR_SCHEMA_WALK_H
#define CLEAR_SCHEMA_WALK_H

#include "schema/db.h"

struct walk {         /* zeroed at the start */
    sqlite3_stmt *at; /* is at the row of `id`; its columns are valid until the next call */
    int64_t id;       /* 0: at no row */
};

/* Goes to the row `id`. `sql` must be the same in all calls on a walk. It returns rows from id :first on in ascending order, with the id
 * in the first column; of several rows with one id the walk is at the first. The statement is db_prepare's cached one, so there can
 * be one walk per text at a time. 1: found, 0: there is no such row, -1: the error is set. */
int walk_to(struct db *db, struct walk *walk, const char *sql, int64_t id, struct error *err);
/* The same for a row that must exist: 0, or -1 with an error in which `what` is the kind of row ("trace 12 is not in the warehouse"). */
int walk_to_row(struct db *db, struct walk *walk, const char *sql, const char *what, int64_t id, struct error *err);
/* Goes to the next row. -1: the error is set. */
int walk_next(struct db *db, struct walk *walk, struct error *err);
void walk_end(struct walk *walk);

#endif
