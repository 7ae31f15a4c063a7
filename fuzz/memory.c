/* SQLite's memory under the fuzzer. Its library is not instrumented, and most of what it asks malloc for lives no longer than a statement:
 * under the address sanitizer, with redzones, stacks and a quarantine, such pieces cost more than the statement itself. So it gets pieces of
 * blocks, by power of two, which are given back to a list. A replay, which does not call LLVMFuzzerInitialize, leaves it at malloc, so that
 * reading beyond a value of SQLite is seen there. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fuzz/fuzz.h"

enum {
    POWERS = 32,
    SMALLEST = 5,
    BLOCK = 4 << 20,
    LARGE = 18 /* from 256 KiB on, malloc; a temporary table takes 87 KiB */
};

/* Before each piece; 16 bytes, so that the piece is aligned as malloc's. */
struct piece {
    struct piece *next; /* of a free one */
    uint64_t power;
};

static struct piece *free_pieces[POWERS];
static char *block;
static size_t block_left;

static unsigned power_of(int size) {
    unsigned power = SMALLEST;
    while (((size_t)1 << power) < (size_t)size + sizeof(struct piece))
        power++;
    return power;
}

static struct piece *cut(unsigned power) {
    size_t size = (size_t)1 << power;
    if (power >= LARGE) return malloc(size);
    if (block_left < size) {
        block = xmalloc(BLOCK); /* what is left of the one before is lost */
        block_left = BLOCK;
    }
    struct piece *piece = (struct piece *)(void *)block;
    block += size;
    block_left -= size;
    return piece;
}

static void *take(int size) {
    unsigned power = power_of(size);
    struct piece *piece = free_pieces[power];
    if (piece)
        free_pieces[power] = piece->next;
    else if (!(piece = cut(power)))
        return NULL;
    piece->power = power;
    return piece + 1;
}

static struct piece *piece_of(void *memory) {
    return (struct piece *)memory - 1;
}

static void give_back(void *memory) {
    if (!memory) return;
    struct piece *piece = piece_of(memory);
    if (piece->power >= LARGE) {
        free(piece);
        return;
    }
    piece->next = free_pieces[piece->power];
    free_pieces[piece->power] = piece;
}

static int size_of(void *memory) {
    return memory ? (int)(((size_t)1 << piece_of(memory)->power) - sizeof(struct piece)) : 0;
}

static void *resize(void *memory, int size) {
    int before = size_of(memory);
    if (memory && size <= before) return memory;
    void *larger = take(size);
    if (larger && memory) memcpy(larger, memory, (size_t)before);
    if (larger) give_back(memory);
    return larger;
}

static int round_up(int size) {
    return size_of(&(struct piece){.power = power_of(size)} + 1);
}

static int begin(void *unused) {
    (void)unused;
    return SQLITE_OK;
}

static void end(void *unused) {
    (void)unused;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    static const sqlite3_mem_methods methods = {take, give_back, resize, size_of, round_up, begin, end, NULL};
    (void)count, (void)arguments;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) || sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0))
        bug("SQLite takes no memory of ours");
    return 0;
}
