/* ingest/record/kernel/memory_group.h, over directories that look as /proc and /sys/fs/cgroup do. */
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
#include "ingest/record/kernel/memory_group.h"

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

static void expect_group(const char *root, int64_t before, int64_t limit) {
    struct memory_group group;
    memory_group_find(&group, root, PID);
    assert_int_equal(group.before, before);
    assert_int_equal(group.limit, limit);
    assert_int_equal(memory_group_kills(&group), 0);
    memory_group_free(&group);
}

static void test_second_version(void **state) {
    const char *root = new_root();
    struct memory_group group;
    (void)state;
    put(root, "proc/7/cgroup", "0::/web.slice/web.service\n");
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.events",
        "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n");
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.max", "50331648\n");
    memory_group_find(&group, root, PID);
    assert_int_equal(group.before, 2);
    assert_int_equal(group.limit, 48 << 20);
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.events", "max 9\noom 3\noom_kill 5\n");
    assert_int_equal(memory_group_kills(&group), 3);
    memory_group_free(&group);
    put(root, "sys/fs/cgroup/web.slice/web.service/memory.max", "max\n");
    expect_group(root, 5, 0);
}

static void test_first_version(void **state) {
    const char *root = new_root();
    (void)state;
    put(root, "proc/7/cgroup", "9:cpu,cpuacct:/a\n4:hugetlb,memory:/jobs:7/x\n1:name=memory:/b\n0::/c\n");
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.limit_in_bytes", "9223372036854771712\n");
    expect_group(root, 6, 0);
    put(root, "sys/fs/cgroup/memory/jobs:7/x/memory.limit_in_bytes", "1048576\n");
    expect_group(root, 6, 1 << 20);
}

/* A container that sees the path of its host, and its own group as the root. */
static void test_container(void **state) {
    const char *root = new_root();
    (void)state;
    put(root, "proc/7/cgroup", "0::/docker/0123abcd\n");
    put(root, "sys/fs/cgroup/memory.events", "oom_kill 1\n");
    put(root, "sys/fs/cgroup/memory.max", "4096\n");
    expect_group(root, 1, 4096);
}

static void test_system(void **state) {
    const char *root = new_root();
    (void)state;
    expect_group(root, 40, -1); /* no group can be read */
    put(root, "proc/7/cgroup", "0::/\nnonsense\n:\n");
    expect_group(root, 40, -1); /* the root has no counter */
    put(root, "proc/vmstat", "nr_free_pages 5\n");
    expect_group(root, -1, -1);
    put(root, "proc/7/cgroup", "");
    expect_group(root, -1, -1);
}

static void expect_text(int64_t kills, int64_t limit, const char *expected) {
    char *text = memory_group_text(kills, limit);
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
        cmocka_unit_test(test_second_version), cmocka_unit_test(test_first_version), cmocka_unit_test(test_container),
        cmocka_unit_test(test_system),         cmocka_unit_test(test_text),          cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
