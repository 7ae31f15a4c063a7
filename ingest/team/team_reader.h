/* team_reader.h: a team's store as a warehouse to read. A private database (schema/db.h), empty at first; the runs that a name or a set
 * means in the store come into it when they are named (db_want), from the cache of this machine (ingest/team/run_cache.h) or from the
 * server, and all of clear works on them as on those of a file. */
#ifndef CLEAR_INGEST_TEAM_TEAM_READER_H
#define CLEAR_INGEST_TEAM_TEAM_READER_H

#include "ingest/team/team.h"

/* `address` and `project` are copied. db->path is the address for messages. db_close it. */
int team_reader_open(struct db *db, const char *address, const char *project, struct error *err);

#endif
