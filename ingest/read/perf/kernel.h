/* kernel.h: names of kernel functions, from /proc/kallsyms. They are used only if the recording is of the running
 * kernel: by build id, or by release where the recording has no build id (as compressed ones).
 *
 * The kernel may have been loaded at another address when it was recorded. The recording has the address of one symbol
 * then, and the difference is applied to all. Modules are loaded at other addresses at each boot, so they get names
 * only if the difference is 0. */
#ifndef CLEAR_INGEST_READ_PERF_KERNEL_H
#define CLEAR_INGEST_READ_PERF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct perf_kernel_symbol {
    uint64_t address;
    const char *name;
    char type; /* as nm prints it */
};

struct perf_kernel {
    struct perf_kernel_symbol *symbols; /* sorted, one an address */
    size_t count;
    uint64_t moved; /* added to an address of the recording */
    struct arena texts;
};

/* `symbol` was at `address` in the recording; "" and 0 unknown. No names (count 0) is no error. */
void perf_kernel_open(struct perf_kernel *kernel, const char *build_id, const char *release, const char *symbol,
                      uint64_t address);
void perf_kernel_free(struct perf_kernel *kernel);
/* The function around a run-time address of the recording; NULL unknown. */
const char *perf_kernel_name(const struct perf_kernel *kernel, uint64_t address);

/* The same from a text in the form of /proc/kallsyms. For the test. */
void perf_kernel_parse(struct perf_kernel *kernel, char *text, const char *symbol, uint64_t address);

#endif
