/* spool.h: runs of a warehouse that a store does not have yet: the file WAREHOUSE.push beside it, one line a run, the oldest first:
 *   UUID <tab> PROJECT <tab> ADDRESS
 * The runs themselves are in the warehouse. A line is written when a recording begins, and goes when the store has the run, so that
 * neither a kill nor a store that is away loses one. Several processes may use the file at once. */
#ifndef CLEAR_INGEST_TEAM_SPOOL_H
#define CLEAR_INGEST_TEAM_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct spool {
    struct spool_entry {
        char *uuid, *project, *address;
    } * entries;
    size_t count;
};

char *spool_path(const char *warehouse); /* free() it */

/* The warehouse may have no such file: then the spool is empty. spool_free it, whatever it returns. */
int spool_read(struct spool *spool, const char *warehouse, struct error *err);
void spool_free(struct spool *spool);

/* Neither text may have control characters. */
int spool_add(const char *warehouse, const struct spool_entry *entry, struct error *err);
/* The same where it has no such entry. */
int spool_add_once(const char *warehouse, const struct spool_entry *entry, struct error *err);
/* Removes the entry, wherever it is now. */
int spool_remove(const char *warehouse, const struct spool_entry *entry, struct error *err);

#endif
