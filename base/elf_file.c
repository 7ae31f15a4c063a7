#include "base/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hex.h"

enum { CUT_DIGITS = 40 };

int elf_file_open(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    int file = S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (!S_ISREG(status.st_mode)) errno = 0;
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode))) return file;
    close(file);
    errno = 0;
    return -1;
}

bool build_id_is(const char *wanted, const void *bits, ssize_t size) {
    const unsigned char *bytes = bits;
    size_t digits = strlen(wanted), known = size > 0 ? (size_t)size * 2 : 0;
    if (digits == 0) return true;
    for (size_t i = 0; i < digits || (i < known && digits != CUT_DIGITS); i++) {
        char digit = i < known ? hex_digit(i % 2 ? bytes[i / 2] : bytes[i / 2] >> 4) : '0';
        char asked = i < digits ? wanted[i] : '0';
        if ((asked | (asked >= 'A' ? 0x20 : 0)) != digit) return false;
    }
    return known > 0;
}

bool elf_is_build(Elf *elf, const char *wanted) {
    const void *bits = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    return build_id_is(wanted, bits, size);
}

Elf_Scn *elf_section(Elf *elf, const char *wanted, GElf_Shdr *header) {
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0) return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name = gelf_getshdr(section, header) ? elf_strptr(elf, strings, header->sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0) return section;
    }
    return NULL;
}

static void read_segments(struct elf_code *code, Elf *elf) {
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0) return;
    GElf_Phdr header;
    for (size_t i = 0; i < count && i < 65536; i++) {
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
        code->segments = xrealloc(code->segments, (code->count + 1) * sizeof *code->segments);
        code->segments[code->count++] = (struct elf_code_segment){header.p_offset, header.p_filesz, header.p_vaddr};
    }
}

struct elf_code elf_code_read(const char *path, const char *build_id) {
    struct elf_code code = {0};
    int file = *path == '/' ? elf_file_open(path) : -1;
    if (file < 0) return code;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    code.is_there = elf && elf_kind(elf) == ELF_K_ELF && elf_is_build(elf, build_id);
    if (code.is_there) read_segments(&code, elf);
    elf_end(elf);
    close(file);
    return code;
}

void elf_code_free(struct elf_code *code) {
    free(code->segments);
    *code = (struct elf_code){0};
}

uint64_t elf_code_address(const struct elf_code *code, uint64_t offset) {
    for (size_t i = 0; i < code->count; i++) {
        const struct elf_code_segment *segment = &code->segments[i];
        /* The kernel maps whole pages: a mapping may begin before its segment does. */
        uint64_t start = segment->offset & ~UINT64_C(0xfff);
        if (offset >= start && offset - start < segment->size + (segment->offset - start))
            return offset - segment->offset + segment->address;
    }
    return offset;
}
