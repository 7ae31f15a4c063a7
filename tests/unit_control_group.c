/* ingest/record/kernel/control_group.h, over directories that look as /proc and /sys/fs/cgroup do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "ingest/record/kernel/control_group.h"

enum { PID = 7 };

/* Makes its directories, too. */
static void put(const char *root, const char *path, const char *text) {
    char *file = xasprintf("%s/%s", root, path);
    for (char *slash = strchr(file + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(file, 0700);
        *slash = '/';
    }
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    free(file);
}

static const char *new_root(void) {
    static char root[64];
    strcpy(root, "root.XXXXXX");
    assert_non_null(mkdtemp(root));
    put(root, "proc/vmstat", "nr_free_pages 5\noom_kill 40\noom_kill_disable 1\n");
    return root;
}

static void expect_kills(const char *root, int64_t before, int64_t limit) {
    struct control_group group;
    control_group_find(&group, root, PID);
    assert_int_equal(group.before.kills, before);
    struct control_group_use use = control_group_use(&group);
    assert_int_equal(use.memory_limit, limit);
    assert_int_equal(use.kills, 0);
    control_group_free(&group);
}

static void test_memory_of_second_version(void **state) {
    const char *root = new_root();
    struct control_group group;
    (void)state;
    put(root, "proc/7/cgroup", "0::/web.slice/web.service\n");
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.events",
        "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n");
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.max", "50331648\n");
    control_group_find(&group, root, PID);
    assert_int_equal(group.before.kills, 2);
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.events", "max 9\noom 3\noom_kill 5\n");
    assert_int_equal(control_group_use(&group).kills, 3);
    assert_int_equal(control_group_use(&group).memory_limit, 48 << 20);
    control_group_free(&group);
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.max", "max\n");
    expect_kills(root, 5, 0);
}

static void test_memory_of_first_version(void **state) {
    const char *root = new_root();
    (void)state;
    put(root, "proc/7/cgroup", "9:cpu,cpuacct:/a\n4:hugetlb,memory:/jobs:7/x\n1:name=memory:/b\n0::/c\n");
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "sys/fs/cgroup/c/memory.events", "oom_kill 90\n");
    expect_kills(root, 6, 0);
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.limit_in_bytes", "1048576\n");
    expect_kills(root, 6, 1 << 20);
}

/* A container that sees the path of its host, and its own group as the root. */
static void test_container(void **state) {
    const char *root = new_root();
    (void)state;
    put(root, "proc/7/cgroup", "0::/docker/0123abcd\n");
    put(root, "sys/fs/cgroup/memory.events", "oom_kill 1\n");
    put(root, "sys/fs/cgroup/memory.max", "4096\n");
    expect_kills(root, 1, 4096);
}

static void test_system(void **state) {
    const char *root = new_root();
    (void)state;
    expect_kills(root, 40, -1); /* no group can be read */
    put(root, "proc/7/cgroup", "0::/\nnonsense\n:\n");
    expect_kills(root, 40, -1); /* the root has no counter */
    put(root, "proc/vmstat", "nr_free_pages 5\n");
    expect_kills(root, -1, -1);
    put(root, "proc/7/cgroup", "");
    expect_kills(root, -1, -1);
}

static void expect_processors(const char *root, const char *stat, const char *text, int64_t limit, int64_t ns) {
    struct control_group group;
    control_group_find(&group, root, PID);
    put(root, stat, text);
    struct control_group_use use = control_group_use(&group);
    assert_int_equal(use.processor_thousandths, limit);
    assert_int_equal(use.throttled_ns, ns);
    control_group_free(&group);
}

static void test_processors_of_second_version(void **state) {
    const char *root = new_root(), *stat = "sys/fs/cgroup/a/cpu.stat";
    (void)state;
    put(root, "proc/7/cgroup", "0::/a\n");
    expect_processors(root, stat, "nr_periods 3\nthrottled_usec 100\n", 0, 0); /* not there at first */
    put(root, "sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    expect_processors(root, stat, "usage_usec 7\nnr_periods 3\nthrottled_usec 350\n", 2500, 250000);
    put(root, "sys/fs/cgroup/a/cpu.max", "max 100000\n");
    expect_processors(root, stat, "throttled_usec 350\n", 0, 0);
    put(root, "sys/fs/cgroup/a/cpu.max", "250000\n");
    expect_processors(root, stat, "throttled_usec 9223372036854775807\n", 0, 0);
}

static void test_processors_of_first_version(void **state) {
    const char *root = new_root(), *stat = "sys/fs/cgroup/cpu/a/cpu.stat";
    (void)state;
    put(root, "proc/7/cgroup", "9:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n");
    put(root, stat, "nr_throttled 2\nthrottled_time 1000\n");
    put(root, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    put(root, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    expect_processors(root, stat, "nr_throttled 2\nthrottled_time 1000\n", 0, 0);
    put(root, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n");
    expect_processors(root, stat, "nr_throttled 9\nthrottled_time 5000\n", 200, 4000);
}

static void expect_text(int64_t kills, int64_t limit, const char *expected) {
    char *text = control_group_memory_text(&(struct control_group_use){.kills = kills, .memory_limit = limit});
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    free(text);
}

static void test_text(void **state) {
    (void)state;
    expect_text(0, 5, NULL);
    expect_text(-1, 5, NULL);
    expect_text(1, 48 << 20, "out of memory at 48.0 MiB: the kernel ended 1 process of its control group");
    expect_text(2, 0, "out of memory: the kernel ended 2 processes of its control group");
    expect_text(2, -1, "out of memory: the kernel ended 2 processes of this system");
}

static void test_rank(void **state) {
    (void)state;
    int before = memory_rank_set(MEMORY_RANK_FIRST);
    assert_int_equal(memory_rank_set(before), MEMORY_RANK_FIRST);
    assert_int_equal(memory_rank_set(before), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_second_version),
        cmocka_unit_test(test_memory_of_first_version),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_processors_of_second_version),
        cmocka_unit_test(test_processors_of_first_version),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
