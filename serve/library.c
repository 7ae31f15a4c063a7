#include "serve/library.h"

#include <dlfcn.h>
#include <string.h>

/* The soname of the header that this is compiled with: Debian 9 to 13, Fedora, Alpine. */
#define LIBRARY "libmicrohttpd.so.12"

struct http_library http;

static int find(void *library, const char *symbol, void *function, struct error *err) {
    void *address = dlsym(library, symbol);
    if (!address) return error_fail(err, LIBRARY " has no %s: install another version", symbol);
    memcpy(function, &address, sizeof address); /* ISO C has no cast between these two */
    return 0;
}

int library_load(struct error *err) {
    if (http.run) return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_fail(err, "the server needs libmicrohttpd (Debian: apt-get install libmicrohttpd12): %s",
                          dlerror());
#define HTTP_FIND(name, symbol)                                                                                        \
    if (find(library, #symbol, &http.name, err)) return -1;
    HTTP_FUNCTIONS(HTTP_FIND)
#undef HTTP_FIND
    return 0;
}
