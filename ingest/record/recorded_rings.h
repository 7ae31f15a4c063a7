/* recorded_rings.h: a copy of the events of a process that runs on, made before anything else of a flush. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_RINGS_H
#define CLEAR_INGEST_RECORD_RECORDED_RINGS_H

#include "ingest/record/recorded.h"

/* Copies the events of a running process that are not stored yet. A thread that does nothing else goes through 64 MiB of rings in
 * 0.2 s, so this comes before all else of a flush: also before recorded_read, which then finds every stack and object of theirs. */
void recorded_save_rings(struct recorded *recorded, struct segment_view *view);
void recorded_forget_rings(struct recorded *recorded);
/* The index of the first event of the chunk that is not stored yet. */
static inline uint64_t event_chunk_first_new(const struct event_chunk *chunk) {
    return chunk->stored_turn == chunk->turn ? chunk->stored : 0;
}

#endif
