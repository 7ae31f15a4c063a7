#include "query/runs/heap_by.h"

#include <string.h>

static const struct {
    const char *name, *heading, *type;
} bys[] = {
    [HEAP_BYTES] = {"bytes", "allocated bytes", "alloc_space"},
    [HEAP_ALLOCS] = {"allocs", "allocations", "alloc_objects"},
    [HEAP_INUSE_BYTES] = {"inuse_bytes", "live bytes", "inuse_space"},
    [HEAP_INUSE_ALLOCS] = {"inuse_allocs", "live blocks", "inuse_objects"},
};

int heap_by_of(const char *name, enum heap_by *by, struct error *err) {
    for (size_t i = 0; i < sizeof bys / sizeof *bys; i++) {
        if (strcmp(name, bys[i].name) != 0) continue;
        *by = (enum heap_by)i;
        return 0;
    }
    return error_usage(err, "--by: unknown figure '%s'; figures are bytes, allocs, inuse_bytes, inuse_allocs", name);
}

const char *heap_by_heading(enum heap_by by) {
    return bys[by].heading;
}

const char *heap_by_type(enum heap_by by) {
    return bys[by].type;
}
