/* foreign_elf.h: what is looked at before libdw and libdwfl read a file, because they have no limits: they wait for a FIFO, inflate what is no
 * ELF file at all (gzip, an image of a kernel), and inflate sections as far as these say. For the room ingest/symbols alone. */
#ifndef CLEAR_INGEST_SYMBOLS_FOREIGN_ELF_H
#define CLEAR_INGEST_SYMBOLS_FOREIGN_ELF_H

#include <stdbool.h>

/* Is the file that is open an ELF file whose sections inflate within limit_inflated (base/limit.h)? */
bool foreign_elf_is_sound(int file);

/* May a file of that name be opened for what `main` says of it: the debug file, or the split or shared part of the debug information? A relative
 * name counts from the directory of `main`, its .debug, and `directory` (NULL: none). True where there is none. */
bool foreign_elf_may_open(const char *main, const char *name, const char *directory);

#endif
