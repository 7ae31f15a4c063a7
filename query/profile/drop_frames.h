/* drop.h: the warehouse's list of allocator wrappers as the regular expression that pprof calls drop_frames. */
#ifndef CLEAR_QUERY_PROFILE_DROP_FRAMES_H
#define CLEAR_QUERY_PROFILE_DROP_FRAMES_H

#include <stdbool.h>

#include "base/buffer.h"
#include "schema/db.h"

/* The patterns of the table `wrappers` that are safe to drop as one RE2 expression; nothing is added where there is none. */
int drop_frames(struct db *db, struct buffer *regex, struct error *err);
/* Whether a dropped frame of that pattern can hide nobody's code: pprof drops what it calls as well. */
bool drop_is_safe(const char *glob);
/* One GLOB pattern (*, ?, [...]) as an expression that matches the same whole names, with or without their argument lists:
 * pprof cuts "operator new(unsigned long)" to "operator new" before it compares. */
void drop_pattern(struct buffer *regex, const char *glob);

#endif
