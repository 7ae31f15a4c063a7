/* machine_code.h: the machine code behind a profile: the binaries of its mappings, each opened at first use, and the tools
 * that read them. The room query/code knows binaries, instructions and source texts, and nothing of reports. */
#ifndef CLEAR_QUERY_CODE_MACHINE_CODE_H
#define CLEAR_QUERY_CODE_MACHINE_CODE_H

#include "query/code/binary.h"
#include "query/code/objdump.h"
#include "query/profile/filter.h"

struct code_options {
    const char *tools; /* directories of objdump and addr2line; "" as PPROF_TOOLS and PATH say */
    bool intel_syntax;
    filter_note *note; /* gets a line for each binary that cannot be read; may be NULL */
    void *note_context;
};

struct code {
    const struct profile *profile;
    struct code_options options;
    struct objdump tools;
    struct code_binary { /* of each mapping; mappings of one file and build share it */
        struct binary *binary;
        char *why; /* there is none */
        bool tried, is_shared;
    } * binaries;
    struct arena arena; /* of instructions and names */
};

/* The profile must outlive the code. code_close it. */
void code_open(struct code *code, const struct profile *profile, const struct code_options *options);
void code_close(struct code *code);

/* NULL: there is none; the note said so once. */
struct binary *code_binary(struct code *code, uint32_t mapping);
/* Do two mappings have the same path and build id? */
bool code_is_one_file(const struct profile *profile, uint32_t a, uint32_t b);
/* Its address in the file; false where the mapping's binary does not have it. */
bool code_address(struct code *code, uint32_t mapping, uint64_t address, uint64_t *in_file);

/* Passes a message to the note. */
void code_note(const struct code *code, const char *message);

/* Is the pattern of a report a number ("0x401234")? Then functions at that address match too. */
bool code_parse_address(const char *pattern, uint64_t *address);

#endif
