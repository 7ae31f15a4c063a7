/* rewrite.h: writes the whole file anew (VACUUM), where pages cannot be given back one by one or are half empty. */
#ifndef CLEAR_INGEST_UPKEEP_REWRITE_H
#define CLEAR_INGEST_UPKEEP_REWRITE_H

#include <stdint.h>

#include "schema/db.h"

/* Does so where less than half of `bytes_before`, its size in use before rows were deleted, is in use now: what is left is then cheaper to
 * write than the deletion was, and lies in half empty pages. And for a file that cannot give pages back, if a tenth of it is unused. Not if
 * there is no room for it: *room_needed is then how much it takes, else 0. From then on the file can give pages back. A kill leaves the file
 * as it was. Not within a transaction. */
int rewrite_if_loose(struct db *db, int64_t bytes_before, int64_t *room_needed, struct error *err);

#endif
