/* The replay of threads with a changed lock: schedules that can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/whatif/replay.h"

#define COUNTED(steps) (steps), sizeof(steps) / sizeof *(steps)

static const struct replay_step main_steps[] = {
    {REPLAY_START, 0, 1}, {REPLAY_START, 0, 2}, {REPLAY_JOIN, 0, 1}, {REPLAY_JOIN, 0, 2}, {REPLAY_WORK, 5, 0}};
static const struct replay_step held[] = {
    {REPLAY_WORK, 10, 0}, {REPLAY_TAKE, 0, 0}, {REPLAY_WORK, 30, 0}, {REPLAY_GIVE, 0, 0}, {REPLAY_WORK, 10, 0}};

/* Main starts two threads and waits for both. Each works 10, holds the lock for 30, and works 10. */
static const struct replay_thread two[] = {
    {COUNTED(main_steps), 0, false}, {COUNTED(held), 0, true}, {COUNTED(held), 0, true}};

static void test_one_lock(void **state) {
    (void)state;
    struct replay_options options = {.processors = 2, .cpu_share = 1};
    assert_int_equal(replay_run(two, 3, 1, &options), 10 + 30 + 30 + 10 + 5);
    options.change = REPLAY_FREE;
    assert_int_equal(replay_run(two, 3, 1, &options), 10 + 30 + 10 + 5);
    options.change = REPLAY_HALF;
    assert_int_equal(replay_run(two, 3, 1, &options), 10 + 15 + 15 + 10 + 5);
    options.lock = 1; /* another one is changed */
    assert_int_equal(replay_run(two, 3, 2, &options), 85);
}

/* On one processor a free lock brings nothing to threads that work; to threads that sleep under it, or need it for a part, it does. */
static void test_processors(void **state) {
    (void)state;
    struct replay_options options = {.processors = 1, .cpu_share = 1, .change = REPLAY_FREE};
    assert_int_equal(replay_run(two, 3, 1, &options), 105);
    options.cpu_share = 0.5;
    assert_int_equal(replay_run(two, 3, 1, &options), 55);
    options.cpu_share = 0;
    assert_int_equal(replay_run(two, 3, 1, &options), 55);
}

/* The first to ask is the first to have it; who has it may take it again. */
static void test_order(void **state) {
    (void)state;
    static const struct replay_step last[] = {
        {REPLAY_WORK, 2, 0}, {REPLAY_TAKE, 0, 0}, {REPLAY_WORK, 1, 0}, {REPLAY_GIVE, 0, 0}};
    static const struct replay_step twice[] = {
        {REPLAY_TAKE, 0, 0}, {REPLAY_TAKE, 0, 0}, {REPLAY_GIVE, 0, 0}, {REPLAY_WORK, 10, 0}, {REPLAY_GIVE, 0, 0}};
    static const struct replay_step sleeps[] = {{REPLAY_TAKE, 0, 0}, {REPLAY_SLEEP, 100, 0}, {REPLAY_GIVE, 0, 0}};
    static const struct replay_thread three[] = {
        {COUNTED(last), 0, false}, {COUNTED(twice), 0, false}, {COUNTED(sleeps), 1, false}};
    const struct replay_options options = {.processors = 8, .cpu_share = 1, .lock = SIZE_MAX};
    assert_int_equal(replay_run(three, 3, 1, &options), 10 + 100 + 1);
}

/* With very many parts the threads hardly meet; the same seed is the same replay. */
static void test_shards(void **state) {
    (void)state;
    struct replay_options options = {.processors = 2, .cpu_share = 1, .change = REPLAY_SHARDS, .shards = 1, .seed = 7};
    assert_int_equal(replay_run(two, 3, 1, &options), 85);
    int apart = 0;
    options.shards = 8;
    for (options.seed = 1; options.seed <= 200; options.seed++) {
        int64_t ended = replay_run(two, 3, 1, &options);
        assert_int_equal(replay_run(two, 3, 1, &options), ended);
        assert_true(ended == 85 || ended == 55);
        apart += ended == 55;
    }
    assert_in_range(apart, 155, 195); /* 7 of 8 are 175; the seeds are fixed */
}

static void test_deadlock(void **state) {
    (void)state;
    static const struct replay_step there[] = {{REPLAY_TAKE, 0, 0}, {REPLAY_WORK, 5, 0}, {REPLAY_TAKE, 0, 1}};
    static const struct replay_step back[] = {{REPLAY_TAKE, 0, 1}, {REPLAY_WORK, 5, 0}, {REPLAY_TAKE, 0, 0}};
    static const struct replay_thread both[] = {{COUNTED(there), 0, false}, {COUNTED(back), 0, false}};
    struct replay_options options = {.processors = 2, .cpu_share = 1, .lock = SIZE_MAX};
    assert_int_equal(replay_run(both, 2, 2, &options), -1);
    options.lock = 1;
    options.change = REPLAY_FREE;
    assert_int_equal(replay_run(both, 2, 2, &options), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lock), cmocka_unit_test(test_processors), cmocka_unit_test(test_order),
        cmocka_unit_test(test_shards),   cmocka_unit_test(test_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
