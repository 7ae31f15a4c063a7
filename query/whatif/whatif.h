/* whatif.h: how long a run would have taken with another lock: the events of its threads are replayed with that lock free, held half as long, or
 * in several parts. */
#ifndef CLEAR_QUERY_WHATIF_WHATIF_H
#define CLEAR_QUERY_WHATIF_WHATIF_H

#include <stdbool.h>
#include <stdio.h>

#include "schema/db.h"

/* `request`: "lock=NAME:free", "lock=NAME:half" or "lock=NAME:shards=8". Prints the predicted time with what other replays take, as text or as a JSON object.
 * A usage error for a request or a lock that cannot be meant; a failure where waits were not seen, events were lost, or the run as it was is not
 * replayed within a quarter of its time. */
int whatif_print(FILE *out, struct db *db, int64_t run_id, const char *request, bool json, struct error *err);

#endif
