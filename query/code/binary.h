/* binary.h: the executable or library that a mapping of a profile was made from, for reports that show machine code.
 *
 * Looked for as pprof looks for it: in each directory of PPROF_BINARY_PATH ("a:b"; by default ~/pprof/binaries) as
 * BUILD_ID/NAME, BUILD_ID/any file, PATH/BUILD_ID, NAME and PATH, and then at the mapping's own path. Where the mapping has a
 * build id, a file with another one, or with none, is not taken, at the mapping's own path neither: the code that it
 * would show is not what ran. At its own path, which a stranger may have written into the profile, it is taken only if it belongs to
 * a user who is trusted (base/owner.h), or if it was named by the user. ELF files only. */
#ifndef CLEAR_QUERY_CODE_BINARY_H
#define CLEAR_QUERY_CODE_BINARY_H

#include <stdbool.h>

#include "query/profile/model.h"

struct binary;

/* NULL: there is none, and *why says what was found instead ("PATH: No such file or directory"); free() it. */
struct binary *binary_open(const struct profile_mapping *mapping, char **why);
/* True if the file at the mapping's own path is there with the mapping's build id, and belongs to a user who is trusted. */
bool binary_is_here(const struct profile_mapping *mapping);
void binary_close(struct binary *binary); /* NULL is fine */
const char *binary_path(const struct binary *binary);

/* What is to be added to an address in the file to make it one of the profile, as found for that address of the mapping. Executables, position
 * independent ones, libraries and kernels, as the program headers say; false where no segment of the file can have been at
 * that address. */
bool binary_base(const struct binary *binary, const struct profile_mapping *mapping, uint64_t address, uint64_t *base);

/* The symbols that have an address, by address and name: those of .symtab, else of .dynsym. As linked, not demangled. */
struct binary_symbol {
    uint64_t address, size;
    const char *name;
    bool is_data; /* not of code: a variable, or something weak */
};
const struct binary_symbol *binary_symbols(struct binary *binary, size_t *count);

#endif
