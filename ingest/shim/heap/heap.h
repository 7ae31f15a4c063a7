/* heap.h: records blocks, for the hooks of malloc and for allocators that report through clear.h. */
#ifndef CLEAR_SHIM_HEAP_H
#define CLEAR_SHIM_HEAP_H

#include "ingest/shim/core/runtime.h"

/* A block of `size` bytes was allocated by the caller with that frame. Returns the id of its stack; 0 where it could not
 * be recorded, which counts as dropped. */
uint32_t heap_allocated(struct thread *thread, void *block, size_t size, struct frame frame);
/* A block was freed, or is about to be. A block that is not known is ignored. */
void heap_freed(struct thread *thread, void *block);

#endif
