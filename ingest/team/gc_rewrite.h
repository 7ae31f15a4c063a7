/* gc_rewrite.h: what runs took that were deleted of a month, of which others stay, is given back to the disk: its partitions are written again. */
#ifndef CLEAR_INGEST_TEAM_GC_REWRITE_H
#define CLEAR_INGEST_TEAM_GC_REWRITE_H

#include "ingest/team/team_gc.h"
#include "ingest/team/team_server.h"

/* Adds to the months of `gc` what each took before and takes now. Who reads the month waits as long as what stays is written; where others hold it for
 * longer than 0.9 s it is left to the next time, which is no failure. */
int gc_rewrite(struct team_gc *gc, struct team_server *server, struct error *err);

#endif
