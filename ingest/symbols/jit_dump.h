/* jit_dump.h: the names of code in a file of perf's jitdump format, which runtimes write while they run (node --perf-prof, agents of Java and
 * .NET): a header, then records, in the byte order of this machine. Code that was moved afterwards keeps its first place. The file is data:
 * it is limited, and what is behind a broken record is not read. */
#ifndef CLEAR_INGEST_SYMBOLS_JIT_DUMP_H
#define CLEAR_INGEST_SYMBOLS_JIT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether the file, which stands at its beginning and stays there, begins as one. */
bool jit_dump_is_one(FILE *file);
/* Gives each piece of code to `take`, in the order in which it was made, until that says false. It has `size` bytes from `start` on. */
void jit_dump_read(FILE *file, bool (*take)(void *context, uint64_t start, uint64_t size, const char *name),
                   void *context);

#endif
