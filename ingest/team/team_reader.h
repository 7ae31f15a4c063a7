/* team_reader.h: a team's store as a warehouse to read. A private database (schema/db.h), empty at first; the runs that a name or a set
 * means in the store come into it when they are named (db_want), from the cache of this machine (ingest/team/run_cache.h) or from the
 * server, and all of clear works on them as on those of a file. */
#ifndef CLEAR_INGEST_TEAM_TEAM_READER_H
#define CLEAR_INGEST_TEAM_TEAM_READER_H

#include "ingest/team/team.h"

/* `address` and `project` are copied. db->path is the address for messages. db_close it. */
int team_reader_open(struct db *db, const char *address, const char *project, struct error *err);
/* The same for an open warehouse that is written: the runs that are named from now on come into it and stay. */
int team_reader_attach(struct db *db, const char *address, const char *project, struct error *err);

/* From now on only the heads of runs come (ingest/team/pull_heads.h): for lists of many runs. Nothing for a file. */
void team_reader_heads(struct db *db);
/* And, of those, the figures that the store keeps in rows, as the view series: those called `figure`; NULL: all. `of`: and of functions or sites,
 * as in pull_heads.h; a store with the views of another clear gives whole runs then. Both are copied. */
void team_reader_figures(struct db *db, const char *figure, const char *of);

#endif
