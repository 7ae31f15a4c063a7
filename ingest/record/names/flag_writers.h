/* flag_writers.h: who stores to the global variable that a loop asks for (ingest/symbols/spin_loop.h), by the code of the loop's file: that a loop waits
 * for another thread is then more than a guess. Stores through pointers are not seen. */
#ifndef CLEAR_INGEST_RECORD_NAMES_FLAG_WRITERS_H
#define CLEAR_INGEST_RECORD_NAMES_FLAG_WRITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/symbols/spin_loop.h"
#include "ingest/symbols/symbolize.h"

/* An executable segment of a file. */
struct code_segment {
    int file;
    const char *name;     /* of the file, without its directory */
    int64_t offset, size; /* in the file */
    int64_t to_address;   /* an address is an offset in the file and this */
    struct symbolizer_module *module;
};

struct flag_writer {
    char *flag;   /* the variable, "server:is_ready"; NULL: it has no name */
    char *writer; /* the linker's name of a function that stores to it */
};

/* Of a loop at offset `start` of the file, where the code that was searched began: the first of its variables that another function of the segment stores
 * to. `left` is how many bytes may still be read to find out, over all calls. False: none is seen. Free both texts. */
bool flag_writer_find(const struct code_segment *segment, const struct spin_loop *loop, int64_t start, int64_t *left,
                      struct flag_writer *found);
/* Whether what such a loop calls beside its sleep is what asks for errno, or nothing. */
bool flag_loop_is_pure(const struct code_segment *segment, const struct spin_loop *loop, int64_t start);

#endif
