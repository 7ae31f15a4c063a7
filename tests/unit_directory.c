/* unit_directory: the files of NAME.profile/, the text dumps byte for byte, and how the directory takes the place of
 * what stood there: ours is exchanged whole, anything else is refused and stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "export/export.h"

static const char rows[] =
    "INSERT INTO runs(id, uuid, started_ns, source) VALUES (1, 'u1', 1, 'profile'), (2, 'u2', 2, 'profile'), (3, 'u3', "
    "3, 'profile');"
    "INSERT INTO profiles(id, run_id, kind, dropped, truncated, sample_n) VALUES"
    "  (1, 1, 'heap', 17, 2, 10), (2, 1, 'heap', 0, 0, 10), (3, 1, 'lock', 0, 0, 10), (4, 2, 'lock', 0, 0, 1), (5, 2, "
    "'cpu', 0, 0, 1);"
    "INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 16853568), (2, 0, 16857872), (3, 0, -16);"
    "INSERT INTO traces(id, hash, signature, stack) VALUES (1, 1, 1, '[1,2]'), (2, 2, 2, '[3]');"
    "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES"
    "  (1, 1, 40000, 2560000, 39000, 2500000), (2, 1, 10, 640, 0, 0), (1, 2, 20, 1280, 20, 1280);"
    "INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'symbol:server:table+0', 'server:table'),"
    " (2, 'lock', 'address:0x600000', '0x600000');"
    "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, "
    "hold_ns, "
    "max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES (3, 1, 5242880, 1, 'rwlock', "
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10),"
    "  (3, 2, 6291456, 0, 'mutex', 11, 12, 13, 14, 15, 16, 0, 0, 0, 0), (4, 1, 5242880, 0, 'mutex', 1, 0, 0, 0, 5, 5, "
    "0, 0, 0, 0);"
    "INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (5, 1, 3, 30);"
    /* Run 4: kinds that few programs have, of two processes; and what perf and strace counted of it. */
    "INSERT INTO runs(id, uuid, command, started_ns, duration_ns, source) VALUES (4, 'u4', './server -p 1', 4, "
    "1846210331, 'profile');"
    "INSERT INTO profiles(id, run_id, kind, sample_n) VALUES (6, 4, 'mvcc', 100), (7, 4, 'channels', 1), (8, 4, "
    "'channels', 1), (9, 4, 'fibers', 1), (10, 4, 'fibers', 1), (11, 4, 'counters', 1), (12, 4, 'syscalls', 1);"
    "INSERT INTO objects(id, kind, identity, name) VALUES (3, 'cell', 'c', 'c'), (4, 'channel', 'name:q', 'q');"
    "INSERT INTO cells VALUES (6, 3, 4096, 1, 64, 100, 20, 7, 3, 1), (6, 3, 4096, 0, 64, 5, 0, 0, 0, 0);"
    "INSERT INTO channels VALUES (7, 4, 1, 64, 50, 40, 30, 20, 10, 1111, 2222), (8, 4, 1, 0, 5, 4, 3, 2, 1, 0, 0);"
    "INSERT INTO fibers VALUES (9, 10, 6, 2, 1000, 400), (10, 5, 1, 0, 500, 450);"
    "INSERT INTO schedulers VALUES (9, 0, 8), (9, 1, 4), (10, 0, 5);"
    "INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, schedulers)"
    "  VALUES (9, 12, 6, 8, 6, 600, 400, '{\"10\":1,\"2\":4,\"0\":3}'), (9, 4, 4, 4, 3, 400, 100, '{\"0\":4}'), "
    "  (10, 12, 5, 5, 5, 500, 450, '{\"0\":5}');"
    "UPDATE task_sites SET dispatch = 'local', form = 'fsm' WHERE site = 4;"
    "INSERT INTO counters VALUES (11, 'cycles', 4812330114, 'count'), (11, 'LLC-loads', NULL, 'count'), (11, "
    "'task-clock', 1840.5, 'msec'), (11, 'recorder.events', 7, 'count');"
    "INSERT INTO syscalls VALUES (12, 'read', 9, 0, 3000), (12, 'openat', 3, 2, 1000);"
    /* Run 5: allocations sampled by size. */
    "INSERT INTO runs(id, uuid, started_ns, source) VALUES (5, 'u5', 5, 'profile');"
    "INSERT INTO profiles(id, run_id, kind, period, period_type) VALUES (13, 5, 'heap', 524288, 'space');";

static char directory[200];
static struct db db;

static void want_ok(int code, const struct error *err) {
    if (code < 0 || err->status) fail_msg("%s", err->message);
}

static int open_world(void **state) {
    (void)state;
    struct error err = {0};
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/unit_directory.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(directory) || chdir(directory) < 0) return -1;
    if (db_open(&db, "runs.sqlite", DB_WRITE, &err) < 0) return -1;
    sqlite3_db_config(db.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL); /* of the view sites */
    return db_exec(&db, rows, &err);
}

static int close_world(void **state) {
    (void)state;
    struct error err = {0};
    if (db_close(&db, &err) < 0 || system("rm -r runs.sqlite a.profile") != 0 || chdir("/") < 0) return -1;
    return rmdir(directory); /* fails where a test left something */
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_text(const char *path, const char *expected) {
    char text[2000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

/* What `ls` says, in one line. */
static void check_files(const char *where, const char *expected) {
    char text[500], *command;
    assert_true(asprintf(&command, "ls -A '%s' | tr '\\n' ' '", where) > 0);
    FILE *pipe = popen(command, "r");
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    free(command);
    assert_string_equal(text, expected);
}

static void test_dumps(void **state) {
    (void)state;
    struct error err = {0};
    want_ok(export_directory(&db, 1, "a.profile/", &err), &err);
    check_files("a.profile", "alloc.txt heap.pb.gz lock.pb.gz locks.txt run.txt.gz ");
    check_text("a.profile/alloc.txt", "# alloc-profile v2 (multi-frame, comma-separated leaf-first)\n"
                                      "# total_allocs: 40030\n"
                                      "# sample_n: 10\n"
                                      "# WARNING: 17 samples dropped (rebuild with `clear profile --profile-max=N`)\n"
                                      "# truncated_stacks: 2\n"
                                      "# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n"
                                      "0x1012a40,0x1013b10 40010 2560640 39000 2500000 60640\n"
                                      "0xfffffffffffffff0 20 1280 20 1280 0\n");
    check_text("a.profile/locks.txt",
               "# lock-profile v3\n"
               "# sample_n: 10\n"
               "# object: 0x500000\trwlock\tsymbol:server:table+0\tserver:table\n"
               "# addr\tacquires\tcontended\ttotal_wait_ns\tmax_wait_ns\ttotal_hold_ns\tmax_hold_ns\tread_acquires\t"
               "read_contended\tread_total_wait_ns\tread_max_wait_ns\tcaller_trace\n"
               "0x500000\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t0x1012a40,0x1013b10\n"
               "0x600000\t11\t12\t13\t14\t15\t16\t0\t0\t0\t0\t-\n");
}

/* The formats of CLEAR's own dumps; addresses and channels mean something in their process only, task sites in all. */
static void test_rare_dumps(void **state) {
    (void)state;
    struct error err = {0};
    want_ok(export_directory(&db, 4, "a.profile", &err), &err);
    check_files("a.profile",
                "channels.pb.gz channels.txt fibers.txt mvcc.pb.gz mvcc.txt perf-stat.txt run.txt.gz syscalls.txt ");
    check_text("a.profile/mvcc.txt",
               "# mvcc-profile v2\n"
               "# sample_n: 100\n"
               "# object: 0x1000\tcell\tc\tc\n"
               "# addr\tstruct_size\treads\tcommits\tretries\tupdate_failures\tmulti_commits\tcaller_trace\n"
               "0x1000\t64\t5\t0\t0\t0\t0\t-\n"
               "0x1000\t64\t100\t20\t3\t1\t7\t0x1012a40,0x1013b10\n");
    check_text("a.profile/channels.txt", "# channel-profile v1\n"
                                         "# sample_n: 1\n"
                                         "# id\tpushes\tpops\tpush_blocked\tpop_blocked\tmax_depth\tcapacity\n"
                                         "1\t50\t40\t30\t20\t10\t64\n"
                                         "1\t5\t4\t3\t2\t1\t0\n");
    check_text("a.profile/fibers.txt",
               "# fiber-profile v1\n"
               "# sample_n: 1\n"
               "total_fibers: 15\n"
               "short_fibers_under_1ms: 7\n"
               "vshort_fibers_under_10us: 2\n"
               "total_lifetime_ns: 1500\n"
               "max_lifetime_ns: 450\n"
               "# per-scheduler fibers-run\n"
               "# sched\tfibers\n"
               "0\t13\n"
               "1\t4\n"
               "# per-site fibers\n"
               "# site\tspawns\truns\texits\ttotal_lifetime_ns\tmax_lifetime_ns\tdispatch\tform\tschedulers\n"
               "4\t4\t4\t3\t400\t100\tlocal\tfsm\t0:4\n"
               "12\t11\t13\t11\t1100\t450\t-\t-\t0:8,2:4,10:1\n");
}

/* As the tools print them, which other programs read. */
static void test_tools(void **state) {
    (void)state;
    struct error err = {0};
    want_ok(export_directory(&db, 4, "a.profile", &err), &err);
    check_text("a.profile/perf-stat.txt", " Performance counter stats for './server -p 1':\n"
                                          "\n"
                                          "   <not supported>      LLC-loads\n"
                                          "     4,812,330,114      cycles\n"
                                          "           1840.50 msec task-clock\n"
                                          "\n"
                                          "       1.846210331 seconds time elapsed\n");
    check_text("a.profile/syscalls.txt", "% time     seconds  usecs/call     calls    errors syscall\n"
                                         "------ ----------- ----------- --------- --------- ----------------\n"
                                         " 75.00    0.000003           0         9           read\n"
                                         " 25.00    0.000001           0         3         2 openat\n"
                                         "------ ----------- ----------- --------- --------- ----------------\n"
                                         "100.00    0.000004           0        12         2 total\n");
}

static void test_sampled_by_size(void **state) {
    (void)state;
    struct error err = {0};
    want_ok(export_directory(&db, 5, "a.profile", &err), &err);
    check_files("a.profile",
                "alloc.txt heap.pb.gz run.txt.gz "); /* locks were not recorded: no file says that there were none */
    check_text("a.profile/alloc.txt",
               "# alloc-profile v2 (multi-frame, comma-separated leaf-first)\n# total_allocs: 0\n"
               "# sample_n: 1\n# sample_bytes: 524288\n"
               "# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n");
}

static void test_replaced_whole(void **state) {
    (void)state;
    struct error err = {0};
    write_text("a.profile/perf.data", "of an older run");
    want_ok(export_directory(&db, 2, "a.profile", &err), &err);
    check_files("a.profile", "cpu.pb.gz lock.pb.gz locks.txt run.txt.gz ");
    check_text("a.profile/locks.txt",
               "# lock-profile v2\n"
               "# sample_n: 1\n"
               "# object: 0x500000\tmutex\tsymbol:server:table+0\tserver:table\n"
               "# addr\tacquires\tcontended\ttotal_wait_ns\tmax_wait_ns\ttotal_hold_ns\tmax_hold_ns\tread_acquires\t"
               "read_contended\tread_total_wait_ns\tread_max_wait_ns\n"
               "0x500000\t1\t0\t0\t0\t5\t5\t0\t0\t0\t0\n");
    check_files(".", "a.profile runs.sqlite runs.sqlite-shm runs.sqlite-wal ");
}

/* A program that never allocated and never locked still has its four files, which say so. */
static void test_nothing_recorded(void **state) {
    (void)state;
    struct error err = {0};
    want_ok(export_directory(&db, 3, "a.profile", &err), &err);
    check_files("a.profile", "alloc.txt heap.pb.gz lock.pb.gz locks.txt run.txt.gz ");
    check_text("a.profile/alloc.txt",
               "# alloc-profile v2 (multi-frame, comma-separated leaf-first)\n# total_allocs: 0\n"
               "# sample_n: 1\n# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n");
}

static void test_link_is_followed(void **state) {
    (void)state;
    struct error err = {0};
    struct stat status;
    assert_int_equal(symlink("a.profile", "link.profile"), 0);
    want_ok(export_directory(&db, 2, "link.profile", &err), &err);
    assert_int_equal(lstat("link.profile", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_files("a.profile", "cpu.pb.gz lock.pb.gz locks.txt run.txt.gz ");
    unlink("link.profile");
}

static void check_refused(const char *path, const char *message) {
    struct error err = {0};
    assert_int_equal(export_directory(&db, 1, path, &err), -1);
    assert_int_equal(err.status, ERROR_FAILURE);
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
    check_files("a.profile", "cpu.pb.gz lock.pb.gz locks.txt run.txt.gz thesis.tex ");
    check_files(".", "a.profile runs.sqlite runs.sqlite-shm runs.sqlite-wal ");
}

static void test_foreign_is_kept(void **state) {
    (void)state;
    write_text("a.profile/thesis.tex", "years of work");
    check_refused("a.profile", "a.profile: contains thesis.tex, which is not part of a profile");
    check_text("a.profile/thesis.tex", "years of work");
    check_refused("runs.sqlite", "runs.sqlite: is a file, not a directory");
    check_refused("missing/a.profile", "missing/a.profile: cannot make a directory here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dumps),
        cmocka_unit_test(test_rare_dumps),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_sampled_by_size),
        cmocka_unit_test(test_replaced_whole),
        cmocka_unit_test(test_nothing_recorded),
        cmocka_unit_test(test_link_is_followed),
        cmocka_unit_test(test_foreign_is_kept),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
