/* relatives.h: processes that belong to a recording and have no segment yet, or never get one. */
#ifndef CLEAR_INGEST_RECORD_RELATIVES_H
#define CLEAR_INGEST_RECORD_RELATIVES_H

#include <stdbool.h>

/* Whether a process runs that was started with that private directory in its environment. A forked process has the
 * environment of its parent, so one that has not called a hook yet is found too. It looks at all processes of /proc that
 * we may read; a program that overwrote its environment is not found. */
bool relatives_run(const char *directory);

#endif
