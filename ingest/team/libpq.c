#include "ingest/team/libpq.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libpq.so.5"

struct pq_library pq;

static int find(void *library, const char *symbol, void *function, struct error *err) {
    void *address = dlsym(library, symbol);
    if (!address) return error_fail(err, LIBRARY " has no %s: install another version", symbol);
    memcpy(function, &address, sizeof address); /* ISO C has no cast between these two */
    return 0;
}

int pq_load(struct error *err) {
    if (pq.version) return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_fail(err, "a store on PostgreSQL needs libpq (Debian: apt-get install libpq5): %s", dlerror());
#define PQ_FIND(name, symbol)                                                                                          \
    if (find(library, #symbol, &pq.name, err)) return -1;
    PQ_FUNCTIONS(PQ_FIND)
#undef PQ_FIND
    return 0;
}
