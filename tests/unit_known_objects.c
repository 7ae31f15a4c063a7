/* The table by which a thread finds the counters of a lock: two objects that belong into one place do not drive each other out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/shim/core/runtime.h"

enum { SIZE = 40 }; /* of a mutex */
static struct known_object table[KNOWN_OBJECTS];

static const void *object(uintptr_t number) {
    return (const void *)(0x7f0000001000 + number * SIZE);
}

/* The next one behind `after` that belongs into the same place. */
static uintptr_t same_place(uintptr_t after) {
    uintptr_t number = after + 1;
    while (known_first(table, object(number)) != known_first(table, object(after)))
        number++;
    return number;
}

static void put(const void *object) {
    *known_of(table, object) = (struct known_object){.object = object};
}

static int begin(void **unused) {
    (void)unused;
    for (size_t i = 0; i < KNOWN_OBJECTS; i++)
        table[i] = (struct known_object){0};
    return 0;
}

static void two_have_places(void **unused) {
    (void)unused;
    const void *one = object(0), *other = object(same_place(0));
    put(one), put(other);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(known_of(table, one)->object, one);
        assert_ptr_equal(known_of(table, other)->object, other);
    }
}

static void a_third_takes_the_second_place(void **unused) {
    (void)unused;
    uintptr_t second = same_place(0);
    const void *one = object(0), *other = object(second), *third = object(same_place(second));
    put(one), put(other), put(third);
    assert_ptr_equal(known_of(table, one)->object, one);
    assert_ptr_equal(known_of(table, third)->object, third);
    known_first(table, one)->object = NULL; /* as of one that was destroyed */
    put(other);
    assert_ptr_equal(known_of(table, other)->object, other);
    assert_ptr_equal(known_of(table, other), known_first(table, other));
}

/* A quarter of what fits, at the distances of mutexes, and of objects of a power of two. */
static void an_array_is_spread(void **unused) {
    (void)unused;
    for (uintptr_t size = SIZE; size <= 4096; size = size == SIZE ? 64 : size * 2) {
        begin(NULL);
        for (uintptr_t i = 0; i < KNOWN_OBJECTS / 4; i++)
            put((const void *)(0x7f0000001000 + i * size));
        for (uintptr_t i = 0; i < KNOWN_OBJECTS / 4; i++) {
            const void *at = (const void *)(0x7f0000001000 + i * size);
            assert_ptr_equal(known_of(table, at)->object, at);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(two_have_places, begin),
        cmocka_unit_test_setup(a_third_takes_the_second_place, begin),
        cmocka_unit_test_setup(an_array_is_spread, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
