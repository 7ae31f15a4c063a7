/* dwarf_locals.h: which local variable of a function lies at an address of its frame, by DWARF. For symbolize.c alone. */
#ifndef CLEAR_INGEST_SYMBOLS_DWARF_LOCALS_H
#define CLEAR_INGEST_SYMBOLS_DWARF_LOCALS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { LOCAL_PATH_MAX = 128 };

/* An address of a frame. */
struct frame_place {
    int64_t from_frame;  /* bytes from the canonical frame address: negative */
    uint64_t frame_size; /* from the stack pointer to the canonical frame address, at that instruction */
};

struct dwarf_local {
    Dwarf_Die function;      /* that has it: also an inlined one */
    const char *name, *file; /* NULL unknown. They belong to the Dwarf */
    int line;                /* where it is declared; 0 unknown */
    uint64_t offset;         /* of the address in the variable */
    char path
        [LOCAL_PATH_MAX]; /* of the members of the program's own types at the address, ".a.b", in C and C++; else "" */
    uint64_t member_offset; /* of the address in the last of them, or in the variable */
};

/* The variable or parameter of `function` at the place while `pc` (in DWARF's addresses) executes: one that is in scope there, of the innermost scope.
 * False: none is known to be there. */
bool dwarf_local_find(Dwarf_Die *function, Dwarf_Addr pc, const struct frame_place *place, struct dwarf_local *local);

#endif
