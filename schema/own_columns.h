/* own_columns.h: the columns of clear's own tables, and of which tables they name rows, as SQLite reads it from the schema of an empty warehouse. The build
 * writes them down (schema/write_empty.c): to ask SQLite for those of the tables that are copied takes 9 million instructions, a tenth of recording `true`. */
#ifndef CLEAR_SCHEMA_OWN_COLUMNS_H
#define CLEAR_SCHEMA_OWN_COLUMNS_H

#include <stdbool.h>

/* `type`: INTEGER, REAL, TEXT or BLOB. `target`: the table of which the column names a row by its id; "": of none. */
struct own_column {
    const char *table, *name, *type, *target;
};

/* The next one, by the names of the tables and in their order there; the first one after zeros. False: that was the last. */
bool own_columns_next(struct own_column *column);

#endif
