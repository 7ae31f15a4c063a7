/* python_codes.h: the functions of Python scripts that a recorded process met: names, files, and the line of an instruction.
 *
 * What the process wrote is data: the tables of lines are decoded within their bytes, and what is wrong in them gives the first line. */
#ifndef CLEAR_INGEST_RECORD_NAMES_PYTHON_CODES_H
#define CLEAR_INGEST_RECORD_NAMES_PYTHON_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/segment.h"

struct python_code {
    char *name, *file; /* NULL: there is no such code; else the name is not empty */
    int64_t first_line;
    unsigned char *lines;
    size_t lines_size;
};
/* All zeros is empty. */
struct python_codes {
    struct python_code *items; /* by id */
    size_t count;
};

/* `code` with its texts, which are all there. One that is known is left as it is. */
void python_codes_put(struct python_codes *codes, const struct segment_code *code);
/* Of a stack's address with PYTHON_FRAME; NULL: unknown. */
const struct python_code *python_code_of(const struct python_codes *codes, uint64_t pc);
/* The line and column (from 1; 0: unknown) that a stack's address is in. */
void python_line(const struct python_code *code, uint64_t pc, int64_t *line, int64_t *column);
void python_codes_free(struct python_codes *codes);

#endif
