#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { FIRST_BLOCK = 64 * 1024, LARGEST_STEP = 4 * 1024 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *older;
    size_t capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

static void add_block(struct arena *arena, size_t size) {
    size_t capacity = arena->blocks ? arena->blocks->capacity * 2 : FIRST_BLOCK;
    if (capacity > LARGEST_STEP) capacity = LARGEST_STEP;
    if (capacity < size) capacity = size;
    struct arena_block *block = xmalloc(sizeof *block + capacity);
    *block = (struct arena_block){.older = arena->blocks, .capacity = capacity};
    arena->blocks = block;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size) {
    if (size > (size_t)-1 - 2 * ALIGNMENT - sizeof(struct arena_block)) bug("arena block of %zu bytes", size);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!arena->blocks || arena->blocks->capacity - arena->used < size) add_block(arena, size);
    void *at = arena->blocks->bytes + arena->used;
    arena->used += size;
    arena->total += size;
    return at;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t size) {
    void *copy = arena_alloc(arena, size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

char *arena_text(struct arena *arena, const char *text, size_t size) {
    char *copy = arena_alloc(arena, size + 1);
    if (size) memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

void arena_reset(struct arena *arena) {
    if (!arena->blocks) return;
    struct arena_block *largest = arena->blocks;
    for (struct arena_block *block = arena->blocks; block; block = block->older)
        if (block->capacity > largest->capacity) largest = block;
    for (struct arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        if (block != largest) free(block);
    }
    largest->older = NULL;
    *arena = (struct arena){.blocks = largest};
}

void arena_free(struct arena *arena) {
    for (struct arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *arena = (struct arena){0};
}
