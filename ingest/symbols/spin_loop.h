/* spin_loop.h: whether machine code of x86-64 is a loop that only asks memory again and again: it stores nothing, calls nothing, and keeps
 * nothing from one turn to the next, so that it leaves only by what another thread stores. Known are the few instructions that such loops
 * consist of; with any other one a loop is none. So a search, a sum or an interpreter is none: each of them counts or walks. */
#ifndef CLEAR_INGEST_SYMBOLS_SPIN_LOOP_H
#define CLEAR_INGEST_SYMBOLS_SPIN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spin_loop {
    size_t head;      /* offset of its first instruction in the code */
    int instructions; /* in one turn */
    bool has_pause;   /* one of them is `pause`: it is meant to wait */
};

enum { SPIN_LOOP_REACH = 128 }; /* bytes before and behind an address that matter */

/* The loop around the instruction that begins at `at`, in `size` bytes of code; false: there is none. */
bool spin_loop_find(const uint8_t *code, size_t size, size_t at, struct spin_loop *loop);

#endif
