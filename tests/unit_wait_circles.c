/* wait_circles.c: which threads wait for each other, and who has a lock. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/record/wait_circles.h"
#include "ingest/segment.h"

/* "12 21 31": thread 1 waits for a lock of 2, 2 for one of 1, 3 for one of 1; a 0 is nobody that is known. Those without an end, as "12". */
static void expect_endless(const char *text, const char *expected) {
    struct circle_wait waits[16] = {{0}};
    char found[32] = "";
    size_t count = 0;
    for (const char *at = text; *at; at += at[2] ? 3 : 2)
        waits[count++] = (struct circle_wait){.tid = (uint32_t)(at[0] - '0'), .owner = (uint32_t)(at[1] - '0')};
    wait_circles_find(waits, count);
    for (size_t i = 0; i < count; i++)
        if (waits[i].is_endless) found[strlen(found)] = (char)('0' + waits[i].tid);
    assert_string_equal(found, expected);
}

static void test_circles(void **state) {
    (void)state;
    expect_endless("12 21", "12");
    expect_endless("12 23 31", "123");
    expect_endless("12 21 34 43", "1234");
    expect_endless("11", "1"); /* its own lock */
}

static void test_no_circles(void **state) {
    (void)state;
    expect_endless("12 23", ""); /* 3 has a lock, and waits for none */
    expect_endless("10 20", ""); /* nobody knows who has them */
    expect_endless("12 20", "");
    expect_endless("31 12 21", "12"); /* 3 waits for a lock of a circle that it is not in */
    expect_endless("43 31 12 21", "12");
    expect_endless("21 31 41", ""); /* three wait for one */
}

static void test_owners(void **state) {
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, free_mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&written);
    pthread_rwlock_rdlock(&read);
    struct circle_wait waits[] = {{.kind = OBJECT_MUTEX, .lock = (uintptr_t)&mutex},
                                  {.kind = OBJECT_MUTEX, .lock = (uintptr_t)&free_mutex},
                                  {.kind = OBJECT_RWLOCK, .lock = (uintptr_t)&written},
                                  {.kind = OBJECT_RWLOCK, .lock = (uintptr_t)&read},
                                  {.kind = OBJECT_SPIN, .lock = (uintptr_t)&mutex},
                                  {.kind = OBJECT_MUTEX, .lock = 16}}; /* no memory is there */
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    wait_circles_look(getpid(), waits, sizeof waits / sizeof *waits);
    const uint32_t expected[] = {own, 0, own, 0, 0, 0};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        assert_int_equal(waits[i].owner, expected[i]);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&written);
    pthread_rwlock_unlock(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circles), cmocka_unit_test(test_no_circles),
                                       cmocka_unit_test(test_owners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
