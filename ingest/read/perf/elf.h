/* elf.h: turns offsets in a file into addresses. perf.data has offsets where symbols and DWARF have addresses; they
 * differ in files of lld and gold, and of recent ld. */
#ifndef CLEAR_INGEST_READ_PERF_ELF_H
#define CLEAR_INGEST_READ_PERF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_elf_segment {
    uint64_t offset, size, address;
};

struct perf_elf {
    struct perf_elf_segment *segments; /* those with code */
    size_t segment_count;
    bool is_there; /* the file can be read, is ELF, and has the build id */
};

/* Only regular files are opened, because a recording may name a device or a FIFO. An empty build id matches every
 * file. */
struct perf_elf perf_elf_read(const char *path, const char *build_id);
void perf_elf_free(struct perf_elf *elf);
/* The address of an offset; the offset itself where no segment has it. */
uint64_t perf_elf_address(const struct perf_elf *elf, uint64_t offset);
/* A descriptor of a regular file, or -1. */
int perf_elf_open(const char *path);

#endif
