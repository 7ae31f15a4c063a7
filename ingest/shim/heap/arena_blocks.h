/* arena_blocks.h: the live blocks of each arena that reports through clear.h, so that they can all be freed when it
 * ends. */
#ifndef CLEAR_SHIM_ARENA_BLOCKS_H
#define CLEAR_SHIM_ARENA_BLOCKS_H

#include "ingest/shim/core/runtime.h"

/* The arena allocated a block. Without memory the block is not noted, and stays live when the arena ends. */
void arena_add(const void *arena, const void *block);
/* The arena ended: records a free of each of its live blocks. */
void arena_freed(struct thread *thread, const void *arena);

#endif
