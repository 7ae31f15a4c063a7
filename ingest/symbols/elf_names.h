/* elf_names.h: names from an ELF file without DWARF: symbols, entries of its procedure linkage table (PLT), and the
 * starts of nameless functions (call frame information). All addresses are those of the file. For symbolize.c alone. */
#ifndef CLEAR_INGEST_SYMBOLS_ELF_NAMES_H
#define CLEAR_INGEST_SYMBOLS_ELF_NAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "ingest/symbols/ranges.h"

struct elf_symbol;

struct elf_names {
    Dwfl_Module *module;
    Elf *elf;           /* the main file */
    struct ranges code; /* executable segments, as the program headers have them; index: number of the header */
    struct ranges sized, sizeless, data; /* index into `symbols` */
    struct elf_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct ranges frames;  /* functions by .eh_frame; index unused */
    struct ranges linkage; /* entries of .plt, .plt.sec, .plt.got; index into `linkage_names` */
    const char **linkage_names;
    size_t linkage_count;
    bool has_symbols_read, has_frames_read, has_linkage_read;
    struct arena texts;
};

/* `module` must be reported with bias 0 and stay open for as long as `names`. */
void elf_names_open(struct elf_names *names, Dwfl_Module *module, Elf *elf);
void elf_names_close(struct elf_names *names);

/* The linker's name of the function at `address`; NULL where no symbol covers it. A symbol covers its size. One without
 * a size (assembler) extends to the next symbol, the end of its section, or a boundary of call frame information. */
const char *elf_function(struct elf_names *names, uint64_t address);
/* The name of the function that the PLT entry at `address` jumps to ("malloc", without "@plt"); NULL for none. */
const char *elf_linkage(struct elf_names *names, uint64_t address);
/* The name of the data object at `address`; NULL for none. *start is its first address. */
const char *elf_object(struct elf_names *names, uint64_t address, uint64_t *start);
/* The start of the function at `address` by call frame information; false where there is none. */
bool elf_function_start(struct elf_names *names, uint64_t address, uint64_t *start);
bool elf_has_symbols(struct elf_names *names);

#endif
