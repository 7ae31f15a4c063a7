/* known_changes.h: changes of figures that are known (table accepted_changes): written by `clear trend --accept`, asked by whoever reports
 * changes. */
#ifndef CLEAR_QUERY_HISTORY_KNOWN_CHANGES_H
#define CLEAR_QUERY_HISTORY_KNOWN_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db.h"

struct known_change {
    char *run_uuid, *figure, *subject, *why; /* subject: a name, a GLOB pattern, or empty for the whole run */
    int64_t run_id, started_ns;              /* of the run; 0: it is not in this file */
};
struct known_changes {
    struct known_change *items;
    size_t count;
};

/* Writes a row, or another reason into it. The database is open for writing. A figure that the run does not have, and no reason, are
 * usage errors. */
int known_change_add(struct db *db, int64_t run_id, const struct known_change *change, struct error *err);
/* Deletes a row. No such row is a usage error. */
int known_change_forget(struct db *db, int64_t run_id, const struct known_change *change, struct error *err);

/* All of them, the latest accepted first; known_changes_free them, also after a failure. */
int known_changes_read(struct known_changes *changes, struct db *db, struct error *err);
void known_changes_free(struct known_changes *changes);
/* Whether it is about this figure and subject ("" is the whole run, and no pattern means it). */
bool known_change_is_about(const struct known_change *change, const char *figure, const char *subject);
/* The one that is about this figure and subject ("" is the whole run), in one of these runs. NULL: it is not known. */
const struct known_change *known_changes_find(const struct known_changes *changes, const char *figure,
                                              const char *subject, const int64_t *run_ids, size_t count);

#endif
