/* arena_blocks.h: which blocks an arena of the program's own handed out, so that its end frees them all. */
#ifndef CLEAR_SHIM_ARENA_BLOCKS_H
#define CLEAR_SHIM_ARENA_BLOCKS_H

#include "ingest/shim/runtime.h"

void arena_add(const void *arena, const void *block);
/* Frees every block of the arena that is still noted. */
void arena_freed(struct thread *thread, const void *arena);

#endif
