/* give_back.h: gives pages of the file that hold nothing back to the file system. */
#ifndef CLEAR_INGEST_UPKEEP_GIVE_BACK_H
#define CLEAR_INGEST_UPKEEP_GIVE_BACK_H

#include <stdbool.h>

#include "schema/db.h"

/* True for a file that clear 0.1 or later made: it can give pages back one by one. */
int gives_back(struct db *db, bool *does, struct error *err);

/* Gives back all free pages, a few hundred in a transaction, until the moment `deadline_ns` (CLOCK_MONOTONIC). Does nothing to a file that
 * cannot. Not within a transaction. */
int give_back(struct db *db, int64_t deadline_ns, struct error *err);

#endif
