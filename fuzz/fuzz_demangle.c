/* A linker's name of a binary that may be hostile, as reports and searches show it. */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int options[] = {0, DMGL_PARAMS};
    char *name = xmalloc(size + 1);
    memcpy(name, data, size);
    name[size] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *readable = demangle_name(name, options[i]);
        if (readable && strlen(readable) > DEMANGLED_MAX) bug("a name of %zu bytes", strlen(readable));
        if (readable && !i) replay_taken++;
        free(readable);
    }
    free(name);
    return 0;
}
