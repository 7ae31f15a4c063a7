#include "base/origin.h"

#include <stddef.h>
#include <string.h>

#include "base/path.h"

const char *const origin_names[ORIGINS] = {"unknown", "own", "library", "runtime", "libc", "kernel"};

static bool begins_with_one(const char *text, const char *const *starts) {
    for (; *starts; starts++)
        if (strncmp(text, *starts, strlen(*starts)) == 0) return true;
    return false;
}

static bool has_one(const char *text, const char *const *parts) {
    for (; *parts; parts++)
        if (strstr(text, *parts)) return true;
    return false;
}

bool origin_is_system_file(const char *file) {
    static const char *const starts[] = {
        "/usr/include/", "/usr/local/include/", "/usr/lib/gcc", "/rustc/", "/usr/src/rustc-", "/rust/deps/", NULL};
    static const char *const parts[] = {"/include/c++/", "/rustlib/src/", NULL};
    return begins_with_one(file, starts) || has_one(file, parts);
}

/* Of Go the scheduler, the collector and the maps are one package; of Python the modules that come with the interpreter. */
static bool is_runtime_source(const struct origin_of_frame *frame) {
    static const char *const functions[] = {"runtime.", "runtime/", "internal/runtime/", NULL};
    static const char *const files[] = {"<frozen ", "node:internal", "node:", NULL};
    return begins_with_one(frame->function, functions) || begins_with_one(frame->file, files) ||
           (strstr(frame->file, "/lib/python3") && !strstr(frame->file, "-packages/"));
}

static bool is_package_source(const char *file) {
    static const char *const parts[] = {"/registry/src/", "/site-packages/", "/dist-packages/", "/node_modules/",
                                        "/go/pkg/mod/",   "/go/src/",        "/usr/lib/go",     NULL};
    return has_one(file, parts);
}

/* The names of modules of a system are those of their packages: of glibc and musl, of compilers and of interpreters. */
static enum origin of_system_module(const char *module) {
    static const char *const libc[] = {"libc.so",   "libc-2.",  "ld-linux",      "ld-2.",         "ld-musl",
                                       "libm.so",   "libm-2.",  "libmvec",       "libdl.so",      "libdl-2.",
                                       "librt.so",  "librt-2.", "libpthread.so", "libpthread-2.", "libnss_",
                                       "libresolv", NULL};
    static const char *const runtime[] = {
        "libstdc++", "libgcc_s",    "libc++",    "libgomp", "libgfortran", "libunwind", "libgo.so", "libjvm",
        "libnode",   "libv8",       "libpython", "libruby", "libperl",     "liblua",    "libphp",   "libcoreclr",
        "libclrjit", "libclear_rt", "libasan",   "libtsan", "libubsan",    NULL};
    static const char *const interpreters[] = {"python3", "python2", "node",  "java",    "ruby", "perl",
                                               "lua",     "php",     "tclsh", "Rscript", NULL};
    const char *name = path_base(module);
    if (begins_with_one(name, libc)) return ORIGIN_LIBC;
    if (begins_with_one(name, runtime) || strstr(module, "/lib-dynload/")) return ORIGIN_RUNTIME;
    if (!strstr(name, ".so") && begins_with_one(name, interpreters)) return ORIGIN_RUNTIME;
    return ORIGIN_UNKNOWN;
}

static bool is_kernel(const char *module) {
    static const char *const starts[] = {"[kernel",       "[guest.kernel",     "[vdso]", "[vsyscall]",
                                         "/lib/modules/", "/usr/lib/modules/", NULL};
    return begins_with_one(module, starts) || strncmp(path_base(module), "vmlinux", strlen("vmlinux")) == 0;
}

/* Where systems keep libraries. Programs that lie beside them are programs. */
static bool is_library(const char *module) {
    static const char *const places[] = {"/usr/lib", "/usr/local/lib", "/lib", "/opt/", "/nix/", "/snap/", NULL};
    return begins_with_one(module, places);
}

enum origin origin_of(const struct origin_of_frame *frame) {
    const char *module = frame->module;
    enum origin system = of_system_module(module);
    if (is_kernel(module)) return ORIGIN_KERNEL;
    if (system != ORIGIN_UNKNOWN) return system;
    if (is_runtime_source(frame) || origin_is_system_file(frame->file)) return ORIGIN_RUNTIME;
    if (is_package_source(frame->file)) return ORIGIN_LIBRARY;
    if (frame->is_main) return ORIGIN_OWN;
    if (!*module) return *frame->file ? ORIGIN_OWN : ORIGIN_UNKNOWN;
    return is_library(module) ? ORIGIN_LIBRARY : ORIGIN_OWN;
}
