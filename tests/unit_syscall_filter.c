/* ingest/record/kernel/syscall_filter.h, over texts as the kernel writes them. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/record/kernel/syscall_filter.h"

static void test_texts(void **state) {
    (void)state;
    assert_true(syscall_filter_is_absent_in(
        "Name:\tserver\nPid:\t71\nNSpid:\t71\nNoNewPrivs:\t1\nSeccomp:\t0\nSeccomp_filters:\t0\n", 71));
    assert_false(syscall_filter_is_absent_in("NSpid:\t71\nNoNewPrivs:\t1\nSeccomp:\t2\n", 71));
    assert_false(syscall_filter_is_absent_in("NSpid:\t71\nNoNewPrivs:\t1\nSeccomp:\t1\n", 71));
    /* another process that goes by the number here */
    assert_false(syscall_filter_is_absent_in("NSpid:\t71\nNoNewPrivs:\t0\nSeccomp:\t0\n", 71));
    assert_false(syscall_filter_is_absent_in("NSpid:\t71\t2\nNoNewPrivs:\t1\nSeccomp:\t0\n", 71));
    assert_false(syscall_filter_is_absent_in("NSpid:\t714\nNoNewPrivs:\t1\nSeccomp:\t0\n", 71));
    /* a name is not a line of its own */
    assert_false(syscall_filter_is_absent_in("Name:\tx\\nSeccomp:\t0\nNSpid:\t71\nNoNewPrivs:\t1\n", 71));
    assert_false(syscall_filter_is_absent_in("NSpid:\t71\nNoNewPrivs:\t1\nSeccomp:\t0", 71));
    assert_false(syscall_filter_is_absent_in("", 71));
}

static void test_processes(void **state) {
    (void)state;
    assert_false(syscall_filter_is_absent(-1));
    pid_t child = fork();
    if (child == 0) _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !syscall_filter_is_absent(getpid()));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A filter that allows everything, of one thread. */
static void *lock_in(void *stop) {
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    struct sock_fprog filter = {1, &allow};
    bool is_locked = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    pthread_barrier_wait(stop);
    pthread_barrier_wait(stop);
    return is_locked ? stop : NULL;
}

static int look_at_threads(void) {
    pthread_barrier_t stop;
    pthread_t thread;
    void *locked;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || pthread_barrier_init(&stop, NULL, 2)) return 2;
    if (pthread_create(&thread, NULL, lock_in, &stop)) return 2;
    pthread_barrier_wait(&stop);
    bool is_absent = syscall_filter_is_absent(getpid());
    pthread_barrier_wait(&stop);
    pthread_join(thread, &locked);
    return locked ? is_absent : 3;
}

static void test_threads(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) _exit(look_at_threads());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_processes),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
