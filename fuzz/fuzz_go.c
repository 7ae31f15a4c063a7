#include "fuzz/fuzz.h"
#include "ingest/read/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_one(&format_go_trace, data, size);
}
