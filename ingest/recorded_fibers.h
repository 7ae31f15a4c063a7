/* recorded_fibers.h: the tables fibers, schedulers and task_sites, which are sums over the task sites of a process. */
#ifndef CLEAR_INGEST_RECORDED_FIBERS_H
#define CLEAR_INGEST_RECORDED_FIBERS_H

#include "ingest/recorded.h"

/* Writes all of them anew where anything changed since the last committed flush. */
int recorded_write_fibers(const struct tally *tally, struct db *db, struct error *err);

#endif
