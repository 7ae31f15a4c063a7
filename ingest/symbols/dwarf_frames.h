/* dwarf_frames.h: functions, files and lines of an address by DWARF, with inlined functions. For symbolize.c alone.
 *
 * Units are indexed by address when the first address is asked for, and the functions of a unit when the first address
 * in it is. This is because dwarf_getscopes walks a whole unit for each address (milliseconds in a unit as big as
 * sqlite3.c), and because clang and rustc do not write .debug_aranges, which libdwfl needs.
 *
 * The file is foreign. A few bytes can say much: DIEs whose siblings are their own children, lists of ranges and names that all of them
 * share. A walk goes forwards alone, as in every sound file, and what is read and kept of a file is limited; what is beyond has no names. */
#ifndef CLEAR_INGEST_SYMBOLS_DWARF_FRAMES_H
#define CLEAR_INGEST_SYMBOLS_DWARF_FRAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ingest/symbols/ranges.h"

enum { DWARF_FRAMES_MAX = 128 }; /* frames at one address, inlined functions included; further ones are left out */

struct dwarf_unit;

struct dwarf_frames {
    Dwarf *dwarf;              /* NULL: the file has none */
    Dwarf_Addr bias;           /* address of the file = address in DWARF + bias (a debug file of a prelinked library) */
    const char *path;          /* of the file; not copied */
    const struct ranges *code; /* executable segments; DWARF of other addresses is of code that the linker dropped */
    struct ranges ranges;      /* of units; index into `units` */
    struct dwarf_unit *units;
    size_t unit_count;
    struct map
        qualified; /* address of a DIE -> char *, its name with its scopes: of functions without a linkage name */
    size_t qualified_bytes; /* of their texts */
    uint64_t steps;         /* ranges that were read to index units */
    uint64_t lookup_steps;  /* DIEs and ranges that look-ups passed */
    bool has_units_read;
};

struct dwarf_frame {
    const char *linkage_name; /* NULL where DWARF has none (C) */
    const char *name;         /* NULL where DWARF has none; with its scopes where there is no linkage name */
    const char *file;         /* NULL unknown */
    const char *directory;    /* where the compiler ran, for a relative file; NULL unknown */
    int line, column, start_line;
};

void dwarf_frames_open(struct dwarf_frames *frames, Dwarf *dwarf, Dwarf_Addr bias, const char *path,
                       const struct ranges *code);
void dwarf_frames_close(struct dwarf_frames *frames);

/* Writes the frames at `address`, innermost first, and returns their number. When only the line is known (assembler),
 * it returns 0, and frame 0 has the file and line. Texts belong to the Dwarf. */
size_t dwarf_frames_at(struct dwarf_frames *frames, uint64_t address, struct dwarf_frame out[DWARF_FRAMES_MAX]);
/* The function with code at `address`, and that address in the Dwarf; false: none is known. */
bool dwarf_frames_function(struct dwarf_frames *frames, uint64_t address, Dwarf_Die *function, Dwarf_Addr *in_dwarf);
/* The names and the first line of a function that the frames have, also of an inlined one. */
void dwarf_frames_name(const struct dwarf_frames *frames, Dwarf_Die *function, struct dwarf_frame *frame);
/* Visits every file of every line table, once for each unit. `directory` is where the compiler ran, for a relative
 * path; may be NULL. */
void dwarf_frames_files(struct dwarf_frames *frames,
                        void (*visit)(void *context, const char *path, const char *directory), void *context);
bool dwarf_frames_any(struct dwarf_frames *frames); /* whether there is DWARF for any code */

#endif
