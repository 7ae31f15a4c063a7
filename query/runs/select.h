/* select.h: which run a person means. A run is named by
 *   latest, latest~N   the newest by start, or the Nth before it
 *   NUMBER             its id
 *   TAG=VALUE          the newest with that tag
 *   anything else      the newest with that label, else the one whose uuid begins so (8 or more characters) */
#ifndef CLEAR_QUERY_RUNS_SELECT_H
#define CLEAR_QUERY_RUNS_SELECT_H

#include "schema/db.h"

/* The run's id; NULL or "" is latest. A name that fits none is a usage error that says what there is. */
int select_run(struct db *db, const char *name, int64_t *run_id, struct error *err);

#endif
