/* Which programs are taken, which are refused and why, and the private directory. Programs are made on the spot by the
 * system's compiler, so that each property is real and not a header written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ingest/record/launch.h"
#include "ingest/record/private_dir.h"
#include "ingest/record/recordable.h"

static char home[] = "/tmp/clear-launch-XXXXXX";

static void shell(const char *command) {
    int status = system(command);
    if (status) fail_msg("status %d: %s", status, command);
}

static void write_file(const char *name, const char *text, mode_t mode) {
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(home));
    assert_int_equal(chdir(home), 0);
    write_file("empty.c", "int main(void) { return 0; }\n", 0600);
    shell("cc -o dynamic empty.c");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    assert_int_equal(chdir("/"), 0);
    char *command = xasprintf("rm -rf %s", home);
    int status = system(command);
    free(command);
    return status;
}

static void expect_taken(const char *path) {
    struct error err = {0};
    if (recordable_check(path, path, &(struct by_perf){0}, &err)) fail_msg("%s", err.message);
}

/* Refused as a usage error in one line that names the target and says `why`. */
static void expect_refused(const char *path, const char *why) {
    struct error err = {0};
    assert_int_equal(recordable_check(path, path, &(struct by_perf){0}, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    if (!strstr(err.message, why)) fail_msg("\"%s\" does not say \"%s\"", err.message, why);
    assert_int_equal(strncmp(err.message, path, strlen(path)), 0);
    assert_null(strchr(err.message, '\n'));
}

static void dynamic_programs_are_taken(void **state) {
    (void)state;
    shell("cc -no-pie -o fixed empty.c && cc -s -o stripped empty.c");
    expect_taken("./dynamic");
    expect_taken("./fixed");
    expect_taken("./stripped");
}

static void what_is_no_program_is_refused(void **state) {
    (void)state;
    shell("cc -c -o object.o empty.c && chmod +x object.o && head -c 100 dynamic > cut && chmod +x cut");
    write_file("data", "just text\n", 0700);
    write_file("nothing", "", 0700);
    write_file("locked", "#!/bin/sh\n", 0600);
    expect_refused("./missing", "No such file");
    expect_refused(".", "directory");
    expect_refused("/dev/null", "regular");
    expect_refused("./locked", "not executable");
    expect_refused("./data", "neither an ELF program nor a script");
    expect_refused("./nothing", "neither an ELF program nor a script");
    expect_refused("./object.o", "but not a program");
    expect_refused("./cut", "statically linked"); /* its program headers are gone */
}

static void static_programs_are_refused(void **state) {
    (void)state;
    shell("cc -static -o static empty.c && cc -static-pie -o static-pie empty.c");
    expect_refused("./static", "statically linked");
    expect_refused("./static-pie", "statically linked");
}

/* Bytes of a sound program changed in one place: the header says another class or machine. */
static void patch(const char *name, long offset, unsigned char byte) {
    char *command = xasprintf("cp dynamic %s", name);
    shell(command);
    free(command);
    int file = open(name, O_RDWR);
    assert_int_equal(pwrite(file, &byte, 1, offset), 1);
    close(file);
}

static void other_machines_are_refused(void **state) {
    (void)state;
    patch("narrow", 4, 1);
    patch("arm", 18, 183);
    expect_refused("./narrow", "32-bit");
    expect_refused("./arm", "x86-64");
}

static void other_loaders_are_refused(void **state) {
    (void)state;
    shell("cc -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 -o musl empty.c");
    expect_refused("./musl", "musl");
}

static void sanitized_programs_are_refused(void **state) {
    (void)state;
    shell("cc -fsanitize=address -o asan empty.c && cc -fsanitize=thread -o tsan empty.c");
    shell("cc -fsanitize=address -static-libasan -o asan-inside empty.c");
    shell("cc -fsanitize=undefined -o ubsan empty.c");
    expect_refused("./asan", "AddressSanitizer");
    expect_refused("./tsan", "ThreadSanitizer");
    expect_refused("./asan-inside", "AddressSanitizer");
    expect_taken("./ubsan"); /* its runtime leaves malloc alone */
}

static void privileged_programs_are_refused(void **state) {
    (void)state;
    shell("cp dynamic setuid && chmod u+s setuid && cp dynamic setgid && chmod g+sx setgid");
    expect_refused("./setuid", "setuid");
    expect_refused("./setgid", "setgid");
    /* VFS_CAP_REVISION_2, effective, CAP_NET_BIND_SERVICE: what setcap(8) writes. Needs CAP_SETFCAP. */
    const uint32_t capability[5] = {0x02000001, 1u << 10, 0, 0, 0};
    shell("cp dynamic capable");
    if (setxattr("capable", "security.capability", capability, sizeof capability, 0) == 0)
        expect_refused("./capable", "capabilities");
    else
        print_message("capabilities not tried: %s\n", strerror(errno));
}

static void scripts_are_judged_by_their_interpreter(void **state) {
    (void)state;
    shell("cc -static -o interpreter empty.c");
    write_file("good", "#! /bin/sh -e\ntrue\n", 0700);
    write_file("unnamed", "#!\n", 0700);
    write_file("lost", "#!/nowhere/sh\n", 0700);
    char *text = xasprintf("#!%s/interpreter\n", home);
    write_file("on-static", text, 0700);
    free(text);
    text = xasprintf("#!%s/itself\n", home);
    write_file("itself", text, 0700);
    free(text);
    expect_taken("./good");
    expect_refused("./unnamed", "interpreter");
    expect_refused("./lost", "/nowhere/sh: No such file");
    expect_refused("./on-static", "statically linked");
    expect_refused("./itself", "too many scripts");
}

static void names_are_looked_up_in_path(void **state) {
    (void)state;
    struct error err = {0};
    char *before = xstrdup(getenv("PATH"));
    shell("mkdir -p a b && cp dynamic b/tool && echo x > a/tool");
    setenv("PATH", "a:b", 1);
    char *found = recordable_find("tool", &err);
    assert_string_equal(found, "b/tool"); /* a/tool cannot be executed: execvp goes on as well */
    free(found);
    setenv("PATH", "a", 1);
    found = recordable_find("tool", &err);
    assert_string_equal(found, "a/tool"); /* so that the message can say what is wrong with it */
    free(found);
    found = recordable_find("./dynamic", &err);
    assert_string_equal(found, "./dynamic");
    free(found);
    assert_null(recordable_find("dynamic", &err));
    assert_int_equal(err.status, ERROR_USAGE);
    assert_non_null(strstr(err.message, "./dynamic"));
    setenv("PATH", before, 1);
    free(before);
}

/* ---- the private directory --------------------------------------------------------------------------------------- */

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static void the_directory_is_private_and_goes(void **state) {
    (void)state;
    struct private_dir directory;
    struct error err = {0};
    struct stat status;
    assert_int_equal(private_dir_make(&directory, &err), 0);
    assert_int_equal(stat(directory.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(openat(directory.file, "1-1.seg", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0, 0);
    char *path = xstrdup(directory.path);
    private_dir_sweep(NULL);
    assert_true(exists(path)); /* we live, so it is not left over */
    private_dir_remove(&directory);
    assert_false(exists(path));
    free(path);
}

/* A recorder that dies at once, with a link to `target` in its directory, whose path this is; free() it. Any clear on the machine may sweep it from then
 * on. */
static char *abandoned_directory(const char *target) {
    int pipes[2];
    char path[512] = "";
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct private_dir directory;
        struct error err = {0};
        if (private_dir_make(&directory, &err) || symlinkat(target, directory.file, "1-1.seg")) _exit(1);
        ssize_t size = write(pipes[1], directory.path, strlen(directory.path));
        _exit(size < 0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(pipes[1]);
    assert_true(read(pipes[0], path, sizeof path - 1) > 0);
    close(pipes[0]);
    return xstrdup(path);
}

static void what_dead_recorders_left_is_swept(void **state) {
    (void)state;
    char *target = xasprintf("%s/precious", home);
    write_file("precious", "keep me\n", 0600);
    char *path = abandoned_directory(target);
    for (int tries = 0; tries < 500 && exists(path); tries++) {
        private_dir_sweep(NULL);
        if (exists(path)) usleep(10000); /* another one is at it */
    }
    assert_false(exists(path));
    assert_true(exists(target)); /* the link went, not what it points at */
    free(path);
    free(target);
}

static void links_in_place_of_a_directory_are_not_followed(void **state) {
    (void)state;
    char *victim = xasprintf("%s/victim", home), *inside = xasprintf("%s/owner", victim);
    char *link = xasprintf("/dev/shm/clear-%u-999999999-0", (unsigned)getuid());
    assert_int_equal(mkdir(victim, 0700), 0);
    write_file(inside, "1\n", 0600);
    unlink(link);
    assert_int_equal(symlink(victim, link), 0);
    private_dir_sweep(NULL);
    assert_true(exists(inside));
    assert_int_equal(unlink(link), 0);
    free(victim);
    free(inside);
    free(link);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* libc.so.6 stands for the runtime: it is there, and preloading it changes nothing. */
static int status_of(const char *path, char *const *arguments) {
    struct launch launch = {0};
    struct error err = {0};
    int status = -1;
    if (launch_start(&launch, path, arguments, "libc.so.6", home, &err)) fail_msg("%s", err.message);
    while (!launch_wait(&launch, 50000000, &status))
        continue;
    launch_end(&launch);
    return status;
}

static void the_wait_status_is_the_programs(void **state) {
    (void)state;
    char *seven[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    char *killed[] = {(char *)"sh", (char *)"-c", (char *)"kill -KILL $$", NULL};
    assert_int_equal(status_of("/bin/sh", seven), 7 << 8);
    assert_int_equal(status_of("/bin/sh", killed), SIGKILL);
}

static void a_failed_exec_is_reported_and_undone(void **state) {
    (void)state;
    struct launch launch = {0};
    struct error err = {0};
    sigset_t before, after;
    char *arguments[] = {(char *)"data", NULL};
    write_file("data", "no program\n", 0700);
    sigprocmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(launch_start(&launch, "./data", arguments, "libc.so.6", home, &err), -1);
    assert_int_equal(err.status, ERROR_USAGE);
    assert_non_null(strstr(err.message, strerror(ENOEXEC)));
    sigprocmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dynamic_programs_are_taken),
        cmocka_unit_test(what_is_no_program_is_refused),
        cmocka_unit_test(static_programs_are_refused),
        cmocka_unit_test(other_machines_are_refused),
        cmocka_unit_test(other_loaders_are_refused),
        cmocka_unit_test(sanitized_programs_are_refused),
        cmocka_unit_test(privileged_programs_are_refused),
        cmocka_unit_test(scripts_are_judged_by_their_interpreter),
        cmocka_unit_test(names_are_looked_up_in_path),
        cmocka_unit_test(the_directory_is_private_and_goes),
        cmocka_unit_test(what_dead_recorders_left_is_swept),
        cmocka_unit_test(links_in_place_of_a_directory_are_not_followed),
        cmocka_unit_test(the_wait_status_is_the_programs),
        cmocka_unit_test(a_failed_exec_is_reported_and_undone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
