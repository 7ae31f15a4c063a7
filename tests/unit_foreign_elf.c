/* unit_foreign_elf: binaries that are made to harm who reads them: names and sections that stand for gigabytes, debug information that is walked for
 * ever, files that are no files. They have no names then, and whoever asks goes on. Without a limit each of these takes all memory, or does not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/sanitized.h"
#include "ingest/symbols/symbolize.h"

enum { ENDS_WITHIN_S = 60, DOUBLINGS = 40, NESTED = 200 };

static char directory[] = "/tmp/unit_foreign_elf.XXXXXX";

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...) {
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    char *whole = xasprintf("cd %s && %s", directory, command);
    if (system(whole) != 0) fail_msg("failed: %s", whole);
    free(whole);
}

static void save(const char *name, const char *text) {
    char *path = xasprintf("%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(path);
}

/* The name of `symbol` of a binary, as the symbolizer gives it; free() it. */
static char *name_of(const char *binary, const char *symbol) {
    char *command = xasprintf("cd %s && nm named | grep ' %s$'", directory, symbol), line[4096];
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    free(command);
    char *path = xasprintf("%s/%s", directory, binary);
    struct symbolizer *symbolizer = symbolizer_open();
    const struct symbol_frame *frames;
    assert_true(symbolize(symbolizer_module(symbolizer, path, ""), strtoull(line, NULL, 16), &frames) >= 1);
    char *name = xstrdup(frames[0].name);
    symbolizer_close(symbolizer);
    free(path);
    return name;
}

static void expect_name(const char *binary, const char *symbol, const char *expected) {
    char *name = name_of(binary, symbol);
    assert_string_equal(name, expected);
    free(name);
}

/* "f<a<int,int>, a<S1_,S1_>, a<S2_,S2_>, ...>": each argument has twice the letters of the one before. */
static char *name_that_doubles(void) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct buffer name = {0};
    buffer_add_text(&name, "_Z1fI1aIiiE");
    for (size_t i = 1; i < DOUBLINGS; i++) {
        char part[8];
        if (i < 36)
            snprintf(part, sizeof part, "S%c_", digits[i]);
        else
            snprintf(part, sizeof part, "S%c%c_", digits[i / 36], digits[i % 36]);
        buffer_printf(&name, "S0_I%s%sE", part, part);
    }
    buffer_add_text(&name, "EvT_");
    return buffer_take(&name);
}

static void names_that_stand_for_gigabytes_stay_as_linked(void **state) {
    (void)state;
    char *name = name_that_doubles(), *readable = demangle_name("_Z1fI1aIiiES0_IS1_S1_EEvT_", 0);
    assert_string_equal(readable, "f<a<int, int>, a<a<int, int>, a<int, int> > >");
    free(readable);
    assert_null(demangle_name(name, 0));
    char *source = xasprintf("int hostile(int) __asm__(\"%s\"); int hostile(int x) { return x + 1; }\n", name);
    save("names.c", source);
    run("$CC -O1 -fPIC -shared -o named names.c");
    expect_name("named", name, name);
    free(source);
    free(name);
}

static void sections_that_inflate_a_thousand_times_are_not_read(void **state) {
    (void)state;
    save("plain.c", "int plain(int x) { return x + 1; }\n");
    run("$CC -g -gz -fPIC -shared -o named plain.c");
    expect_name("named", "plain", "plain");
    save("zeros.s", ".section .debug_macro,\"\",@progbits\n.zero 83886080\n.section .note.GNU-stack,\"\",@progbits\n");
    run("$CC -g -gz -Wa,--compress-debug-sections -fPIC -shared -o bomb plain.c zeros.s");
    char *name = name_of("bomb", "plain");
    assert_ptr_equal(strstr(name, "bomb+0x"), name);
    free(name);
}

/* The one that is no file: who opens it for reading waits for a writer. */
static void parts_of_debug_information_are_files(void **state) {
    (void)state;
    save("split.c", "int split(int x) { return x + 1; }\n");
    run("$CC -g -gsplit-dwarf -fPIC -shared -o named split.c && rm -f *.dwo && mkfifo \"$(readelf -wi named "
        "2>/dev/null | "
        "sed -n 's/.*DW_AT_\\(GNU_\\)\\?dwo_name.*: //p' | head -n 1)\"");
    expect_name("named", "split", "split");
    run("$CC -g -fPIC -shared -o named split.c && objcopy --only-keep-debug named apart.debug && "
        "objcopy --strip-debug --add-gnu-debuglink=apart.debug named linked && rm apart.debug && mkfifo apart.debug");
    expect_name("linked", "split", "split");
}

/* gzip is inflated by libdwfl without a limit. */
static void only_elf_files_are_read(void **state) {
    (void)state;
    save("zipped.c", "int zipped(int x) { return x + 1; }\n");
    run("$CC -fPIC -shared -o named zipped.c && gzip -c named >file.gz");
    char *name = name_of("file.gz", "zipped");
    assert_ptr_equal(strstr(name, "file.gz+0x"), name);
    free(name);
}

/* Each namespace has all that follow among its children, and the next but one as its sibling: so many ways as Fibonacci's numbers. */
static void debug_information_is_walked_once(void **state) {
    (void)state;
    struct buffer text = {0};
    buffer_add_text(
        &text, ".text\n.globl walked\n.type walked,@function\nwalked: nop\nnop\nret\n.Lend:\n.size walked, .-walked\n"
               ".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n.byte 1,0x11,1,0x13,5,0x11,1,0x12,7,0,0\n"
               ".byte 2,0x39,1,0x01,0x13,0,0\n.byte 0\n.section .debug_info,\"\",@progbits\n"
               ".Lunit: .long .Lunit_end-.Lunit_start\n.Lunit_start: .short 4\n.long .Labbrev\n.byte 8\n"
               ".byte 1\n.short 4\n.quad walked\n.quad .Lend-walked\n");
    for (int i = 0; i < NESTED; i++)
        buffer_printf(&text, ".L%d: .byte 2\n.long .L%d-.Lunit\n", i, i + 2);
    buffer_printf(&text, ".L%d: .byte 0\n.L%d: .zero %d\n.Lunit_end:\n", NESTED, NESTED + 1, NESTED);
    buffer_add_text(&text, ".section .note.GNU-stack,\"\",@progbits\n");
    save("walked.s", buffer_text(&text));
    buffer_free(&text);
    run("$CC -fPIC -shared -o named walked.s");
    expect_name("named", "walked", "walked");
}

static int set_up(void **state) {
    const struct rlimit memory = {(rlim_t)2 << 30, (rlim_t)2 << 30};
    (void)state;
    setenv("CC", "gcc", 0);
#if !IS_SANITIZED
    if (setrlimit(RLIMIT_DATA, &memory)) return -1;
#else
    (void)memory;
#endif
    alarm(ENDS_WITHIN_S);
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char *command = xasprintf("rm -rf %s", directory);
    int code = system(command);
    free(command);
    return code;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_stand_for_gigabytes_stay_as_linked),
        cmocka_unit_test(sections_that_inflate_a_thousand_times_are_not_read),
        cmocka_unit_test(parts_of_debug_information_are_files),
        cmocka_unit_test(only_elf_files_are_read),
        cmocka_unit_test(debug_information_is_walked_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
