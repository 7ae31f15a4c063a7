/* sqlite_memory.c: what SQLite asks of its memory: alignment, sizes, contents that stay, also over sizes where pieces come from elsewhere.
 * plain: with the sanitizers SQLite has their memory */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "schema/sqlite_memory.h"

static const int sizes[] = {1, 7, 8, 9, 23, 24, 25, 100, 1000, 1016, 1017, 1032, 4096, 65528, 65536, 200000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void fill(unsigned char *memory, int size, int seed) {
    for (int i = 0; i < size; i++)
        memory[i] = (unsigned char)(i * 7 + seed);
}

static void check(const unsigned char *memory, int size, int seed) {
    for (int i = 0; i < size; i++)
        assert_int_equal(memory[i], (unsigned char)(i * 7 + seed));
}

/* As only this memory does it: 32 bytes is the least of glibc's malloc. */
static void small_pieces_are_close(void **state) {
    (void)state;
    char *first = sqlite3_malloc(1), *second = sqlite3_malloc(1);
    assert_int_equal(second - first, 16);
    sqlite3_free(first);
    assert_ptr_equal(sqlite3_malloc(5), first);
    sqlite3_free(first);
    sqlite3_free(second);
}

static void pieces_are_apart(void **state) {
    unsigned char *pieces[SIZES * 50];
    (void)state;
    for (int i = 0; i < SIZES * 50; i++) {
        int size = sizes[i % SIZES];
        pieces[i] = sqlite3_malloc(size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 8, 0);
        assert_true(sqlite3_msize(pieces[i]) >= (sqlite3_uint64)size);
        fill(pieces[i], (int)sqlite3_msize(pieces[i]), i);
    }
    for (int i = 0; i < SIZES * 50; i++) {
        check(pieces[i], (int)sqlite3_msize(pieces[i]), i);
        sqlite3_free(pieces[i]);
    }
}

static void contents_stay(void **state) {
    (void)state;
    for (int from = 0; from < SIZES; from++)
        for (int to = 0; to < SIZES; to++) {
            unsigned char *piece = sqlite3_malloc(sizes[from]);
            fill(piece, sizes[from], from);
            piece = sqlite3_realloc(piece, sizes[to]);
            assert_non_null(piece);
            check(piece, sizes[from] < sizes[to] ? sizes[from] : sizes[to], from);
            assert_true(sqlite3_msize(piece) >= (sqlite3_uint64)sizes[to]);
            sqlite3_free(piece);
        }
}

/* ---- threads ---- */

enum { THREADS = 4, HANDED = 64 };
static _Atomic(unsigned char *) handed[HANDED]; /* pieces of all threads, which any of them frees */

static bool is_all(const unsigned char *memory, int size, unsigned char value) {
    for (int i = 0; i < size; i++)
        if (memory[i] != value) return false;
    return true;
}

/* Of two threads that have one piece, one writes over what the other wrote. The failures are counted: cmocka's are for one thread. */
static void *use_pieces(void *context) {
    uint64_t random = (uintptr_t)context;
    uintptr_t failures = 0;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned char *piece = sqlite3_malloc(sizes[(random >> 40) % 8]);
        memset(piece, (unsigned char)(random >> 33), sqlite3_msize(piece));
        unsigned char *other = atomic_exchange(&handed[(random >> 50) % HANDED], piece);
        if (other && !is_all(other, (int)sqlite3_msize(other), *other)) failures++;
        sqlite3_free(other);
    }
    return (void *)failures;
}

static void threads_have_pieces_of_their_own(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_pieces, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failures;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_int_equal((uintptr_t)failures, 0);
    }
}

/* 8 MB in all, of at most 100 pieces at once: without a list of what is free they would be others. */
static void freed_pieces_are_used_again(void **state) {
    void *seen[100];
    (void)state;
    for (int i = 0; i < 100; i++)
        seen[i] = sqlite3_malloc(100);
    for (int i = 0; i < 100; i++)
        sqlite3_free(seen[i]);
    for (int round = 0; round < 800; round++) {
        void *again[100];
        for (int i = 0; i < 100; i++) {
            again[i] = sqlite3_malloc(100);
            int at = 0;
            while (at < 100 && seen[at] != again[i])
                at++;
            assert_true(at < 100);
        }
        for (int i = 0; i < 100; i++)
            sqlite3_free(again[i]);
    }
}

static void what_is_too_large_fails(void **state) {
    (void)state;
    assert_null(sqlite3_malloc64((sqlite3_uint64)1 << 40));
    unsigned char *piece = sqlite3_malloc(50);
    fill(piece, 50, 3);
    assert_null(sqlite3_realloc64(piece, (sqlite3_uint64)1 << 40));
    check(piece, 50, 3);
    sqlite3_free(piece);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pieces_are_close), /* first: the lists are empty */
        cmocka_unit_test(pieces_are_apart),
        cmocka_unit_test(contents_stay),
        cmocka_unit_test(freed_pieces_are_used_again),
        cmocka_unit_test(what_is_too_large_fails),
        cmocka_unit_test(threads_have_pieces_of_their_own),
    };
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as db.c has it: else a mutex of SQLite is held in each call */
    sqlite_memory_use();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
