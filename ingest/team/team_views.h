/* team_views.h: the views of a file in a store, schema `clear_views`: views with the names and columns of a file's tables over the store's
 * tables, of the project that the setting clear.project has, and on them the views of schema/views and schema/doctor, which the build
 * puts in an order (schema/team_dialect.awk).
 *
 * Ids: of a run its number in the store (run_names.number); of processes, profiles and events that number and, in the low 32 bits, theirs in
 * the run; of functions, locations, stacks, label sets and objects their 64-bit keys. */
#ifndef CLEAR_INGEST_TEAM_TEAM_VIEWS_H
#define CLEAR_INGEST_TEAM_TEAM_VIEWS_H

#include "ingest/team/layout.h"
#include "ingest/team/team_server.h"

/* Makes them, or makes them again where the store has those of another clear. In a transaction. `db`: any open warehouse: its schema, and
 * clear's own rules and advice. */
int team_views_make(struct team_server *server, const struct layout *layout, struct db *db, struct error *err);

/* True of a store that has those of this clear. */
int team_views_check(struct team_server *server, bool *is_current, struct error *err);

#endif
