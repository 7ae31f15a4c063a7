/* run_uses.h: which columns of a file name objects, stacks and label sets, and which of its tables hang on profiles and processes. Read once
 * for a file, because it takes a fifteenth of the time of pushing a run. */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_RUN_USES_H
#define CLEAR_INGEST_READ_WAREHOUSE_RUN_USES_H

#include "ingest/upkeep/references.h"

enum { USED_THINGS = 3, USE_HANGINGS = 2 }; /* run_order.c has them by name */

/* Zeros before it is read; run_uses_free it. */
struct run_uses {
    bool is_read;
    struct references things[USED_THINGS], hangings[USE_HANGINGS];
};

void run_uses_free(struct run_uses *uses);

#endif
