/* service.h: the directory of a program that clear did not start: $CLEAR_DIR/RUN (ingest/segment.h). The runtime makes it, because nobody
 * else is there. Nothing here fails loudly: a program without such a directory is not recorded.
 *
 * `directory` has room for CONTROL_DIRECTORY_SIZE bytes (control.h). */
#ifndef CLEAR_SHIM_SERVICE_H
#define CLEAR_SHIM_SERVICE_H

#include "ingest/shim/core/runtime.h"

/* The path of the directory that CLEAR_RUN names: that of the program which executed this one. False: it names none. Whether it is there,
 * and ours, is still to be seen. */
bool service_join(char *directory);

/* Makes one, with its control file. False: CLEAR_DIR is not set, not there, not writable or full, or others could change what is made there:
 * they may write to it, and it is not sticky. */
bool service_make(char *directory);
/* Removes what service_make made, where this process made it. */
void service_unmake(const char *directory);

/* Whether this process can make its segment there. */
bool service_is_writable(const char *directory);

#endif
