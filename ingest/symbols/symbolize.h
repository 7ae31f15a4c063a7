/* symbolize.h: turns a module and an address in its file into functions, files and lines, with inlined frames.
 *
 * The room ingest/symbols gives names to addresses, and maps transpiled code to its source. It promises:
 *   - A name is right or missing. A file whose build id is not that of the code that ran is not used.
 *   - Addresses are those of the ELF file (run-time address minus load bias), so ASLR has no influence.
 *   - Every address has at least one frame: `module+0xoffset` where nothing better is known.
 *
 * Sources of names, best first: DWARF of the file or of its separate debug file (found by build id, by .gnu_debuglink,
 * or by debuginfod where DEBUGINFOD_URLS is set), .symtab, .dynsym. Else the name is made of the start of the function
 * by call frame information, so that all addresses of one nameless function have one name. C++ and Rust names are
 * demangled. */
#ifndef CLEAR_INGEST_SYMBOLS_SYMBOLIZE_H
#define CLEAR_INGEST_SYMBOLS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct source_map;
struct symbolizer;        /* all modules that were opened; one for a recording */
struct symbolizer_module; /* one file; owned by its symbolizer */

struct symbol_frame {
    /* For people, never empty: demangled, without C++ parameter lists, Rust hashes, suffixes of compilers for parts and
     * copies (.cold, .isra.0) and symbol versions (@@...). */
    const char *name;
    const char *system_name; /* as linked, so overloads and copies differ; of an inlined function as in DWARF */
    const char *file; /* path of the source as the compiler saw it, absolute if DWARF has the directory; "" unknown */
    int line;         /* 0 unknown */
    int column;       /* 0 unknown */
    int start_line;   /* of the function; 0 unknown */
    bool is_made_up;  /* the name is `module+0xoffset`, because nothing names the address */
};

/* Forms of a name, of the linker's one. */
enum symbol_form {
    SYMBOL_PLAIN, /* as in struct symbol_frame */
    SYMBOL_FULL,  /* with parameters and return types */
    SYMBOL_LINKED /* as it is */
};

/* An executable segment, for a mapping in profile.proto; in addresses of the file, page-aligned as it is loaded. */
struct symbol_segment {
    uint64_t start, limit, offset;
};

struct symbolizer *symbolizer_open(void);
/* The transpiled files among those that frames were in. Frames in them have the file and line of their source, a column
 * of 0, and the start_line of the source where it is known. */
struct source_map *symbolizer_sources(struct symbolizer *symbolizer);
void symbolizer_close(struct symbolizer *symbolizer);

/* The module of that path and build id (hex; "" accepts any), owned by the symbolizer. The same arguments give the same
 * module. Never NULL: a file that is missing, unreadable or of another build is a module without symbols, whose frames
 * are `basename+0xaddress`. */
struct symbolizer_module *symbolizer_module(struct symbolizer *symbolizer, const char *path, const char *build_id);

/* The frames at `address`, innermost inlined function first; at least one. They belong to the symbolizer and are valid
 * until the next call. */
size_t symbolize(struct symbolizer_module *module, uint64_t address, const struct symbol_frame **frames);

/* Looks for transpiled files among all files that the debug information names, not only those of frames. It reads the
 * line tables of the whole module, so call it only for programs that are known to have some. */
void symbolizer_find_sources(struct symbolizer_module *module);

/* The name of the global variable at `address`, or NULL; *offset is the distance from its start. For the names of
 * locks. */
const char *symbolize_data(struct symbolizer_module *module, uint64_t address, uint64_t *offset);

/* A local variable, or what is known of one. Texts live as long as the symbolizer. */
struct symbol_local {
    const char *variable; /* with members and indexes, `app.shards[2].lock`; NULL: nothing says which one it is */
    uint64_t offset;      /* of the address in what `variable` names */
    const char *function; /* that has it, as in struct symbol_frame; never NULL */
    const char *file;     /* of the declaration, of the function where there is no variable; "" unknown */
    int line;             /* there; 0 unknown */
    bool is_made_up;      /* `function` is `module+0xoffset` */
};

/* What lies at `from_frame` bytes from the canonical frame address of a function that is at `address`; `frame_size` is from the stack pointer to
 * that address there. */
void symbolize_local(struct symbolizer_module *module, uint64_t address, int64_t from_frame, uint64_t frame_size,
                     struct symbol_local *local);

/* The executable segment around `address`; false where the file has none or cannot be read. */
bool symbolizer_segment(struct symbolizer_module *module, uint64_t address, struct symbol_segment *segment);

/* The name in that form; free() it. */
char *symbol_name(const char *linked, enum symbol_form form);

/* Reads the symbols of these modules on a thread of its own, in that order. To read what debug information a libc has takes 50 ms, which
 * need not be waited for at the end. What is asked of one of them waits where that is read now. Only the first call has an effect, and
 * none where debuginfod is asked for symbols.
 * symbolizer_close does not wait: the thread frees all of it then. */
void symbolizer_read_ahead(struct symbolizer *symbolizer, struct symbolizer_module *const *modules, size_t count);

/* What the module has, for the flags has_* of a mapping. */
bool symbolizer_has_symbols(const struct symbolizer_module *module);
bool symbolizer_has_lines(const struct symbolizer_module *module);

#endif
