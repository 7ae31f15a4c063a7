/* run_uuid.h: the UUID of a run: a random one (RFC 4122, version 4), or one that a caller chose. */
#ifndef CLEAR_INGEST_WRITER_RUN_UUID_H
#define CLEAR_INGEST_WRITER_RUN_UUID_H

#include <stdbool.h>

#include "base/error.h"

enum { RUN_UUID_SIZE = 37 }; /* with its NUL */

/* Copies a UUID of any version in small letters. False: the text is none. */
bool run_uuid_read(char uuid[RUN_UUID_SIZE], const char *text);
int run_uuid(char uuid[RUN_UUID_SIZE], struct error *err);

#endif
