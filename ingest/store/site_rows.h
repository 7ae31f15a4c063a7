/* site_rows.h: the one place where rows of allocation sites are written, ours and foreign. In the warehouse they are two tables,
 * site_keys and site_rows (schema/tables.sql says why); whoever reads them reads the view `sites`.
 *
 * A site's block size is that of the first row of it in the file, and never changes. So a site whose mean size moves from one
 * flush to the next, or from one run to another, is stored right, with its bytes in full; it only takes a few bytes more. */
#ifndef CLEAR_INGEST_STORE_SITE_ROWS_H
#define CLEAR_INGEST_STORE_SITE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/store/store.h"

/* A row of the view `sites`. Any values: a difference may be negative. */
struct site_row {
    int64_t trace_id, label_set_id; /* the store's */
    int64_t alloc_count, alloc_bytes, free_count, free_bytes;
};

/* Puts the rows of a profile away, in the open transaction. One that is there already, by trace and label set, is replaced. The
 * store keeps the ids of the keys, like all its others: after a rollback it must be made anew. */
int site_rows_put(struct store *store, int64_t profile_id, const struct site_row *rows, size_t count,
                  struct error *err);

#endif
