/* recorded_fibers.h: writes the rows of fibers, schedulers and task_sites, which are sums over the task sites of a
 * process. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_FIBERS_H
#define CLEAR_INGEST_RECORD_RECORDED_FIBERS_H

#include "ingest/record/recorded.h"

/* Writes what happened since the last committed flush as the rows of a window. */
int recorded_write_fibers(const struct counts *counts, struct window *window, struct db *db, struct error *err);

#endif
