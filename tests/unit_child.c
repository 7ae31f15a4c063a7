/* base/child.h: what comes back of a child, and that none outlives its limits. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"

static const struct child_limits usual = {.output_max = 1 << 20, .seconds = 30};

/* As `sh -c`. Afterwards there is no child. */
static enum child_end run(const char *script, const struct buffer *input, const struct child_limits *limits,
                          struct buffer *out, struct error *err) {
    const char *const argv[] = {"sh", "-c", script, NULL};
    enum child_end end = child_read(argv, input, limits, out, err);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return end;
}

static void test_output(void **state) {
    struct buffer out = {0};
    struct error err = {0};
    (void)state;
    buffer_add_text(&out, "before ");
    assert_int_equal(run("printf 'a b'; printf never >&2", NULL, &usual, &out, &err), CHILD_DONE);
    assert_string_equal(out.data, "before a b");
    assert_int_equal(err.status, ERROR_NONE);
    buffer_free(&out);
}

/* More both ways than pipes hold, and as much on standard error: nobody waits for anybody. */
static void test_much(void **state) {
    struct buffer in = {0}, out = {0};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < 100000; i++)
        buffer_add_text(&in, "12345678\n");
    assert_int_equal(run("tee /dev/stderr | cat", &in, &usual, &out, &err), CHILD_DONE);
    assert_int_equal(out.size, in.size);
    assert_memory_equal(out.data, in.data, in.size);
    buffer_free(&in);
    buffer_free(&out);
}

/* A file that takes less than it is given: the input is whole, or there is none. */
static void test_input_beyond_a_limit(void **state) {
    struct rlimit old, limit;
    struct buffer in = {0}, out = {0};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < 10000; i++)
        buffer_add_text(&in, "12345678\n");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){.rlim_cur = 5000, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int file = child_input(&in), why = errno;
    enum child_end end = run("cat", &in, &usual, &out, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(file, -1);
    assert_int_equal(why, EFBIG);
    assert_int_equal(end, CHILD_FAILED);
    assert_int_equal(out.size, 0);
    file = child_input(&in);
    assert_int_equal(lseek(file, 0, SEEK_CUR), 0);
    assert_int_equal(lseek(file, 0, SEEK_END), in.size);
    close(file);
    buffer_free(&in);
    buffer_free(&out);
}

static void test_no_input(void **state) {
    struct buffer out = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(run("wc -c | tr -d ' '", NULL, &usual, &out, &err), CHILD_DONE);
    assert_string_equal(out.data, "0\n");
    buffer_free(&out);
}

static void test_missing(void **state) {
    const char *const argv[] = {"no-such-program-anywhere", NULL};
    struct buffer out = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(child_read(argv, NULL, &usual, &out, &err), CHILD_MISSING);
    assert_int_equal(err.status, ERROR_NONE);
}

static void expect_failure(const char *script, const struct child_limits *limits, const char *message) {
    struct buffer out = {0};
    struct error err = {0};
    assert_int_equal(run(script, NULL, limits, &out, &err), CHILD_FAILED);
    assert_int_equal(err.status, ERROR_FAILURE);
    assert_string_equal(err.message, message);
    assert_true(out.size <= limits->output_max);
    buffer_free(&out);
}

static void test_failures(void **state) {
    (void)state;
    expect_failure("echo why >&2; echo more >&2; exit 3", &usual, "sh failed: why");
    expect_failure("exit 3", &usual, "sh failed with status 3");
    expect_failure("kill -9 $$", &usual, "sh was ended by signal 9");
}

static void test_limits(void **state) {
    static const struct child_limits small = {.output_max = 1 << 20, .seconds = 30},
                                     short_time = {.output_max = 1 << 20, .seconds = 1};
    struct timespec before, after;
    (void)state;
    expect_failure("exec yes", &small, "sh: more than 1 MiB of output, stopped");
    clock_gettime(CLOCK_MONOTONIC, &before);
    expect_failure("exec sleep 1000", &short_time, "sh: did not end within 1 seconds, stopped");
    expect_failure("exec >/dev/null 2>&1; exec sleep 1000", &short_time, "sh was ended by signal 9");
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 30);
}

/* What this process ignores or blocks does not reach the child: `yes` ends by SIGPIPE. */
static void test_signals(void **state) {
    struct buffer out = {0};
    struct error err = {0};
    sigset_t all, old;
    (void)state;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(run("yes | head -n 1", NULL, &usual, &out, &err), CHILD_DONE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    assert_string_equal(out.data, "y\n");
    buffer_free(&out);
}

/* What it started ends with it: it would have the pipes, and work, for as long as it likes. */
static void test_group(void **state) {
    static const struct child_limits small = {.output_max = 100, .seconds = 30, .group = CHILD_GROUP};
    struct buffer out = {0};
    struct error err = {0};
    const char *const argv[] = {"sh", "-c", "sleep 5 & echo $!; yes", NULL};
    int status = 0;
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* so that it becomes ours */
    assert_int_equal(child_read(argv, NULL, &small, &out, &err), CHILD_FAILED);
    pid_t sleeper = atoi(buffer_text(&out)), got = waitpid(sleeper, &status, 0);
    assert_true(got < 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    while (wait(NULL) > 0) /* and `yes` */
        continue;
    /* The shell may have waited for it, if the kernel killed it first. */
    assert_true(kill(sleeper, 0) < 0 && errno == ESRCH);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output),   cmocka_unit_test(test_group),
        cmocka_unit_test(test_much),     cmocka_unit_test(test_input_beyond_a_limit),
        cmocka_unit_test(test_no_input), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
