/* elf_names.h: what an ELF file tells without DWARF: symbols, entries of its procedure linkage table, and where a
 * nameless function begins (call frame information). All addresses are of the file. For symbolize.c alone. */
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

/* The linker's name of the function at `address`, exact; NULL where no symbol covers it. A symbol covers what its size
 * says. One without a size (assembler) reaches to the next symbol, the end of its section or where frame information
 * begins or ends. */
const char *elf_function(struct elf_names *names, uint64_t address);
/* The name of the function that the linkage entry at `address` jumps to ("malloc", without "@plt"); NULL for none. */
const char *elf_linkage(struct elf_names *names, uint64_t address);
/* The data object at `address`; NULL for none. *start is where it begins. */
const char *elf_object(struct elf_names *names, uint64_t address, uint64_t *start);
/* Where the function at `address` begins by call frame information; false where there is none. */
bool elf_function_start(struct elf_names *names, uint64_t address, uint64_t *start);
bool elf_has_symbols(struct elf_names *names);

#endif
