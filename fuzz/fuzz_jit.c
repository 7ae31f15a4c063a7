/* A file of names as runtimes write it for perf (/tmp/perf-PID.map). */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "ingest/symbols/jit_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct jit_names names = {0};
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (!file) return 0;
    jit_names_read(&names, file);
    fclose(file);
    if (names.symbols.count) replay_taken++;
    for (size_t i = 0; i < names.symbols.count; i++) {
        const struct jit_range *range = &names.symbols.items[i];
        if (range->start >= range->limit) bug("an empty range");
        if (i && range[-1].start > range->start) bug("the ranges are not sorted");
        if (strlen(jit_name(&names, range->start)) == 0) bug("a name without letters");
    }
    (void)jit_name(&names, 0);
    (void)jit_name(&names, UINT64_MAX);
    jit_names_free(&names);
    return 0;
}
