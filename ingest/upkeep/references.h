/* references.h: which columns name rows of a table, as the schema of the file says. So a table that is new, or a user's with foreign keys,
 * is in the lists of who deletes and who merges without being named there. */
#ifndef CLEAR_INGEST_UPKEEP_REFERENCES_H
#define CLEAR_INGEST_UPKEEP_REFERENCES_H

#include <stddef.h>

#include "schema/db.h"

struct references {
    struct reference {
        char *table, *column;
        char *target; /* the table whose rows the column names */
    } * items;
    size_t count;
};

/* Those of `target`; references_free them. A look at the schema takes about 0.8 ms. */
int references_read(struct references *references, struct db *db, const char *target, struct error *err);
/* Those of `target` in clear's own tables, without facts, which follow from the others; references_free them. */
void references_find_own(struct references *references, const char *target);
void references_free(struct references *references);

/* The text with each "{table}" and "{column}" replaced by the names, quoted. free() it. */
char *reference_sql(const char *text, const struct reference *reference);

#endif
