/* spin_loop.h: whether machine code of x86-64 is a loop that only asks memory again and again: it stores nothing, calls nothing, and keeps
 * nothing from one turn to the next, so that it leaves only by what another thread stores. Known are the few instructions that such loops
 * consist of; with any other one a loop is none. So a search, a sum or an interpreter is none: each of them counts or walks. */
#ifndef CLEAR_INGEST_SYMBOLS_SPIN_LOOP_H
#define CLEAR_INGEST_SYMBOLS_SPIN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASKED_MAX = 4 };

struct spin_loop {
    size_t head;      /* offset of its first instruction in the code */
    int instructions; /* in one turn */
    bool has_pause;   /* one of them is `pause`: it is meant to wait */
    int64_t asked
        [ASKED_MAX]; /* global variables that it loads, at fixed places of the file: offsets from the start of the code */
    int asked_count;
    int64_t called; /* of a loop that sleeps: the other function that a turn may call, in the same way; 0: none */
};

enum { SPIN_LOOP_REACH = 128 }; /* bytes before and behind an address that matter */

/* The loop around the instruction that begins at `at`, in `size` bytes of code; false: there is none. */
bool spin_loop_find(const uint8_t *code, size_t size, size_t at, struct spin_loop *loop);

/* The same of a loop that sleeps in each turn, by a call that ends at `end_of_call`: it stores nothing outside of its frame, and calls at most one other
 * function, `called`, which must be what asks for errno. It may count its turns. A loop that asks for no global variable is none. */
bool nap_loop_find(const uint8_t *code, size_t size, size_t end_of_call, struct spin_loop *loop);

/* The loop around the instruction that begins at `at`, if it stores to one place in each turn: by registers that it does not change, and not in the frame of its
 * function. It may compute, and calls nothing. */
bool store_loop_find(const uint8_t *code, size_t size, size_t at, struct spin_loop *loop);

/* Whether an instruction that stores to memory relative to itself has its displacement at `at`, with `number` bytes behind it (0, 1, 2 or 4). */
bool is_store_relative(const uint8_t *code, size_t at, size_t number);

#endif
