/* stored.h: samples of profiles that were ingested with sample types of their own, as they came: no figure more or less,
 * in the same order, with the labels they had. Everything else (recordings, dumps) goes out as the kinds of
 * export/kinds.h. */
#ifndef CLEAR_EXPORT_STORED_H
#define CLEAR_EXPORT_STORED_H

#include "export/names.h"

/* 1 where all profiles of that kind of the run came in so, with the same types; 0 where not; -1. */
int stored_has(struct db *db, int64_t run_id, const char *kind, struct error *err);
/* Writes sample types and samples. */
int stored_write(struct db *db, int64_t run_id, const char *kind, struct names *names, struct error *err);

#endif
