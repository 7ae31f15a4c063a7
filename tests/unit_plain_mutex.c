/* Mutexes that the hooks take and give back in place: glibc's own functions say what must stand in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"

static pthread_mutex_t *comes_to_wait;
static bool waits_meanwhile(int *word, int *expected, int value);
#undef compare_exchange
#define compare_exchange(at, expected, value) waits_meanwhile(at, expected, value)

#include "ingest/shim/locks/plain_mutex.c"

struct real_functions real;
void real_resolve(void) {
}

/* Between the look at the word and its change another thread begins to wait: it writes 2. */
static bool waits_meanwhile(int *word, int *expected, int value) {
    if (comes_to_wait) comes_to_wait->__data.__lock = 2;
    comes_to_wait = NULL;
    return __atomic_compare_exchange_n(word, expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* By its file, because a library of a sanitizer has functions of these names too. */
static int (*of_libc(const char *name))(pthread_mutex_t *) {
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(libc);
    void *found = dlsym(libc, name);
    dlclose(libc);
    assert_non_null(found);
    return (int (*)(pthread_mutex_t *))found;
}

static int begin(void **state) {
    (void)state;
    real.pthread_mutex_lock = of_libc("pthread_mutex_lock");
    real.pthread_mutex_unlock = of_libc("pthread_mutex_unlock");
    plain_mutexes_try();
    return 0;
}

static void glibc_s_own_are_known(void **state) {
    (void)state;
    assert_int_equal(plain_kinds, PTHREAD_MUTEX_RECURSIVE_NP + 1);
}

static int lock_of_another_library(pthread_mutex_t *mutex) {
    return pthread_mutex_lock(mutex);
}

static void those_of_another_library_are_called(void **state) {
    (void)state;
    real.pthread_mutex_lock = lock_of_another_library;
    plain_mutexes_try();
    assert_int_equal(plain_kinds, 0);
}

/* Of glibc's file, with the right result, and leaves something else: as another version of glibc may. */
static void what_leaves_something_else_is_called(void **state) {
    (void)state;
    real.pthread_mutex_lock = of_libc("pthread_mutex_destroy");
    plain_mutexes_try();
    assert_int_equal(plain_kinds, 0);
    real.pthread_mutex_lock = of_libc("pthread_mutex_lock");
    real.pthread_mutex_unlock = of_libc("pthread_mutex_destroy");
    plain_mutexes_try();
    assert_int_equal(plain_kinds, 0);
}

static pthread_mutex_t of_kind(int kind) {
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (kind != PTHREAD_MUTEX_TIMED_NP)
        pthread_mutexattr_settype(&attributes, kind); /* else it would be another one of the same number: see below */
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return mutex;
}

/* A type that is said to be PTHREAD_MUTEX_NORMAL has a bit more than one of which nothing is said. */
static void other_kinds_are_left_alone(void **state) {
    (void)state;
    pthread_mutex_t normal;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&normal, &attributes);
    assert_false(plain_mutex_take(&normal));
    const int kinds[] = {PTHREAD_MUTEX_ERRORCHECK_NP, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_mutex_t mutex = of_kind(kinds[i]), before = mutex;
        assert_false(plain_mutex_take(&mutex));
        assert_memory_equal(&mutex, &before, sizeof mutex);
        pthread_mutex_lock(&mutex);
        before = mutex;
        assert_false(plain_mutex_give(&mutex));
        assert_memory_equal(&mutex, &before, sizeof mutex);
    }
}

/* What is an error, or a wait, is glibc's to say. */
static void what_is_not_free_is_left_alone(void **state) {
    (void)state;
    pthread_mutex_t plain = of_kind(PTHREAD_MUTEX_TIMED_NP), recursive = of_kind(PTHREAD_MUTEX_RECURSIVE_NP);
    assert_false(plain_mutex_give(&plain) || plain_mutex_give(&recursive)); /* nobody has them */
    assert_true(plain_mutex_take(&plain) && plain_mutex_take(&recursive));
    assert_false(plain_mutex_take(&plain));
    recursive.__data.__count = UINT_MAX;
    assert_false(plain_mutex_take(&recursive));
    recursive.__data.__owner++;
    recursive.__data.__count = 1;
    pthread_mutex_t before = recursive;
    assert_false(plain_mutex_take(&recursive) || plain_mutex_give(&recursive)); /* another thread has it */
    assert_memory_equal(&recursive, &before, sizeof recursive);
    plain.__data.__lock = 2; /* somebody waits */
    before = plain;
    assert_false(plain_mutex_give(&plain));
    assert_memory_equal(&plain, &before, sizeof plain);
}

/* Then the release is glibc's, which wakes: the mutex is as it was. */
static void who_comes_to_wait_meanwhile_is_woken(void **state) {
    (void)state;
    const int kinds[] = {PTHREAD_MUTEX_TIMED_NP, PTHREAD_MUTEX_RECURSIVE_NP};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_mutex_t mutex = of_kind(kinds[i]);
        assert_true(plain_mutex_take_as(&mutex, (uint32_t)kinds[i], false));
        pthread_mutex_t before = mutex;
        before.__data.__lock = 2;
        comes_to_wait = &mutex;
        assert_false(plain_mutex_give_as(&mutex, (uint32_t)kinds[i], false));
        assert_null(comes_to_wait);
        assert_memory_equal(&mutex, &before, sizeof mutex);
    }
}

/* What was taken in place can be given back by glibc, and the other way round. */
static void both_can_be_mixed(void **state) {
    (void)state;
    const int kinds[] = {PTHREAD_MUTEX_TIMED_NP, PTHREAD_MUTEX_RECURSIVE_NP};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_mutex_t mutex = of_kind(kinds[i]), fresh = mutex;
        assert_true(plain_mutex_take(&mutex));
        assert_int_equal(mutex.__data.__owner, gettid());
        assert_int_equal(pthread_mutex_unlock(&mutex), 0);
        assert_memory_equal(&mutex, &fresh, sizeof mutex);
        assert_int_equal(pthread_mutex_lock(&mutex), 0);
        assert_true(plain_mutex_give(&mutex));
        assert_memory_equal(&mutex, &fresh, sizeof mutex);
        assert_int_equal(pthread_mutex_destroy(&mutex), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(glibc_s_own_are_known, begin),
        cmocka_unit_test_setup(those_of_another_library_are_called, begin),
        cmocka_unit_test_setup(what_leaves_something_else_is_called, begin),
        cmocka_unit_test_setup(other_kinds_are_left_alone, begin),
        cmocka_unit_test_setup(what_is_not_free_is_left_alone, begin),
        cmocka_unit_test_setup(who_comes_to_wait_meanwhile_is_woken, begin),
        cmocka_unit_test_setup(both_can_be_mixed, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
