/* empty_file.h: an empty warehouse, byte for byte as a file of it is when it was made and closed: with its tables, views, rules and queries. The build makes
 * it (schema/write_empty.c), because to make one from its texts takes 107 million instructions more than to copy that, as much as all else of
 * a short recording. Whoever finds a reason not to use it makes one from the texts, which is the same. */
#ifndef CLEAR_SCHEMA_EMPTY_FILE_H
#define CLEAR_SCHEMA_EMPTY_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a private file of it, if none has that name in the directory: all of it, or nothing, also where the machine stops. False: it was not made. */
bool empty_file_create(const char *directory, const char *path);
/* Whether a file of so many bytes may be as it was made. */
bool empty_file_has_size(int64_t size);
/* Whether these bytes, of inspect_write (schema/inspect.h), are those of an empty warehouse. */
bool empty_file_has_schema(const void *schema, size_t size);
/* Makes it the contents of that database, which has none. False: they are as they were. */
bool empty_file_load(sqlite3 *handle);

/* A column of one of clear's own tables, as SQLite reads it there. To ask SQLite for those of the tables that are copied takes 9 million instructions, a
 * tenth of recording `true`. `type`: INTEGER, REAL, TEXT or BLOB. `target`: the table of which the column names a row by its id; "": of none. */
struct own_column {
    const char *table, *name, *type, *target;
};
/* The next one, by the names of the tables and in their order there; the first one after zeros. False: that was the last. */
bool own_columns_next(struct own_column *column);

#endif
