/* spins.h: counts what a thread calls that waits without blocking: yields, short sleeps, tries that fail. One that does so
 * in a loop burns a processor, or asks too often.
 *
 * The first SPINS_EXACT yields and tries of a thread are counted one by one, of later ones one in SPINS_SAMPLED, at random
 * intervals, so many times: the stack costs as much as the call. Loops on the clock are seen by their CPU samples. */
#ifndef CLEAR_SHIM_SPINS_H
#define CLEAR_SHIM_SPINS_H

#include "ingest/shim/core/runtime.h"

enum { SPINS_EXACT = 256, SPINS_SAMPLED = 16 };

/* A try found its lock taken. `caller` is CALLER(). With an entered thread; leaves errno as it is. */
void spin_tried(struct thread *thread, const uint64_t *caller);

#endif
