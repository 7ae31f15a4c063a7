/* channel.h: records the events of channels, which come from clear.h and from the hooks of message queues. `channel` is
 * the identity: an address, or what queues.c makes of a descriptor. Waits are in nanoseconds; 0 is no wait. */
#ifndef CLEAR_SHIM_CHANNEL_H
#define CLEAR_SHIM_CHANNEL_H

#include "ingest/shim/core/runtime.h"

/* `name` may be NULL; `capacity` 0 is unbounded or unknown. */
void channel_opened(struct thread *thread, uintptr_t channel, uint64_t capacity, const char *name);
/* `depth` messages are in it now. */
void channel_pushed(struct thread *thread, uintptr_t channel, uint64_t depth, uint64_t blocked_ns);
void channel_popped(struct thread *thread, uintptr_t channel, uint64_t blocked_ns);
/* Identities may mean other channels from now on: every thread looks each up again. */
void channel_identities_reused(void);
/* Whether this thread has looked the channel up since a channel was last opened. If not, its capacity may be
 * unknown. */
bool channel_is_known(struct thread *thread, uintptr_t channel);

#endif
