/* lock_wait.h: what a connection does while another process has the file locked: it waits for as long as db_set_patience says, and says so. */
#ifndef CLEAR_SCHEMA_LOCK_WAIT_H
#define CLEAR_SCHEMA_LOCK_WAIT_H

#include "schema/db.h"

enum { LOCK_WAIT_MS = 10000 }; /* of every connection, until db_set_patience */

/* Makes SQLite wait so. `db` must stay where it is, or this is called again. */
void lock_wait_set_up(struct db *db);
/* One step of a wait that SQLite does not do itself. `tries` is 0 at first. False: no longer. */
bool lock_wait_step(struct db *db, int tries);
/* Why the connection is locked, for an error. free() it. */
char *lock_wait_reason(const struct db *db);

#endif
