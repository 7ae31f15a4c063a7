/* An ELF file with its debug information, as it is or damaged, through all that reads one: names, lines, inlined calls, call frame information,
 * the procedure linkage table, segments and symbols. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "ingest/symbols/symbolize.h"
#include "query/code/binary.h"
#include "query/code/function_symbols.h"
#include "query/profile/pattern.h"

enum { ADDRESSES = 24, STEP = 24 };

static int file = -1;
static char path[32];
static struct pattern *pattern;

static void end(void) {
    pattern_free(pattern);
    close(file);
}

static void save(const uint8_t *data, size_t size) {
    struct error err = {0};
    if (file < 0) {
        file = memfd_create("binary", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        pattern = pattern_compile("focus", "alloc|main|::", &err);
        if (file < 0 || !pattern) bug("no file in memory, or no pattern: %s", err.message);
        atexit(end);
    }
    if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) bug("the file cannot be written");
}

/* Where code may be: from the entry on, and from the address that the last bytes say. */
static uint64_t address_of(const uint8_t *data, size_t size, size_t i) {
    uint64_t entry = 0, last = 0;
    if (size >= sizeof(Elf64_Ehdr)) memcpy(&entry, data + offsetof(Elf64_Ehdr, e_entry), sizeof entry);
    if (size) memcpy(&last, data + size - (size < 4 ? size : 4), size < 4 ? size : 4);
    return i % 2 ? entry + i / 2 * STEP : last + i / 2 * STEP;
}

static bool name_addresses(const uint8_t *data, size_t size) {
    struct symbolizer *symbolizer = symbolizer_open();
    struct symbolizer_module *module = symbolizer_module(symbolizer, path, "");
    const struct symbol_frame *frames;
    struct symbol_segment segment;
    struct symbol_local local;
    uint64_t offset;
    bool has_names = symbolizer_has_symbols(module);
    for (size_t i = 0; i < ADDRESSES; i++) {
        uint64_t address = address_of(data, size, i);
        size_t count = symbolize(module, address, &frames);
        if (!count) bug("an address without a frame");
        for (size_t frame = 0; frame < count; frame++)
            if (!*frames[frame].name || !*frames[frame].system_name || !frames[frame].file)
                bug("a frame without a name");
        (void)symbolize_data(module, address, &offset);
        symbolize_local(module, address, -(int64_t)(i + 1) * 8, 256, &local);
        if (!*local.function || !local.file || (local.variable && !*local.variable))
            bug("a local variable of no function");
        (void)symbolizer_segment(module, address, &segment);
    }
    symbolizer_find_sources(module);
    symbolizer_close(symbolizer);
    return has_names;
}

static void read_binary(const uint8_t *data, size_t size) {
    const struct profile_mapping mapping = {
        .start = 0x400000, .limit = 0x800000, .file = path, .build_id = "", .is_named = true};
    struct arena arena = {0};
    char *why;
    struct binary *binary = binary_open(&mapping, &why);
    if (!binary && !why) bug("no binary, and no reason");
    if (binary) {
        size_t count;
        uint64_t base;
        for (size_t i = 0; i < ADDRESSES; i++)
            (void)binary_base(binary, &mapping, mapping.start + address_of(data, size, i) % 0x400000, &base);
        free(code_symbols_find(binary, pattern, address_of(data, size, 0), &arena, &count));
    }
    free(why);
    binary_close(binary);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    save(data, size);
    if (name_addresses(data, size)) replay_taken++;
    read_binary(data, size);
    return 0;
}
