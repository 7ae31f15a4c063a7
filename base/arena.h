/* arena.h: memory that is freed all at once, for objects with one lifetime, such as those of one record or one file.
 * A zeroed struct is an empty arena. Blocks are aligned to 16 bytes and never move. */
#ifndef CLEAR_BASE_ARENA_H
#define CLEAR_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks;
    size_t used, total; /* used: bytes of the newest block; total: bytes allocated since the last reset */
};

void *arena_alloc(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *bytes, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t size); /* a NUL-terminated copy */
void arena_reset(struct arena *arena); /* frees all blocks but the largest, which is used again */
void arena_free(struct arena *arena);

#endif
