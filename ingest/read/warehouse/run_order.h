/* run_order.h: keeps the order in which exports list a merged run (table run_places). */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_RUN_ORDER_H
#define CLEAR_INGEST_READ_WAREHOUSE_RUN_ORDER_H

#include "ingest/read/warehouse/source_names.h"

/* Puts the names that the runs of temp.wanted_runs of the source use into this warehouse, by their ids there: so the ids of what is new here
 * have the same order. *is_same: all of them have, also those that were here. */
int run_order_prepare(struct source_names *names, bool *is_same, struct error *err);

/* Writes the places of run `there`, as run `here`, if the order is not the same. Changes temp.wanted_runs. */
int run_order_keep(struct source_names *names, int64_t there, int64_t here, struct error *err);

/* For a store: the ids of objects, stacks or label sets that a run uses, as int64_t in the order in which exports list them. Call
 * run_order_want first, then ask for objects before stacks. */
int run_order_want(struct db *db, int64_t run_id, struct error *err);
int run_order_read(struct db *db, struct run_uses *uses, enum source_name name, int64_t run_id, struct buffer *ids,
                   struct error *err);
/* Writes the places of a run that names were put for in this order, if their ids here have another. */
int run_order_put(struct db *db, enum source_name name, int64_t run_id, const int64_t *ids, size_t count,
                  struct error *err);

#endif
