/* What perf stat and strace print, as rows: of sound output, of odd output and of broken output, which leaves nothing behind.
 * And perf itself, attached to a child of ours that is held until perf counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/record/collector.h"
#include "ingest/record/launch.h"
#include "ingest/record/tools.h"

static char home[] = "/tmp/clear-unit-XXXXXX";
static struct db db;
static int64_t run_id;

static int set_up(void **state) {
    (void)state;
    struct error err = {0};
    char *command[] = {(char *)"./server", NULL};
    if (!mkdtemp(home) || chdir(home) || db_open(&db, ":memory:", DB_WRITE, &err)) return -1;
    run_id = run_begin(&db, &(struct run_description){.command = command}, &err);
    return run_id > 0 ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    struct error err = {0};
    if (unlink("output") || chdir("/") || rmdir(home)) return -1; /* fails where a tool left something */
    return db_close(&db, &err);
}

static int64_t ask(const char *sql) {
    struct error err = {0};
    int64_t value = -1;
    if (db_int(&db, sql, -1, &value, &err)) fail_msg("%s", err.message);
    return value;
}

static int store(enum tool tool, const char *text, struct error *err) {
    FILE *file = fopen("output", "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    *err = (struct error){0};
    return tool_store(&db, run_id, tool, "output", NULL, err);
}

static void counters_are_read(void **state) {
    (void)state;
    struct error err;
    assert_int_equal(store(TOOL_PERF_STAT,
                           "# started on Sat Nov 21 10:00:00 2026\n\n"
                           "4812330114;;cycles:u;1846210331;100.00;;\n"
                           "<not supported>;;LLC-loads;0;100.00;;\n"
                           "<not counted>;;cpu/event=0x3c,umask=0x0/;0;0.00;;\n"
                           "0.71;msec;task-clock;710095;100.00;0.584;CPUs utilized\n",
                           &err),
                     0);
    assert_int_equal(ask("SELECT count(*) FROM profiles WHERE kind = 'counters'"), 1);
    assert_int_equal(ask("SELECT value FROM counters WHERE name = 'cycles:u' AND unit = 'count'"), 4812330114);
    assert_int_equal(ask("SELECT count(*) FROM counters WHERE value IS NULL"), 2);
    assert_int_equal(ask("SELECT value = 0.71 FROM counters WHERE name = 'task-clock' AND unit = 'msec'"), 1);
}

static void system_calls_are_read(void **state) {
    (void)state;
    struct error err;
    assert_int_equal(store(TOOL_STRACE,
                           "    calls     seconds syscall             errors\n"
                           "--------- ----------- ---------------- ---------\n"
                           "       39    0.000614 openat                  19\n"
                           "       30 1234.567890 mmap                      \n"
                           "--------- ----------- ---------------- ---------\n"
                           "       69 1234.568504 total                   19\n",
                           &err),
                     0);
    assert_int_equal(ask("SELECT count(*) FROM syscalls"), 2);
    assert_int_equal(ask("SELECT time_ns FROM syscalls WHERE name = 'openat' AND calls = 39 AND errors = 19"), 614000);
    assert_int_equal(ask("SELECT time_ns FROM syscalls WHERE name = 'mmap' AND calls = 30 AND errors = 0"),
                     1234567890000);
}

/* The line is named, and no half of the file stays. */
static void broken_output_is_refused_whole(void **state) {
    (void)state;
    static const struct {
        enum tool tool;
        const char *text, *message;
    } cases[] = {
        {TOOL_PERF_STAT, "12;;cycles;1;100.00;;\nno counter\n", "output:2: cannot be parsed: no counter"},
        {TOOL_PERF_STAT, "12x;;cycles;1;100.00;;\n", "output:1: cannot be parsed: 12x"},
        {TOOL_PERF_STAT, "12;;;1;100.00;;\n", "output:1: cannot be parsed"},
        {TOOL_STRACE, "3 0.000614 openat 19\nstrace: Process 7 detached\n",
         "output:2: cannot be parsed: strace: Process"},
        {TOOL_STRACE, "-3 0.000614 openat\n", "output:1: cannot be parsed"},
        {TOOL_STRACE, "3 nan openat\n", "output:1: cannot be parsed"},
    };
    int64_t profiles = ask("SELECT count(*) FROM profiles"), rows = ask("SELECT count(*) FROM counters");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err;
        assert_int_equal(store(cases[i].tool, cases[i].text, &err), -1);
        assert_int_equal(err.status, ERROR_FAILURE);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
        assert_int_equal(ask("SELECT count(*) FROM profiles"), profiles);
        assert_int_equal(ask("SELECT count(*) FROM counters"), rows);
    }
}

/* ---- perf itself ------------------------------------------------------------------------------------------------- */

static struct watcher sampler, counter;

static int attach(void *context, pid_t pid, struct error *err) {
    (void)context;
    if (watcher_start(&sampler, TOOL_PERF_RECORD, 999, pid, "perf.data", err)) return -1;
    return watcher_start(&counter, TOOL_PERF_STAT, 0, pid, "perf-stat", err);
}

/* Two tools at once on a shell whose children burn the time: the file is perf's, and the time is that of all of them. */
static void perf_watches_from_the_first_instruction(void **state) {
    (void)state;
    struct error err = {0};
    struct launch launch = {.before_exec = attach};
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"head -c 300000000 /dev/zero | md5sum >/dev/null", NULL};
    int status = -1;
    if (tool_check(TOOL_PERF_RECORD, "--cpu=perf", ".", &err) || tool_check(TOOL_PERF_STAT, "--counters", ".", &err))
        skip(); /* not permitted here */
    if (launch_start(&launch, "/bin/sh", arguments, NULL, NULL, &err)) fail_msg("%s", err.message);
    while (!launch_wait(&launch, 50000000, &status))
        continue;
    launch_end(&launch);
    assert_int_equal(status, 0);
    if (watcher_end(&sampler, &err) || watcher_end(&counter, &err)) fail_msg("%s", err.message);
    char magic[9] = "";
    FILE *file = fopen("perf.data", "r");
    assert_non_null(file);
    assert_int_equal(fread(magic, 1, 8, file), 8);
    fclose(file);
    assert_string_equal(magic, "PERFILE2");
    assert_int_equal(tool_store(&db, run_id, TOOL_PERF_RECORD, "perf.data", NULL, &err), 0);
    assert_true(ask("SELECT sum(samples) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE run_id = 1") > 0);
    assert_int_equal(tool_store(&db, run_id, TOOL_PERF_STAT, "perf-stat", NULL, &err), 0);
    /* md5sum of 300 MB is 0.3 to 2 s; a counter that saw sh alone would have a few ms. */
    assert_true(ask("SELECT value FROM counters JOIN profiles ON profiles.id = profile_id WHERE name = 'task-clock'"
                    " AND unit = 'msec' ORDER BY profile_id DESC LIMIT 1") > 150);
    assert_int_equal(unlink("perf.data"), 0);
    assert_int_equal(unlink("perf-stat"), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static int refuse(void *context, pid_t pid, struct error *err) {
    *(pid_t *)context = pid;
    return error_fail(err, "not today");
}

/* What before_exec refuses was never executed. */
static void a_refused_child_does_not_exec(void **state) {
    (void)state;
    struct error err = {0};
    pid_t pid = 0;
    struct launch launch = {.before_exec = refuse, .context = &pid};
    char *arguments[] = {(char *)"touch", (char *)"executed", NULL};
    assert_int_equal(launch_start(&launch, "/bin/touch", arguments, NULL, NULL, &err), -1);
    assert_string_equal(err.message, "not today");
    assert_true(pid > 0);
    assert_int_equal(access("executed", F_OK), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_read),
        cmocka_unit_test(system_calls_are_read),
        cmocka_unit_test(broken_output_is_refused_whole),
        cmocka_unit_test(perf_watches_from_the_first_instruction),
        cmocka_unit_test(a_refused_child_does_not_exec),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
