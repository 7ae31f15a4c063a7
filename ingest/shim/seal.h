/* seal.h: what the runtime does without from here on. */
#ifndef CLEAR_SHIM_SEAL_H
#define CLEAR_SHIM_SEAL_H

#include "ingest/shim/core/runtime.h"

/* For ever, or until the recorder sees that the program forbids itself nothing. */
enum seal { SEAL_FOR_EVER, SEAL_FOR_NOW };

/* Reserves memory ahead; from then on the runtime makes no system call and maps nothing, and there is no CPU sampling. `thread` is the
 * calling one, NULL where it is not recorded. What does not fit into that memory counts as dropped. */
void process_seal(struct thread *thread, enum seal seal);

#endif
