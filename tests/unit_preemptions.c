/* unit_preemptions: which switches of threads are preemptions, and that the kernel tells them where it lets us ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ingest/record/kernel/preemptions.h"

enum { GETS, IS_OUT, IS_BLOCKED, COUNT = 9 };

static struct preemption_switch at(int64_t ns, int32_t tid, int what) {
    return (struct preemption_switch){1, tid, ns, what == IS_OUT, what == IS_BLOCKED};
}

static void a_thread_that_would_run_on_is_preempted(void **unused) {
    (void)unused;
    struct preemptions preemptions = {.shortest_ns = 10};
    /* Of two processors, so they are out of order. Thread 2 waits by itself, 3 is away for too short, 4 is not back yet. */
    struct preemption_switch switches[COUNT] = {at(130, 1, GETS),   at(160, 2, GETS),       at(109, 3, GETS),
                                                at(100, 1, IS_OUT), at(120, 2, IS_BLOCKED), at(100, 3, IS_OUT),
                                                at(190, 4, IS_OUT), at(200, 1, IS_OUT),     at(210, 1, GETS)};
    preemptions_add(&preemptions, switches, COUNT);
    assert_int_equal(preemptions.count, 2);
    assert_int_equal(preemptions.items[0].tid, 1);
    assert_int_equal(preemptions.items[0].start_ns, 100);
    assert_int_equal(preemptions.items[0].duration_ns, 30);
    assert_int_equal(preemptions.items[1].duration_ns, 10);
    struct preemption_switch back = at(250, 4, GETS);
    preemptions_add(&preemptions, &back, 1);
    assert_int_equal(preemptions.count, 3);
    assert_int_equal(preemptions.items[2].tid, 4);
    assert_int_equal(preemptions.items[2].duration_ns, 60);
    preemptions_free(&preemptions);
}

static void *burn(void *until) {
    while (clock_monotonic_ns() < *(int64_t *)until)
        continue;
    return NULL;
}

/* Two threads burn one processor: each is kept from it for half of the time, about. */
static void the_kernel_tells_them(void **unused) {
    (void)unused;
    struct preemptions preemptions = {.shortest_ns = 1};
    cpu_set_t usable, first;
    pthread_t other;
    int64_t until = clock_monotonic_ns() + 300000000;
    preemptions_watch(&preemptions, getpid());
    if (!preemptions.files.size) {
        preemptions_free(&preemptions);
        skip(); /* it does not let us ask */
    }
    CPU_ZERO(&first);
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
        if (CPU_ISSET(i, &usable)) CPU_SET(i, &first);
    assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
    assert_int_equal(pthread_create(&other, NULL, burn, &until), 0);
    burn(&until);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(sched_setaffinity(0, sizeof usable, &usable), 0);
    preemptions_take(&preemptions);
    int64_t sum_ns = 0;
    for (size_t i = 0; i < preemptions.count; i++) {
        assert_int_equal(preemptions.items[i].process, getpid());
        assert_true(preemptions.items[i].start_ns + preemptions.items[i].duration_ns <= clock_monotonic_ns());
        sum_ns += preemptions.items[i].duration_ns;
    }
    assert_true(sum_ns > 10000000);
    preemptions_free(&preemptions);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_would_run_on_is_preempted),
        cmocka_unit_test(the_kernel_tells_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
