/* origin.c: whose code a frame is, by what profiles of several languages say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/origin.h"

/* Names as they were met: module, file, function. A '!' before the module: it is the first of its profile. */
static const struct {
    const char *module, *file, *function;
    enum origin origin;
} cases[] = {
    {"!/home/me/app", "main.c", "main", ORIGIN_OWN},
    {"!/usr/bin/sqlite3", "", "sqlite3+0x28", ORIGIN_OWN},
    {"/usr/bin/readlink", "", "readlink+0x26e0", ORIGIN_OWN}, /* a program that the run started */
    {"/home/me/lib/libparse.so", "", "parse", ORIGIN_OWN},
    {"/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "", "deflate", ORIGIN_LIBRARY},
    {"/lib/x86_64-linux-gnu/libsqlite3.so.0", "", "sqlite3_step", ORIGIN_LIBRARY},
    {"!/home/me/app", "/root/.cargo/registry/src/index/serde-1.0/src/de.rs", "serde::de", ORIGIN_LIBRARY},
    {"!/home/me/app", "/root/go/pkg/mod/github.com/x/y/z.go", "y.Z", ORIGIN_LIBRARY},
    {"", "/srv/node_modules/express/index.js", "route", ORIGIN_LIBRARY},
    {"", "/usr/lib/python3/dist-packages/yaml/reader.py", "Reader.peek", ORIGIN_LIBRARY},
    {"", "/usr/lib/python3.11/json/decoder.py", "JSONDecoder.decode", ORIGIN_RUNTIME},
    {"!/home/me/app", "/usr/include/c++/12/bits/stl_vector.h", "std::vector<int>::push_back", ORIGIN_RUNTIME},
    {"!/home/me/app", "/rustc/90c5418/library/core/src/iter/range.rs", "next", ORIGIN_RUNTIME},
    {"!/srv/server", "/usr/local/go/src/runtime/malloc.go", "runtime.mallocgc", ORIGIN_RUNTIME},
    {"!/srv/server", "/usr/local/go/src/compress/gzip/gzip.go", "compress/gzip.(*Writer).Write", ORIGIN_LIBRARY},
    {"!/srv/server", "", "runtimes_of", ORIGIN_OWN},
    {"!/usr/bin/python3.11", "", "_PyEval_EvalFrameDefault", ORIGIN_RUNTIME},
    {"/usr/lib/jvm/java-17/lib/server/libjvm.so", "", "JVM_Sleep", ORIGIN_RUNTIME},
    {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "", "operator new", ORIGIN_RUNTIME},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", "", "memcpy", ORIGIN_LIBC},
    {"/lib/x86_64-linux-gnu/ld-2.31.so", "", "_dl_relocate_object", ORIGIN_LIBC},
    {"/usr/lib/libcrypto.so.3", "", "SHA256", ORIGIN_LIBRARY}, /* not libc, for all its letters */
    {"[kernel.kallsyms]", "", "do_syscall_64", ORIGIN_KERNEL},
    {"/lib/modules/6.1.0/kernel/net/nf.ko", "", "nf_hook", ORIGIN_KERNEL},
    {"[vdso]", "", "clock_gettime", ORIGIN_KERNEL},
    {"", "app.py", "handle", ORIGIN_OWN},
    {"", "", "eval", ORIGIN_UNKNOWN}, /* folded stacks */
};

static void origins_of_frames(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_main = *cases[i].module == '!';
        const struct origin_of_frame frame = {cases[i].module + is_main, cases[i].file, cases[i].function, is_main};
        assert_string_equal(origin_names[origin_of(&frame)], origin_names[cases[i].origin]);
    }
}

static void each_has_a_name(void **state) {
    (void)state;
    for (int i = 0; i < ORIGINS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(origin_names[i], origin_names[j]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(origins_of_frames), cmocka_unit_test(each_has_a_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
