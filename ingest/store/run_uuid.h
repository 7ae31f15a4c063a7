/* run_uuid.h: a random UUID for a run (RFC 4122, version 4). */
#ifndef CLEAR_INGEST_STORE_RUN_UUID_H
#define CLEAR_INGEST_STORE_RUN_UUID_H

#include "base/error.h"

enum { RUN_UUID_SIZE = 37 }; /* with its NUL */

int run_uuid(char uuid[RUN_UUID_SIZE], struct error *err);

#endif
