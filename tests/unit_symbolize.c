/* unit_symbolize: names, files and lines of small programs compiled here, in every shape that real ones come in,
 * against what binutils (addr2line, nm, c++filt, readelf, objdump) say of the same files. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/elf_file.h"
#include "base/error.h"
#include "ingest/symbols/symbolize.h"

static char directory[200];

static const char c_source[] =
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "int counter = 7; static long table[100]; static const char words[64] = \"abc\"; int zeroed[9];\n"
    "static inline __attribute__((always_inline)) int innermost(int x) {\n"
    "    if (x > counter)\n"
    "        counter += x * 3;\n"
    "    return counter ^ x;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(int x) {\n"
    "    int sum = innermost(x + 1);\n"
    "    for (int i = 0; i < x; i++) { int block = innermost(i); sum += block * innermost(block); }\n"
    "    return sum;\n"
    "}\n"
    "__attribute__((noinline)) static int hidden(int x) {\n"
    "    table[x % 100] += middle(x);\n"
    "    return (int)table[0] + words[x & 63] + zeroed[x % 9];\n"
    "}\n"
    "__attribute__((noinline)) int exported_before(int x) { return x * counter; }\n"
    "__attribute__((noinline)) int exported(int x) {\n"
    "    char *copy = strdup(words); int n = hidden(x) + middle(x * 2); n += copy[0]; free(copy);\n"
    "    if (__builtin_expect(n == 12345, 0)) { puts(\"cold\"); abort(); }\n"
    "    return n;\n"
    "}\n"
    "__attribute__((noinline)) static int hidden_last(int x) { return x - counter; }\n"
    "int main(int argc, char **argv) {\n"
    "    (void)argv; printf(\"%d\\n\", exported(argc) + exported_before(argc) + hidden_last(argc)); return 0;\n"
    "}\n";

static const char cxx_source[] =
    "#include <algorithm>\n"
    "#include <cstdio>\n"
    "#include <map>\n"
    "#include <string>\n"
    "#include <vector>\n"
    "namespace outer { namespace {\n"
    "struct Thing { std::vector<int> v; Thing() { v.reserve(10); }\n"
    "    template <class T> __attribute__((noinline)) void add(T x) { v.push_back((int)x); }\n"
    "    __attribute__((noinline)) int sum(int f) const { auto l = [&](int q) { return q * f; }; int s = 0;\n"
    "        for (int i : v) s += l(i); return s; } };\n"
    "}\n"
    "__attribute__((noinline)) int over(int x) { return x + 1; }\n"
    "__attribute__((noinline)) int over(double x) { return (int)x - 1; } }\n"
    "static std::map<std::string, int> names;\n"
    "int main(int argc, char **argv) {\n"
    "    outer::Thing t; for (int i = 0; i < argc; i++) { t.add(3.5); t.add('c'); names[argv[i]] = i; }\n"
    "    std::sort(t.v.begin(), t.v.end(), [](int a, int b) { return a > b; });\n"
    "    std::printf(\"%d\\n\", t.sum(argc) + outer::over(argc) + outer::over(1.5)); return 0;\n"
    "}\n";

/* Names that rustc would give, and code of an assembler that says no sizes. */
static const char odd_source[] =
    "int legacy(int) __asm__(\"_ZN6server7request5parse17h0123456789abcdefE\");\n"
    "int legacy(int x) { return x + 1; }\n"
    "int modern(int) __asm__(\"_RNvNtC6server7request5parse\");\n"
    "int modern(int x) { return x + 2; }\n"
    "__asm__(\".text\\n.globl asm_one\\nasm_one: nop\\nnop\\nnop\\nret\\n.globl asm_two\\nasm_two: nop\\nret\\n\");\n"
    "static __attribute__((noinline)) int after_assembler(int x) { return x * 3; }\n"
    "int calls(int x) { return after_assembler(x) + 1; }\n";

/* A shell command in the test's directory that must succeed. */
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

/* Output of a command, line by line; `line` loses its newline. NULL at the end, where the status must be 0. */
static FILE *output_of(const char *command) {
    char *whole = xasprintf("cd %s && %s", directory, command);
    FILE *pipe = popen(whole, "r");
    free(whole);
    assert_non_null(pipe);
    return pipe;
}

static bool next_line(FILE *pipe, char *line, size_t size) {
    if (!fgets(line, (int)size, pipe)) return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static void write_source(const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct symbolizer_module *module_of(struct symbolizer *symbolizer, const char *name, const char *build_id) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return symbolizer_module(symbolizer, path, build_id);
}

static const char *name_at(struct symbolizer_module *module, uint64_t address) {
    const struct symbol_frame *frames;
    size_t count = symbolize(module, address, &frames);
    assert_true(count > 0);
    return frames[count - 1].name;
}

static int set_up(void **state) {
    (void)state;
    const char *compiler = getenv("CC");
    /* addr2line 2.40 misses inlined functions whose ranges are DWARF 5's indexed ones, which clang writes. */
    char *command = xasprintf("%s%s", compiler ? compiler : "gcc",
                              compiler && strstr(compiler, "clang") ? " -fdebug-default-version=4" : "");
    setenv("CC", command, 1);
    free(command);
    unsetenv("DEBUGINFOD_URLS");
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/unit_symbolize.XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(directory));
    write_source("c.c", c_source);
    write_source("cxx.cc", cxx_source);
    write_source("odd.c", odd_source);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    run("rm -rf %s", directory);
    return 0;
}

/* Comparing whole files with addr2line. */

struct comparison {
    bool is_cxx;
    size_t addresses, inlined, names;
};

/* One frame of addr2line's: a linker's name and "FILE:LINE (discriminator N)". */
static void compare_frame(const struct symbol_frame *frame, const char *name, char *place, uint64_t address,
                          struct comparison *counts) {
    place[strcspn(place, " ")] = '\0';
    char *colon = strrchr(place, ':');
    assert_non_null(colon);
    int line = atoi(colon + 1);
    *colon = '\0';
    bool is_file_known = line && !strstr(place, "<artificial>"); /* how addr2line reads the file table of an LTO unit */
    if (line != frame->line || (is_file_known && strcmp(frame->file, place) != 0))
        fail_msg("0x%" PRIx64 " %s: %s:%d, addr2line says %s:%d", address, name, frame->file, frame->line, place, line);
    /* C++ functions of local types have no linker's name; addr2line then says another frame's, or the bare one. */
    bool has_both = strncmp(frame->system_name, "_Z", 2) == 0 && strncmp(name, "_Z", 2) == 0;
    if (counts->is_cxx && !has_both) return;
    if (strcmp(name, frame->system_name) != 0)
        fail_msg("0x%" PRIx64 ": %s, addr2line says %s", address, frame->system_name, name);
    counts->names++;
}

/* Every instruction of `reference` that is no padding, looked up in `file` by us and in `reference` by addr2line. Each other time the symbols are read on
 * a thread of their own. */
static struct comparison compare_file(const char *file, const char *reference, bool is_cxx) {
    struct comparison counts = {.is_cxx = is_cxx};
    static int turn;
    char line[8192], place[8192];
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, file, "");
    if (turn++ % 2) symbolizer_read_ahead(symbolizer, &module, 1);
    const struct symbol_frame *frames = NULL;
    size_t count = 0, at = 0;
    uint64_t address = 0;
    run("objdump -d --no-show-raw-insn %s | sed -n '/nop\\|xchg  *%%ax,%%ax\\|data16/d;s/^ *\\([0-9a-f]*\\):.*/\\1/p' "
        "> list",
        reference);
    run("addr2line -a -f -i -e %s < list > expected", reference);
    FILE *pipe = output_of("cat expected");
    while (next_line(pipe, line, sizeof line)) {
        if (strncmp(line, "0x0", 3) == 0) {
            if (at != count) fail_msg("0x%" PRIx64 ": %zu frames, addr2line has %zu", address, count, at);
            address = strtoull(line, NULL, 16);
            count = symbolize(module, address, &frames);
            at = 0;
            counts.addresses++;
            counts.inlined += count > 1;
            continue;
        }
        assert_true(next_line(pipe, place, sizeof place));
        if (at >= count) fail_msg("0x%" PRIx64 ": %zu frames, addr2line has more: %s", address, count, line);
        if (strcmp(line, "??") != 0) compare_frame(&frames[at], line, place, address, &counts);
        at++;
    }
    assert_int_equal(pclose(pipe), 0);
    symbolizer_close(symbolizer);
    return counts;
}

static void dwarf_frames_are_addr2lines(void **state) {
    (void)state;
    static const char *const options[] = {"-O2",
                                          "-O0 -no-pie",
                                          "-O3 -gdwarf-4",
                                          "-O2 -flto -no-pie",
                                          "-O2 -fPIC -shared",
                                          "-O2 -fPIC -shared -Wl,-Ttext-segment=0x10000000"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        run("$CC -g %s -o program c.c", options[i]);
        struct comparison counts = compare_file("program", "program", false);
        if (counts.addresses < 150 || counts.names < 150 || counts.inlined < (i == 1 ? 0 : 30))
            fail_msg("%s: %zu addresses, %zu names, %zu inlined", options[i], counts.addresses, counts.names,
                     counts.inlined);
    }
}

static void cxx_frames_are_addr2lines(void **state) {
    (void)state;
    run("g++ -g -O2 -o cxx cxx.cc");
    struct comparison counts = compare_file("cxx", "cxx", true);
    assert_true(counts.addresses > 500 && counts.inlined > 300 && counts.names > 1000);
}

/* Instances of std::sort with a lambda have no linkage name and, inlined, no symbol. */
static void inlined_names_have_their_scopes(void **state) {
    (void)state;
    char line[64];
    size_t sorts = 0, lambdas = 0;
    run("g++ -g -O2 -o scopes cxx.cc && objdump -d scopes | sed -n 's/^ *\\([0-9a-f]*\\):.*/\\1/p' > list");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "scopes", "");
    FILE *pipe = output_of("cat list");
    while (next_line(pipe, line, sizeof line)) {
        const struct symbol_frame *frames;
        size_t count = symbolize(module, strtoull(line, NULL, 16), &frames);
        for (size_t i = 0; i < count; i++) {
            sorts += strncmp(frames[i].name, "std::sort<", 10) == 0;
            lambdas += strstr(frames[i].name, "::operator()") != NULL;
            assert_int_not_equal(strncmp(frames[i].name, "sort<", 5), 0);
            assert_int_not_equal(strncmp(frames[i].name, "operator()", 10), 0);
        }
    }
    assert_int_equal(pclose(pipe), 0);
    symbolizer_close(symbolizer);
    assert_true(sorts > 10);
    assert_true(lambdas > 2);
}

static void separate_debug_files_are_found(void **state) {
    (void)state;
    run("$CC -g -O2 -o whole c.c && objcopy --only-keep-debug whole split.debug && cp whole split && strip split &&"
        " objcopy --add-gnu-debuglink=split.debug split");
    struct comparison counts = compare_file("split", "whole", false);
    assert_true(counts.addresses > 150 && counts.names > 150 && counts.inlined > 30);
    /* In .debug, of a link to the file, and by the name of a file that does not say one. */
    run("mkdir -p .debug links && mv split.debug .debug && ln -sf ../split links/linked");
    assert_true(compare_file("split", "whole", false).names > 150);
    assert_true(compare_file("links/linked", "whole", false).names > 150);
    run("mv .debug/split.debug .debug/split2.debug && cp whole split2 && strip split2");
    assert_true(compare_file("split2", "whole", false).names > 150);
    run("$CC -g -O2 -Wl,--build-id=none -o whole2 c.c && objcopy --only-keep-debug whole2 anon.debug && cp whole2 anon "
        "&&"
        " strip anon && objcopy --add-gnu-debuglink=anon.debug anon");
    errno = ENOENT; /* of something else */
    assert_true(compare_file("anon", "whole2", false).names > 150);
    run("rm -r .debug links && cp whole bare && strip bare");
    struct symbolizer *symbolizer = symbolizer_open();
    assert_false(symbolizer_has_lines(module_of(symbolizer, "bare", "")));
    symbolizer_close(symbolizer);
    run("! grep -q libdebuginfod /proc/$PPID/maps"); /* the client of servers, of which none is named */
    /* A debug file of another build must not be used, though its name is right. */
    run("$CC -g -O1 -o other c.c && objcopy --only-keep-debug other split.debug");
    symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "split", "");
    assert_false(symbolizer_has_lines(module));
    symbolizer_close(symbolizer);
}

/* Symbols. */

/* Calls `check` for each sized symbol of the types in `types` that `nm` finds; returns how many. */
static size_t each_symbol(const char *file, const char *types,
                          void (*check)(struct symbolizer_module *, uint64_t, uint64_t, const char *),
                          struct symbolizer_module *module) {
    char command[256], line[4096], name[4000], type;
    uint64_t start, size;
    size_t count = 0;
    snprintf(command, sizeof command, "nm -S --defined-only %s", file);
    FILE *pipe = output_of(command);
    while (next_line(pipe, line, sizeof line)) {
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %3999s", &start, &size, &type, name) != 4) continue;
        if (!strchr(types, type)) continue;
        check(module, start, size, name);
        count++;
    }
    assert_int_equal(pclose(pipe), 0);
    return count;
}

static void check_code_symbol(struct symbolizer_module *module, uint64_t start, uint64_t size, const char *name) {
    const uint64_t addresses[] = {start, start + size / 2, start + size - 1};
    for (size_t i = 0; i < 3; i++) {
        const struct symbol_frame *frames;
        assert_int_equal(symbolize(module, addresses[i], &frames), 1);
        assert_string_equal(frames->system_name, name);
        assert_string_equal(frames->file, "");
        assert_int_equal(frames->line, 0);
        assert_memory_equal(frames->name, name, strcspn(name, ".")); /* "exported" of "exported.cold" */
        assert_int_equal(strlen(frames->name), strcspn(name, "."));
    }
}

static void check_data_symbol(struct symbolizer_module *module, uint64_t start, uint64_t size, const char *name) {
    uint64_t offset;
    const char *found = symbolize_data(module, start + size - 1, &offset);
    assert_non_null(found);
    assert_string_equal(found, name);
    assert_int_equal(offset, size - 1);
}

static void symbols_are_nms(void **state) {
    (void)state;
    run("$CC -O2 -o plain c.c");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "plain", "");
    assert_true(each_symbol("plain", "tT", check_code_symbol, module) >= 6);
    assert_true(each_symbol("plain", "dDbBrR", check_data_symbol, module) >= 5);
    assert_true(symbolizer_has_symbols(module));
    assert_false(symbolizer_has_lines(module));
    uint64_t offset;
    assert_null(symbolize_data(module, 0x10, &offset));
    symbolizer_close(symbolizer);
}

static void check_cxx_symbol(struct symbolizer_module *module, uint64_t start, uint64_t size, const char *name) {
    (void)size;
    char command[8192], line[8192];
    const struct symbol_frame *frames;
    if (strncmp(name, "_Z", 2) != 0) return;
    assert_int_equal(symbolize(module, start, &frames), 1);
    snprintf(command, sizeof command, "c++filt -p '%s'", frames->system_name); /* of aliases any one is right */
    FILE *pipe = output_of(command);
    assert_true(next_line(pipe, line, sizeof line));
    assert_int_equal(pclose(pipe), 0);
    char *suffix = strstr(line, " [clone"); /* parts of a function go by its name */
    if (suffix) *suffix = '\0';
    assert_string_equal(frames->name, line);
}

static void cxx_names_have_no_parameters(void **state) {
    (void)state;
    run("g++ -O1 -o cxx_plain cxx.cc");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "cxx_plain", "");
    assert_true(each_symbol("cxx_plain", "tTwW", check_cxx_symbol, module) > 15);
    symbolizer_close(symbolizer);
}

/* Where `name` begins in a file, by nm. */
static uint64_t address_of(const char *file, const char *name) {
    char command[256], line[256];
    snprintf(command, sizeof command, "nm %s | grep ' %s$'", file, name);
    FILE *pipe = output_of(command);
    assert_true(next_line(pipe, line, sizeof line));
    assert_int_equal(pclose(pipe), 0);
    return strtoull(line, NULL, 16);
}

static void stripped_statics_do_not_get_a_neighbours_name(void **state) {
    (void)state;
    static const char *const names[] = {"hidden", "hidden_last"};
    run("$CC -O2 -fPIC -shared -o libwhole.so c.c && strip -o libbare.so libwhole.so");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "libbare.so", "");
    for (size_t i = 0; i < 2; i++) {
        uint64_t start = address_of("libwhole.so", names[i]);
        char expected[64];
        snprintf(expected, sizeof expected, "libbare.so+0x%" PRIx64, start);
        assert_string_equal(name_at(module, start), expected);
        assert_string_equal(name_at(module, start + 3), expected); /* one nameless function, one name */
    }
    assert_string_equal(name_at(module, address_of("libwhole.so", "exported") + 3), "exported");
    assert_string_equal(name_at(module, address_of("libwhole.so", "exported_before")), "exported_before");
    symbolizer_close(symbolizer);
}

static void assembler_and_rust_names(void **state) {
    (void)state;
    run("$CC -O2 -fPIC -shared -o libodd.so odd.c && strip -o libodd_bare.so libodd.so");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "libodd.so", "");
    const uint64_t one = address_of("libodd.so", "asm_one"), two = address_of("libodd.so", "asm_two");
    const uint64_t hidden = address_of("libodd.so", "after_assembler");
    assert_string_equal(name_at(module, one), "asm_one");
    assert_string_equal(name_at(module, two - 1), "asm_one");
    assert_string_equal(name_at(module, two + 1), "asm_two");
    assert_string_equal(name_at(module, hidden), "after_assembler");
    assert_string_equal(name_at(module, address_of("libodd.so", "_ZN6server7request5parse17h0123456789abcdefE")),
                        "server::request::parse");
    assert_string_equal(name_at(module, address_of("libodd.so", "_RNvNtC6server7request5parse")),
                        "server::request::parse");
    module = module_of(symbolizer, "libodd_bare.so", "");
    char expected[64];
    snprintf(expected, sizeof expected, "libodd_bare.so+0x%" PRIx64, hidden);
    assert_string_equal(name_at(module, two + 1), "asm_two");
    assert_string_equal(name_at(module, hidden), expected); /* though asm_two has no size and no symbol follows it */
    symbolizer_close(symbolizer);
}

/* As in libc: the function's own name is internal, people call its alias. With debug information and without. */
static void aliases_go_by_the_name_people_call(void **state) {
    (void)state;
    write_source("alias.c", "int __GI_fetch(int x) { return x * 7; }\n"
                            "extern int fetch(int) __attribute__((alias(\"__GI_fetch\")));\n");
    run("$CC -g -O2 -fPIC -shared -o libalias.so alias.c && strip -g -o libalias_bare.so libalias.so");
    struct symbolizer *symbolizer = symbolizer_open();
    uint64_t address = address_of("libalias.so", "__GI_fetch");
    assert_string_equal(name_at(module_of(symbolizer, "libalias.so", ""), address), "fetch");
    assert_string_equal(name_at(module_of(symbolizer, "libalias_bare.so", ""), address), "fetch");
    symbolizer_close(symbolizer);
}

static void linkage_entries_are_objdumps(void **state) {
    (void)state;
    char line[256], name[200];
    uint64_t address;
    size_t count = 0;
    run("$CC -O2 -fcf-protection -Wl,-z,lazy -o lazy c.c && $CC -O2 -fno-plt -fcf-protection=none -o eager c.c");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = module_of(symbolizer, "lazy", "");
    FILE *pipe = output_of("objdump -d lazy");
    while (next_line(pipe, line, sizeof line)) {
        if (sscanf(line, "%" SCNx64 " <%199[^>]>:", &address, name) != 2 || !strstr(name, "@plt")) continue;
        if (strchr(name, '-')) continue; /* objdump's "free@plt-0x10" is the resolver's stub before the first entry */
        assert_string_equal(name_at(module, address), name);
        assert_string_equal(name_at(module, address + 4), name);
        count++;
    }
    assert_int_equal(pclose(pipe), 0);
    assert_true(count >= 4); /* __cxa_finalize, printf or its checked form, strdup, free, puts, abort */
    symbolizer_close(symbolizer);
}

/* Modules. */

static void only_the_build_that_ran_is_used(void **state) {
    (void)state;
    char id[128], other[128], padded[160];
    run("$CC -g -O2 -Wl,--build-id=sha1 -o ran c.c && $CC -g -O2 -Wl,--build-id=md5 -o short c.c");
    FILE *pipe = output_of("readelf -n ran short | sed -n 's/.*Build ID: //p'");
    assert_true(next_line(pipe, id, sizeof id) && next_line(pipe, other, sizeof other));
    assert_int_equal(pclose(pipe), 0);
    struct symbolizer *symbolizer = symbolizer_open();
    uint64_t address = address_of("ran", "exported");
    assert_string_equal(name_at(module_of(symbolizer, "ran", id), address), "exported");
    assert_ptr_equal(module_of(symbolizer, "ran", id), module_of(symbolizer, "ran", id));
    snprintf(padded, sizeof padded, "%s00000000", other); /* recorders that keep 20 bytes pad an MD5 id */
    assert_string_equal(name_at(module_of(symbolizer, "short", padded), address_of("short", "main")), "main");
    char expected[64];
    snprintf(expected, sizeof expected, "ran+0x%" PRIx64, address);
    id[3] = id[3] == '0' ? '1' : '0';
    struct symbolizer_module *wrong = module_of(symbolizer, "ran", id);
    assert_string_equal(name_at(wrong, address), expected);
    assert_false(symbolizer_has_symbols(wrong));
    assert_false(symbolizer_has_lines(wrong));
    symbolizer_close(symbolizer);
}

static void files_that_cannot_be_read_have_no_symbols(void **state) {
    (void)state;
    static const char *const names[] = {"missing", "fifo", "text", "empty", "cut", "gone (deleted)"};
    run("mkfifo fifo && echo hello > text && : > empty && $CC -g -O2 -o victim c.c && head -c 3000 victim > cut");
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbol_segment segment;
    uint64_t offset;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct symbolizer_module *module = module_of(symbolizer, names[i], "");
        char expected[64];
        snprintf(expected, sizeof expected, "%s+0x123456", names[i]);
        assert_string_equal(name_at(module, 0x123456), expected);
        assert_null(symbolize_data(module, 0x123456, &offset));
        assert_false(symbolizer_segment(module, 0x123456, &segment));
    }
    assert_string_equal(name_at(symbolizer_module(symbolizer, "[vdso]", ""), 0x9a0), "[vdso]+0x9a0");
    symbolizer_close(symbolizer);
}

static void segments_are_mapped_as_the_kernel_does(void **state) {
    (void)state;
    char line[512], flag[4];
    static const char *const options[] = {"-pie", "-no-pie", "-shared -fPIC -Wl,-Ttext-segment=0x10000000",
                                          "-shared -fPIC -Wl,-z,noseparate-code"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        run("$CC -O2 %s -o mapped c.c", options[i]);
        uint64_t offset = 0, address = 0, file_size = 0, size = 0, ignored;
        FILE *pipe = output_of("readelf -lW mapped | grep 'LOAD.* E '");
        assert_true(next_line(pipe, line, sizeof line));
        assert_int_equal(sscanf(line, " LOAD %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " R %3s",
                                &offset, &address, &ignored, &file_size, &size, flag),
                         6);
        assert_int_equal(pclose(pipe), 0);
        struct symbolizer *symbolizer = symbolizer_open();
        struct symbolizer_module *module = module_of(symbolizer, "mapped", "");
        struct symbol_segment segment;
        uint64_t code = address_of("mapped", "exported"), page = (uint64_t)sysconf(_SC_PAGESIZE);
        assert_true(symbolizer_segment(module, code, &segment));
        assert_int_equal(segment.start % page, 0);
        assert_int_equal(segment.limit % page, 0);
        assert_true(segment.start <= address && address - segment.start < page);
        assert_true(segment.limit >= address + file_size && segment.limit - (address + file_size) < page);
        assert_int_equal(segment.offset, offset - (address - segment.start));
        assert_false(symbolizer_segment(module, address_of("mapped", "counter"), &segment));
        symbolizer_close(symbolizer);
    }
}

static void a_build_id_is_compared_as_recorders_keep_it(void **state) {
    (void)state;
    static const unsigned char bits[] = {0xab, 0xcd, 0xef, 0x01};
    unsigned char more[24];
    char text[2 * sizeof more + 1];
    memset(more, 0x5a, sizeof more);
    for (size_t i = 0; i < sizeof more; i++)
        snprintf(text + 2 * i, 3, "5a");
    assert_true(build_id_is("", bits, sizeof bits) && build_id_is("", NULL, -1));
    assert_true(build_id_is("abcdef01", bits, sizeof bits) && build_id_is("ABCDEF01", bits, sizeof bits));
    assert_true(build_id_is("abcdef0100000000", bits, sizeof bits)); /* perf pads */
    assert_false(build_id_is("abcdef02", bits, sizeof bits) || build_id_is("abcdef", bits, sizeof bits));
    assert_false(build_id_is("abcdef01", NULL, -1) || build_id_is("0000", NULL, 0) ||
                 build_id_is("go:build/id", bits, sizeof bits));
    assert_true(build_id_is(text, more, sizeof more));
    text[40] = '\0'; /* 20 bytes are kept */
    assert_true(build_id_is(text, more, sizeof more));
    text[38] = '\0';
    assert_false(build_id_is(text, more, sizeof more));
}

/* Read on a thread, asked for at once, and closed while the thread may still read. */
static void what_is_read_ahead_is_the_same(void **state) {
    (void)state;
    run("$CC -O2 -o ahead c.c && strip -o bare ahead && $CC -g -O2 -o lines c.c");
    for (int turn = 0; turn < 20; turn++) {
        struct symbolizer *symbolizer = symbolizer_open();
        struct symbolizer_module *modules[] = {module_of(symbolizer, "lines", ""), module_of(symbolizer, "bare", ""),
                                               module_of(symbolizer, "absent", ""), module_of(symbolizer, "ahead", "")};
        if (turn % 4 == 3) assert_true(symbolizer_has_lines(modules[0])); /* read already */
        symbolizer_read_ahead(symbolizer, modules, 4);
        symbolizer_read_ahead(symbolizer, modules, 4); /* once */
        if (turn % 4) {
            assert_true(symbolizer_has_lines(modules[0]) && symbolizer_has_symbols(modules[0]));
            assert_false(symbolizer_has_lines(modules[1]) || symbolizer_has_lines(modules[2]));
            assert_true(each_symbol("ahead", "tT", check_code_symbol, modules[3]) >= 6);
        }
        symbolizer_close(symbolizer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dwarf_frames_are_addr2lines),
        cmocka_unit_test(cxx_frames_are_addr2lines),
        cmocka_unit_test(inlined_names_have_their_scopes),
        cmocka_unit_test(separate_debug_files_are_found),
        cmocka_unit_test(symbols_are_nms),
        cmocka_unit_test(what_is_read_ahead_is_the_same),
        cmocka_unit_test(cxx_names_have_no_parameters),
        cmocka_unit_test(stripped_statics_do_not_get_a_neighbours_name),
        cmocka_unit_test(assembler_and_rust_names),
        cmocka_unit_test(aliases_go_by_the_name_people_call),
        cmocka_unit_test(linkage_entries_are_objdumps),
        cmocka_unit_test(only_the_build_that_ran_is_used),
        cmocka_unit_test(a_build_id_is_compared_as_recorders_keep_it),
        cmocka_unit_test(files_that_cannot_be_read_have_no_symbols),
        cmocka_unit_test(segments_are_mapped_as_the_kernel_does),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
