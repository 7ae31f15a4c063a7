/* user_stacks.h: stacks of `perf record --call-graph dwarf`: walks the copy of the user stack in a sample by the call
 * frame information of the mapped files (libdw). A file that is missing ends the walk. */
#ifndef CLEAR_INGEST_READ_PERF_USER_STACKS_H
#define CLEAR_INGEST_READ_PERF_USER_STACKS_H

#include "ingest/read/perf/recording.h"

struct perf_unwinder;

struct perf_unwinder *perf_unwinder_open(struct perf_recording *recording);
void perf_unwinder_close(struct perf_unwinder *unwinder); /* NULL is allowed */

/* Pushes the frames of the sample's user stack to the recording. False where the walk did not reach the root: the copy
 * of the stack is too short, or a file is missing. */
bool perf_unwind(struct perf_unwinder *unwinder, const struct perf_space *space, const struct perf_data_sample *sample);

#endif
