/* bulk.h: many rows with one step of a statement, in both directions.
 *
 * From memory into a table: SQLite reads them through a virtual table of this connection, `memory_rows` with the columns c0 to c31. It exists
 * from the first call on, and is in no file and in no view.
 *
 * To bind and step each row costs SQLite more than to store it. Measured with SQLite 3.40, in instructions per row, one by one,
 * sixteen in a VALUES, and here: traces 5,100, 3,250, 2,700; site_rows 8,000, 4,100, 3,400. */
#ifndef CLEAR_SCHEMA_BULK_H
#define CLEAR_SCHEMA_BULK_H

#include <stddef.h>

#include "schema/db.h"

enum { BULK_COLUMNS = 32 };

struct bulk {
    size_t count;     /* number of rows */
    const void *rows; /* passed to `value` */
    /* Passes `column` of row `row` to sqlite3_result_int64 or a function like it. A text may be SQLITE_STATIC if it lives until the
     * first column of the next row is read. Columns are read in the order of the statement. */
    void (*value)(sqlite3_context *result, const void *rows, size_t row, int column);
};

/* `sql` is "INSERT OR FAIL INTO table(…) SELECT c0, c1, … FROM memory_rows". With OR FAIL SQLite need not be able to
 * undo the statement: after an error some rows may be in the table, and the caller must roll back the transaction.
 * Rows are inserted in their order. Without rows it does nothing. */
int bulk_insert(struct db *db, const char *sql, const struct bulk *bulk, struct error *err);

/* From tables into memory: `sql` is "SELECT take_row(:into, column, ...) FROM ...", an aggregate that gives each row to `take`, in the order in
 * which SQLite reads them. A row that is a step of its own, and is asked for its columns one by one, takes 1.4 times as long. */
sqlite3_stmt *bulk_prepare(struct db *db, const char *sql, struct error *err); /* as db_prepare */
/* `values` are those of the columns, valid during the call. -1 with the error set ends the reading. */
typedef int bulk_take(void *context, sqlite3_value **values, struct error *err);
/* Gives all rows of a statement of bulk_prepare whose other parameters are bound, and resets it. */
int bulk_read(struct db *db, sqlite3_stmt *statement, bulk_take *take, void *context, struct error *err);

#endif
