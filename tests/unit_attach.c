/* ingest/attach: the pieces by which a running process is entered, one by one, against this process itself. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "ingest/attach/attach.h"
#include "ingest/attach/code.h"
#include "ingest/attach/running.h"
#include "ingest/attach/stand.h"

static void open_self(struct running *self) {
    struct error err = {0};
    assert_int_equal(running_open(self, getpid(), &err), 0);
}

/* From the memory of the process, not from a file. */
static void functions_are_those_of_the_loader(void **state) {
    static const char *const names[] = {"dlopen", "dlsym", "dlerror", "__errno_location", "malloc"};
    struct running self;
    (void)state;
    open_self(&self);
    const struct running_mapping *libc = running_module(&self, "libc.so.6");
    assert_non_null(libc);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(running_function(&self, libc->low, names[i]) ==
                    (uintptr_t)dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), names[i]));
    assert_true(running_function(&self, libc->low, "no_such_function") == 0);
    assert_true(running_function(&self, libc->low + 4096, "dlopen") == 0);
    running_close(&self);
}

static void the_gate_has_room_in_code(void **state) {
    static const uint8_t zeros[CODE_GATE_SIZE];
    struct running self;
    (void)state;
    open_self(&self);
    uint64_t at = running_unused_code(&self, CODE_GATE_SIZE);
    const struct running_mapping *mapping = running_mapping_at(&self, at);
    assert_true(at != 0);
    assert_non_null(mapping);
    assert_true(mapping->is_executable && at + CODE_GATE_SIZE <= mapping->high);
    assert_memory_equal((const void *)(uintptr_t)at, zeros, sizeof zeros);
    assert_true(running_unused_code(&self, 1 << 20) == 0);
    running_close(&self);
}

/* syscall first, and at the end the address of the instruction that is to be made. */
static void the_gate_leads_back(void **state) {
    struct user_regs_struct registers = {
        .rip = 0x7000000002, .orig_rax = SYS_read, .rdi = 1, .rsi = 2, .rdx = 3, .r10 = 4, .r8 = 5, .r9 = 6};
    const uint64_t values[] = {SYS_read, 1, 2, 3, 4, 5, 6};
    uint8_t code[CODE_GATE_SIZE];
    uint64_t value;
    (void)state;
    code_gate(code, &registers);
    assert_int_equal(code[0], 0x0f);
    assert_int_equal(code[1], 0x05);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        memcpy(&value, code + 4 + 10 * i, sizeof value);
        assert_true(value == values[i]);
    }
    memcpy(&value, code + sizeof code - sizeof value, sizeof value);
    assert_true(value == 0x7000000000);
}

static void the_passage_fits_its_page(void **state) {
    uint8_t page[CODE_PAGE];
    (void)state;
    assert_in_range(code_passage(page), code_passage_end() + 1, CODE_PAGE);
    assert_true(sizeof(struct passage) + (64 << 10) < PASSAGE_SIZE); /* what is left is the stack */
}

static void a_stand_is_chosen_with_care(void **state) {
    static const char *const plain[] = {"read",  "__read", "__GI___read",  "epoll_wait",      "pthread_cond_wait",
                                        "write", "writev", "__libc_pread", "__libc_pwrite64", "__libc_read"};
    static const char *const others[] = {"malloc", "printf", "fork", "exit",        "dlopen", "rea",          "ead",
                                         "",       "fwrite", "mmap", "__libc_fork", "libc_",  "__libc_malloc"};
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_true(stand_is_plain(plain[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(stand_is_plain(others[i]));
    assert_true(stand_is_call(SYS_epoll_wait) && stand_is_call(SYS_futex));
    assert_false(stand_is_call(SYS_mmap) || stand_is_call(SYS_brk) || stand_is_call(SYS_munmap) ||
                 stand_is_call(SYS_clone) || stand_is_call(SYS_execve) || stand_is_call(SYS_rt_sigreturn) ||
                 stand_is_call(SYS_exit_group));
}

/* The C library names a function after any of its symbols, and a hook has the one that the program called. */
static void names_of_one_function_are_the_same(void **state) {
    (void)state;
    assert_true(stand_is_same("pread", "pread64") && stand_is_same("__libc_pread", "pread64"));
    assert_true(stand_is_same("__read", "read") && stand_is_same("open64", "__open64"));
    assert_false(stand_is_same("read", "pread") || stand_is_same("read", "readv") || stand_is_same("64", ""));
}

static void what_cannot_be_attached_to_is_said(void **state) {
    struct error self = {0}, none = {0};
    (void)state;
    assert_int_equal(attach_look(getpid(), &self), -1);
    assert_non_null(strstr(self.message, "is this clear itself"));
    assert_int_equal(attach_look(0x7ffffff0, &none), -1);
    assert_int_equal(none.status, ERROR_USAGE);
    assert_false(attach_is_there(getpid()));
}

/* In a container process 1 is one as any other. */
static void the_init_of_the_machine_is_not_entered(void **state) {
    struct error err = {0};
    struct stat status;
    (void)state;
    if (stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != 0xeffffffc) skip();
    assert_int_not_equal(attach_look(1, &err), ATTACH_ENTER);
    assert_non_null(strstr(err.message, "process 1 "));
    if (geteuid() == 0) assert_non_null(strstr(err.message, "is init"));
}

/* A program that has begun: it gave back what it was given. Before that it may be without its libc, or in the middle of loading it. */
static pid_t begun_program(void) {
    int to[2], from[2];
    char byte = 'x';
    assert_int_equal(pipe(to) | pipe(from), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        execlp("cat", "cat", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    assert_int_equal(write(to[1], &byte, 1), 1);
    assert_int_equal(read(from[0], &byte, 1), 1);
    return pid; /* it waits for more: the pipes stay open */
}

/* It could be entered when it was looked at: not this program, which may have the allocator of a sanitizer. */
static void one_that_goes_after_the_look_is_said(void **state) {
    struct attached attached;
    struct error err = {0};
    (void)state;
    pid_t pid = begun_program();
    assert_int_equal(attach_look(pid, &err), ATTACH_ENTER);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(attach_begin(&attached, pid, "/none", "/none", &err), -1);
    assert_non_null(strstr(err.message, "process"));
    assert_true(attach_has_ended(pid));
}

static void one_that_has_ended_meanwhile_is_said(void **state) {
    struct attached attached;
    struct error err = {0};
    (void)state;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(attach_begin(&attached, pid, "/none", "/none", &err), -1);
    assert_non_null(strstr(err.message, "process"));
    assert_true(attach_has_ended(pid));
    assert_int_equal(attach_end(&attached, &err), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_the_loader),
        cmocka_unit_test(the_gate_has_room_in_code),
        cmocka_unit_test(the_gate_leads_back),
        cmocka_unit_test(the_passage_fits_its_page),
        cmocka_unit_test(a_stand_is_chosen_with_care),
        cmocka_unit_test(names_of_one_function_are_the_same),
        cmocka_unit_test(what_cannot_be_attached_to_is_said),
        cmocka_unit_test(the_init_of_the_machine_is_not_entered),
        cmocka_unit_test(one_that_goes_after_the_look_is_said),
        cmocka_unit_test(one_that_has_ended_meanwhile_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
