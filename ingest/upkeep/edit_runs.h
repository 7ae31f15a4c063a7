/* edit_runs.h: changes what people say of a run: its tags, its label, its pin. Each is one row, within the transaction of the caller. */
#ifndef CLEAR_INGEST_UPKEEP_EDIT_RUNS_H
#define CLEAR_INGEST_UPKEEP_EDIT_RUNS_H

#include <stdint.h>

#include "schema/db.h"

/* `value` "": the run has no such tag any more. */
int run_set_tag(struct db *db, int64_t run_id, const char *key, const char *value, struct error *err);
/* `label` "": the run has no label any more. */
int run_set_label(struct db *db, int64_t run_id, const char *label, struct error *err);
/* `why` may be empty; NULL takes the pin away. */
int run_set_pin(struct db *db, int64_t run_id, const char *why, struct error *err);

#endif
