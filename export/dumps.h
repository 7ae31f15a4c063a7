/* dumps.h: the text dumps of CLEAR's own runtime, written from the tables so that tools which read those read ours. */
#ifndef CLEAR_EXPORT_DUMPS_H
#define CLEAR_EXPORT_DUMPS_H

#include "schema/db.h"

/* alloc.txt, version 2. Addresses are those in the file of the frame's module. */
int dump_allocations(struct db *db, int64_t run_id, const char *path, struct error *err);
/* locks.txt: version 3 where any caller is known, else version 2. */
int dump_locks(struct db *db, int64_t run_id, const char *path, struct error *err);

/* The dump of that kind; a kind without one is a usage error that lists those that have. */
int dump_run(struct db *db, int64_t run_id, const char *kind, const char *path, struct error *err);

#endif
