/* give_runs.h: gives runs of a project to another project of the same store. */
#ifndef CLEAR_INGEST_TEAM_GIVE_RUNS_H
#define CLEAR_INGEST_TEAM_GIVE_RUNS_H

#include "ingest/team/layout.h"
#include "ingest/team/team_move.h"
#include "ingest/team/team_server.h"

int give_runs(struct team_move *move, struct team_server *server, const struct layout *layout,
              const struct team_move_wish *wish, struct error *err);

#endif
