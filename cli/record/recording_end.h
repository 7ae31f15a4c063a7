/* recording_end.h: what ends every recording, of a program that was started and of one that ran already. */
#ifndef CLEAR_CLI_RECORD_RECORDING_END_H
#define CLEAR_CLI_RECORD_RECORDING_END_H

#include "cli/record/profiling.h"

/* Ends a run whose end is stored: its rows, its files, the summary. */
int recording_end(struct profiling *recording, struct error *err);
/* Stores the end, its files, and prints the summary. `since` goes to each kind of the run, the `comments` (NULL-terminated) to the run. Where the end cannot be stored it is kept for
 * clear recover. -1 with the error set, which was said already where it was kept. */
int recording_store_end(struct profiling *recording, const char *since, const char *const *comments, struct error *err);
void recording_release(struct profiling *recording);

#endif
