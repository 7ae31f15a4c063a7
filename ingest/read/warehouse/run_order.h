/* run_order.h: keeps the order in which exports list a merged run (table run_places). */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_RUN_ORDER_H
#define CLEAR_INGEST_READ_WAREHOUSE_RUN_ORDER_H

#include "ingest/read/warehouse/source_names.h"

/* Puts the names that the runs of temp.wanted_runs of the source use into this warehouse, by their ids there: so the ids of what is new here
 * have the same order. *is_same: all of them have, also those that were here. */
int run_order_prepare(struct source_names *names, bool *is_same, struct error *err);

/* Writes the places of run `there`, as run `here`, if the order is not the same. Changes temp.wanted_runs. */
int run_order_keep(struct source_names *names, int64_t there, int64_t here, struct error *err);

#endif
