/* references.h: which columns name rows of a table, by the foreign keys: of the file, so that who deletes knows a user's tables too; or of clear's own
 * schema, for who copies. So a table that is new is not named there. */
#ifndef CLEAR_INGEST_UPKEEP_REFERENCES_H
#define CLEAR_INGEST_UPKEEP_REFERENCES_H

#include <stddef.h>

#include "schema/db.h"

struct references {
    struct reference {
        char *table, *column;
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
