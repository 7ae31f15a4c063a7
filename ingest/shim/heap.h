/* heap.h: recording of blocks, for the hooks of malloc and for allocators of the program's own (clear.h). */
#ifndef CLEAR_SHIM_HEAP_H
#define CLEAR_SHIM_HEAP_H

#include "ingest/shim/runtime.h"

/* A block of `size` bytes was handed out to the caller with that frame. */
void heap_allocated(struct thread *thread, void *block, size_t size, struct frame frame);
/* A block was given back, or is just about to be. One that is not known counts nothing. */
void heap_freed(struct thread *thread, void *block);

#endif
