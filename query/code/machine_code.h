/* code.h: the machine code behind a profile: the binaries of its mappings, each opened when it is first asked for, and the
 * tools that read them. */
#ifndef CLEAR_QUERY_CODE_MACHINE_CODE_H
#define CLEAR_QUERY_CODE_MACHINE_CODE_H

#include "query/code/binary.h"
#include "query/code/objdump.h"
#include "query/report/report.h"

struct code {
    const struct report *report;
    const struct profile *profile;
    struct objdump tools;
    struct code_binary { /* of each mapping; mappings of one file and build share it */
        struct binary *binary;
        char *why; /* there is none */
        bool tried, is_shared;
    } * binaries;
    struct arena arena; /* of instructions and names */
};

void code_open(struct code *code, const struct report *report);
void code_close(struct code *code);

/* NULL: there is none, of which the report's note was told once. */
struct binary *code_binary(struct code *code, uint32_t mapping);
/* Is it one file: do they have the same path and build id? */
bool code_is_one_file(const struct profile *profile, uint32_t a, uint32_t b);
/* Its address in the file; false where the mapping's binary does not have it. */
bool code_address(struct code *code, uint32_t mapping, uint64_t address, uint64_t *in_file);

/* Is the pattern of a report a number ("0x401234")? Then functions at that address match too. */
bool code_parse_address(const char *pattern, uint64_t *address);
const char *code_base_name(const char *path);

#endif
