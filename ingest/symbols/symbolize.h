/* symbolize.h: from a module and an address in its file to functions, files and lines, with inlined frames.
 *
 * Works on addresses as they stand in the ELF file (run-time address minus load bias), so ASLR plays no part. Sources of
 * truth, best first: DWARF of the file or of its separate debug file (by build id, by .gnu_debuglink, by debuginfod where
 * DEBUGINFOD_URLS is set), .symtab, .dynsym, and for the rest the function's start by call frame information,
 * named `module+0xoffset` so that all calls from one nameless function stand together. C++ and Rust names are demangled.
 * A file whose build id is not the one that ran is not used: wrong names are worse than none. */
#ifndef CLEAR_INGEST_SYMBOLS_SYMBOLIZE_H
#define CLEAR_INGEST_SYMBOLS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct source_map;
struct symbolizer;        /* all modules looked at so far; opened once a recording */
struct symbolizer_module; /* one file; owned by its symbolizer */

struct symbol_frame {
    const char *name; /* for people, never empty: demangled without C++ parameter lists and Rust hashes, and without
                                what compilers add to parts and copies (.cold, .isra.0) and linkers to versions (@@...) */
    const char
        *system_name; /* as linked, exact: tells overloads and copies apart; for an inlined function as in DWARF */
    const char *file; /* source path as the compiler saw it, absolute where DWARF allows it; "" unknown */
    int line;         /* 0 unknown */
    int column;       /* 0 unknown */
    int start_line;   /* of the function; 0 unknown */
};

/* The executable segment that pprof wants as a mapping, in addresses of the file (page-aligned as loaded). */
struct symbol_segment {
    uint64_t start, limit, offset;
};

struct symbolizer *symbolizer_open(void);
/* The transpilers' files among those that were met. Frames in them already have the file and line of their source, a
 * column of 0, and the start_line of the source where it is known. */
struct source_map *symbolizer_sources(struct symbolizer *symbolizer);
void symbolizer_close(struct symbolizer *symbolizer);

/* The module of that path and build id (hex; "" accepts any). Never NULL: a file that is gone, unreadable or
 * another build is a module without symbols, whose frames are `basename+0xaddress`. Same arguments, same module. */
struct symbolizer_module *symbolizer_module(struct symbolizer *symbolizer, const char *path, const char *build_id);

/* Frames of the code at `address`, innermost inlined function first; at least one. They belong to the symbolizer and are good
 * until the next call. */
size_t symbolize(struct symbolizer_module *module, uint64_t address, const struct symbol_frame **frames);

/* Looks for the transpiler's output among all files that the debug information names, not only where code was met. Reads the
 * line tables of the whole module: for programs of which it is known that they have some. */
void symbolizer_find_sources(struct symbolizer_module *module);

/* The data object (global variable) at `address`, or NULL; *offset is the distance from its start. For naming locks. */
const char *symbolize_data(struct symbolizer_module *module, uint64_t address, uint64_t *offset);

/* The segment that holds code at `address`; false where the file does not tell. */
bool symbolizer_segment(struct symbolizer_module *module, uint64_t address, struct symbol_segment *segment);

/* What the module can tell, for profile.proto's has_* flags. */
bool symbolizer_has_symbols(const struct symbolizer_module *module);
bool symbolizer_has_lines(const struct symbolizer_module *module);

#endif
