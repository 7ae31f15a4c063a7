/* code_symbols.h: the functions of a binary that a pattern or an address asks for, as pprof finds them with nm: a function goes
 * from its symbol to the byte before the next one's. */
#ifndef CLEAR_QUERY_CODE_FUNCTION_SYMBOLS_H
#define CLEAR_QUERY_CODE_FUNCTION_SYMBOLS_H

#include "base/arena.h"
#include "query/code/binary.h"
#include "query/profile/pattern.h"

struct code_symbol {
    const char **
        names; /* at least one: what matched, the linker's name or a demangled form; all of them where the address did */
    size_t name_count;
    uint64_t start,
        end; /* in the file; the end does not belong to it, though it is the last byte before the next symbol */
};

/* Those whose name, or demangled name (with parameters, without, without template arguments too), matches, and the one
 * at `address` of the file unless that is 0. Names live as long as the binary and the arena. free() the array. */
struct code_symbol *code_symbols_find(struct binary *binary, struct pattern *pattern, uint64_t address,
                                      struct arena *arena, size_t *count);

#endif
