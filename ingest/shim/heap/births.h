/* births.h: how large the blocks of a site are and how long they live, as histograms, with FEATURE_LIFETIMES alone.
 *
 * Beside the entry of each block in the tree (blocks.h) there is its birth: when it was allocated, by which thread, and how many
 * blocks that thread had allocated then. It is written and taken as the entry is, by the thread that allocates or frees the
 * block. Blocks in the side table have none, and so no lifetime. */
#ifndef CLEAR_SHIM_BIRTHS_H
#define CLEAR_SHIM_BIRTHS_H

#include "ingest/shim/core/blocks.h"
#include "ingest/shim/core/runtime.h"

static ALWAYS_INLINE bool keeps_lifetimes(void) {
    return process->features & FEATURE_LIFETIMES;
}

/* A block of stack `id` was put into the tree; it stands for `weight` blocks. */
void birth_note(struct thread *thread, uintptr_t address, uint64_t size, uint32_t id, uint64_t weight);

/* Takes the birth of a block that is about to be freed; ticks 0: it has none. */
struct block_birth birth_take(uintptr_t address);
/* The block was not freed after all. */
void birth_put_back(uintptr_t address, struct block_birth birth);
/* The block of that birth was freed. */
void birth_ended(struct thread *thread, struct block_birth birth, uint32_t id, uint64_t weight);

#endif
