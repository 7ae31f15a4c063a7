/* names.h: what the names of a store are made of: functions, stacks and so on, keyed by content. A description serves making the tables,
 * writing, reading and checking alike. */
#ifndef CLEAR_INGEST_TEAM_NAMES_H
#define CLEAR_INGEST_TEAM_NAMES_H

#include "base/buffer.h"
#include "ingest/read/warehouse/source_names.h"
#include "ingest/team/content_key.h"

enum { NAME_COLUMNS_MAX = 9 };

struct name_column {
    const char *name;
    enum name_type { NAME_TEXT, NAME_INT, NAME_KEY, NAME_KEYS, NAME_INTS } type;
    enum source_name target; /* of NAME_KEY and NAME_KEYS: ids in a file, keys in a store */
    bool
        is_derived; /* made from the others by the file: no part of the key, for the views of a store. Keys of it may be 0 */
};

struct name_kind {
    const char *table, *thing;                        /* thing: for messages and hashes */
    const char *select;                               /* in a file: the columns in order, arrays as JSON, of row :id */
    struct name_column columns[NAME_COLUMNS_MAX + 1]; /* end with a NULL name */
};

extern const struct name_kind name_kinds[SOURCE_NAMES]; /* [SOURCE_NONE] is empty */

/* One value. */
struct name_value {
    const char *text;
    int64_t number;
    const int64_t *list;
    size_t count;
};
void name_hash(struct content_hash *hash, const struct name_column *column, const struct name_value *value);

/* ", "-separated names of the columns, quoted. */
void name_columns_add(struct buffer *sql, const struct name_kind *kind, const char *prefix);

#endif
