/* source_text.h: lines of the source texts that a run keeps (table `sources`), for a report that shows them when the files are
 * gone or were edited since. */
#ifndef CLEAR_QUERY_CODE_SOURCE_TEXT_H
#define CLEAR_QUERY_CODE_SOURCE_TEXT_H

#include <stdint.h>

#include "base/buffer.h"
#include "schema/db.h"

/* Adds line `line` (from 1) of the file `path`, as in functions.filename, to `out`, without the blanks around it. 1: it is there, 0:
 * the run has no such text or line, or it is blank, -1. */
int source_text_line(struct db *db, int64_t run_id, const char *path, int64_t line, struct buffer *out,
                     struct error *err);

#endif
