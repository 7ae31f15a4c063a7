/* segment_file.h: the file of the segment of this process (ingest/segment.h): how it is made and how it grows. Chunks in it are
 * made by chunk_new of runtime.h. */
#ifndef CLEAR_SHIM_SEGMENT_FILE_H
#define CLEAR_SHIM_SEGMENT_FILE_H

#include "ingest/shim/core/runtime.h"

/* Makes and maps it in the directory of the recording. False: there is no room for it. `now`: ns since the epoch, for its name. */
bool segment_map(uint64_t now);

/* Of a recording that is over: what is mapped becomes private memory at the same addresses, because a hook that began before may still
 * count in it. */
void segment_leave(void);

/* It could not grow a moment ago: no need to take the lock for it. */
bool segment_is_full(void);

/* Gives memory to its first `end` bytes, ahead of their use. False: there is none. Needs process->lock once threads record. */
bool segment_populate(uint64_t end);

#endif
