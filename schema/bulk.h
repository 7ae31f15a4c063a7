/* bulk.h: many rows out of memory into a table, in one statement. SQLite reads them through a table-valued module of this
 * connection, `memory_rows` with columns c0 to c15, which exists from the first call on, is in no file and in no view.
 *
 * A row that is bound and stepped alone costs SQLite more to start and end its statement than to store: measured with
 * SQLite 3.40, in instructions a row: traces 5,100 alone, 3,250 by sixteen in a VALUES, 2,700 so; site_rows 8,000, 4,100, 3,400. */
#ifndef CLEAR_SCHEMA_BULK_H
#define CLEAR_SCHEMA_BULK_H

#include <stddef.h>

#include "schema/db.h"

enum { BULK_COLUMNS = 16 };

struct bulk {
    size_t count;     /* of rows */
    const void *rows; /* whatever `value` makes of it */
    /* Gives `column` of row `row` to sqlite3_result_int64 or another of its kind; nothing is NULL. A text may be SQLITE_STATIC if it
     * is good until the first column of the next row is asked for. Columns are asked for in the order of the statement. */
    void (*value)(sqlite3_context *result, const void *rows, size_t row, int column);
};

/* `sql` is a literal: "INSERT OR FAIL INTO table(…) SELECT c0, c1, … FROM memory_rows". OR FAIL saves SQLite from keeping what the
 * statement changes until it ends; so after an error some rows may be there, and the transaction must be rolled back.
 * Rows are put in from the first to the last. No rows: nothing is done. */
int bulk_insert(struct db *db, const char *sql, const struct bulk *bulk, struct error *err);

#endif
