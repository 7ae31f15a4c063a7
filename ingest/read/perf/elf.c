#include "ingest/read/perf/elf.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hex.h"

int perf_elf_open(const char *path) {
    struct stat status;
    if (*path != '/' || stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

/* perf pads build ids with zeros to 20 bytes where it does not note their size. */
static bool has_build_id(Elf *elf, const char *wanted) {
    const void *bits = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    const unsigned char *bytes = bits;
    size_t digits = strlen(wanted);
    if (digits == 0) return true;
    if (size <= 0 || (size_t)size > digits / 2) return false;
    for (size_t i = 0; i < digits; i++) {
        unsigned byte = i / 2 < (size_t)size ? bytes[i / 2] : 0;
        if (wanted[i] != hex_digit(i % 2 ? byte : byte >> 4)) return false;
    }
    return true;
}

static void read_segments(struct perf_elf *elf, Elf *file) {
    size_t count;
    if (elf_getphdrnum(file, &count) != 0) return;
    GElf_Phdr header;
    for (size_t i = 0; i < count && i < 65536; i++) {
        if (!gelf_getphdr(file, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
        elf->segments = xrealloc(elf->segments, (elf->segment_count + 1) * sizeof *elf->segments);
        elf->segments[elf->segment_count++] =
            (struct perf_elf_segment){header.p_offset, header.p_filesz, header.p_vaddr};
    }
}

struct perf_elf perf_elf_read(const char *path, const char *build_id) {
    struct perf_elf elf = {0};
    int descriptor = perf_elf_open(path);
    if (descriptor < 0) return elf;
    elf_version(EV_CURRENT);
    Elf *file = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    elf.is_there = file && elf_kind(file) == ELF_K_ELF && has_build_id(file, build_id);
    if (elf.is_there) read_segments(&elf, file);
    elf_end(file);
    close(descriptor);
    return elf;
}

void perf_elf_free(struct perf_elf *elf) {
    free(elf->segments);
    *elf = (struct perf_elf){0};
}

uint64_t perf_elf_address(const struct perf_elf *elf, uint64_t offset) {
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct perf_elf_segment *segment = &elf->segments[i];
        /* The kernel maps whole pages: a mapping may begin before its segment does. */
        uint64_t start = segment->offset & ~UINT64_C(0xfff);
        if (offset >= start && offset - start < segment->size + (segment->offset - start))
            return offset - segment->offset + segment->address;
    }
    return offset;
}
