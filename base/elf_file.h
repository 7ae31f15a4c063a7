/* elf_file.h: an ELF file that a profile names: opening it, whether it is the build that ran, and the few things that more than one reader
 * of it asks. One rule for symbols, machine code and recordings of perf. */
#ifndef CLEAR_BASE_ELF_FILE_H
#define CLEAR_BASE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor of a regular file; the caller closes it. Nothing else is opened: a profile may name a FIFO, on which an open can hang, or a
 * device, on which it can act. -1: errno says why, 0 for what is no regular file. */
int elf_file_open(const char *path);

/* True if hex digits, in either case, say the same build as a note of `size` bytes. Recorders keep 20 bytes, so zeros behind the shorter of
 * both do not count, and a text of 40 digits may be cut. "" is every build; without a note (size <= 0) a file is of no other. */
bool build_id_is(const char *wanted, const void *bits, ssize_t size);
bool elf_is_build(Elf *elf, const char *wanted);

/* The section of that name, or NULL; *header is its header. */
Elf_Scn *elf_section(Elf *elf, const char *wanted, GElf_Shdr *header);

/* The segments with code, for offsets where symbols and DWARF have addresses, as in a perf.data. They differ in files of lld and gold, and of
 * recent ld. Free it with elf_code_free. */
struct elf_code_segment {
    uint64_t offset, size, address;
};
struct elf_code {
    struct elf_code_segment *segments;
    size_t count;
    bool is_there; /* the file can be read, is ELF, and of the build */
};
struct elf_code elf_code_read(const char *path, const char *build_id); /* `path` is absolute, or there is no file */
void elf_code_free(struct elf_code *code);
/* The address of an offset; the offset itself where no segment has it. */
uint64_t elf_code_address(const struct elf_code *code, uint64_t offset);

#endif
