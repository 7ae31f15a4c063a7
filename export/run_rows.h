/* run_rows.h: writes a run as text, run.txt.gz of a directory; ingest/read/run_text.h has the format. */
#ifndef CLEAR_EXPORT_RUN_ROWS_H
#define CLEAR_EXPORT_RUN_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "schema/db.h"

/* Writes all rows of the run and what they name to `path`, for its owner alone. A run of more than 256 MiB of text, which no reader takes by
 * default, gives no file, and 0 as well. */
int run_rows_write(struct db *db, int64_t run_id, const char *path, struct error *err);

#endif
