/* drop.h: the warehouse's list of allocator wrappers as the regular expression that pprof calls drop_frames. */
#ifndef CLEAR_EXPORT_DROP_H
#define CLEAR_EXPORT_DROP_H

#include "base/buffer.h"
#include "schema/db.h"

/* All patterns of the table `wrappers` as one RE2 expression; nothing is added where there is none. */
int drop_frames(struct db *db, struct buffer *regex, struct error *err);
/* One GLOB pattern (*, ?, [...]) as an expression that matches the same whole names, with or without their argument lists:
 * pprof cuts "operator new(unsigned long)" to "operator new" before it compares. */
void drop_pattern(struct buffer *regex, const char *glob);

#endif
