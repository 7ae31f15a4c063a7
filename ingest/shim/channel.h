/* channel.h: what happens to channels, as clear.h and the hooks of message queues report it. */
#ifndef CLEAR_SHIM_CHANNEL_H
#define CLEAR_SHIM_CHANNEL_H

#include "ingest/shim/runtime.h"

/* `name` may be NULL; `capacity` 0 is unbounded or unknown. */
void channel_opened(struct thread *thread, uintptr_t channel, uint64_t capacity, const char *name);
/* `depth` messages are in it now. */
void channel_pushed(struct thread *thread, uintptr_t channel, uint64_t depth, uint64_t blocked_ns);
void channel_popped(struct thread *thread, uintptr_t channel, uint64_t blocked_ns);
/* The identity may mean another channel from now on. */
void channel_forgotten(struct thread *thread, uintptr_t channel);
/* Whether this thread has met the channel since anything was last opened: if not, its capacity may be unknown. */
bool channel_is_known(struct thread *thread, uintptr_t channel);

#endif
