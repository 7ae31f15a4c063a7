/* heap.h: records blocks, for the hooks of malloc and for allocators that report through clear.h. */
#ifndef CLEAR_SHIM_HEAP_H
#define CLEAR_SHIM_HEAP_H

#include "ingest/shim/runtime.h"

/* A block of `size` bytes was allocated by the caller with that frame. Bytes that cannot be recorded count as
 * dropped. */
void heap_allocated(struct thread *thread, void *block, size_t size, struct frame frame);
/* A block was freed, or is about to be. A block that is not known is ignored. */
void heap_freed(struct thread *thread, void *block);

#endif
