/* site_rows.h: the one writer of allocation sites, for recordings and for files that are read. In the warehouse they
 * are two tables, site_keys and site_rows (schema/tables.sql says why); readers use the view `sites`.
 *
 * The block size of a site is that of its first row in the file, and never changes. A row whose mean size differs has
 * its bytes stored in full, which takes a few bytes more. */
#ifndef CLEAR_INGEST_WRITER_SITE_ROWS_H
#define CLEAR_INGEST_WRITER_SITE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/writer/row_writer.h"

/* A row of the view `sites`. Values may be negative, because they may be differences. */
struct site_row {
    int64_t trace_id, label_set_id; /* the writer's */
    int64_t alloc_count, alloc_bytes, free_count, free_bytes;
};

/* Writes the rows of a profile, in the open transaction. A row of the same stack and label set is replaced. */
int site_rows_put(struct row_writer *writer, int64_t profile_id, const struct site_row *rows, size_t count,
                  struct error *err);

#endif
