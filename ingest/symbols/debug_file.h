/* debug_file.h: the separate debug file of a binary, for libdwfl. */
#ifndef CLEAR_INGEST_SYMBOLS_DEBUG_FILE_H
#define CLEAR_INGEST_SYMBOLS_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* A find_debuginfo callback: as dwfl_standard_find_debuginfo, by build id, by the names that the file gives, and, where DEBUGINFOD_URLS is set, from these
 * servers; but for files that are not to be opened, or that would harm the library (foreign_elf.h).
 *
 * Without DEBUGINFOD_URLS the library's search is left out where no file has such a name: behind it libdw loads libdebuginfod, with the thirty libraries of an
 * HTTP client, to ask servers that are not named. Where that is installed (gdb needs it) it took 18 of the 245 million instructions of a recording of
 * sqlite3.
 * layers-ok: libdwfl decides the parameters */
int debug_file_find(Dwfl_Module *reported, void **user, const char *name, Dwarf_Addr base, const char *path,
                    const char *link, GElf_Word check, char **found);

#endif
