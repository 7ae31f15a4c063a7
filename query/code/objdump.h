/* objdump.h: machine code and where it comes from, by the tools of GNU binutils or LLVM, run as children.
 *
 * Which tools: as pprof chooses them. `tools` is what pprof's -tools says ("DIR", "objdump:DIR", several with commas), "" what
 * PPROF_TOOLS says, else PATH; of disassemblers llvm-objdump (8 or newer) goes before objdump, of tools for lines llvm-symbolizer
 * before addr2line. */
#ifndef CLEAR_QUERY_CODE_OBJDUMP_H
#define CLEAR_QUERY_CODE_OBJDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/code/binary.h"

struct objdump {
    char *disassembler, *liner; /* NULL: there is none */
    bool is_llvm, is_llvm_liner;
    bool intel_syntax;
};

void objdump_open(struct objdump *tools, const char *wanted, bool intel_syntax);
void objdump_close(struct objdump *tools);
/* A failure that says what to install where there is no disassembler. */
int objdump_check(const struct objdump *tools, struct error *err);

/* Texts live in the arena that was given. */
struct instruction {
    uint64_t address;            /* in the file */
    const char *text;            /* "mov    %rsp,%rbp" */
    const char *function, *file; /* as the disassembler says; "" unknown */
    int64_t line;                /* 0 unknown */
};
struct instructions {
    struct instruction *items; /* free() it */
    size_t count;
};

/* The code of a file from `start` up to but not at `end`. */
int objdump_disassemble(const struct objdump *tools, const char *path, uint64_t start, uint64_t end,
                        struct arena *arena, struct instructions *instructions, struct error *err);
/* What it printed, as instructions: pprof's reading of it, line by line. */
void objdump_parse(char *text, struct arena *arena, struct instructions *instructions);

/* Where code comes from: the innermost inlined function first. */
struct code_frame {
    const char *function, *file; /* as linked; "" unknown */
    int64_t line;
};
struct code_frames {
    const struct code_frame *items; /* in the arena; none where nothing is known */
    size_t count;
};

/* What the tool for lines printed of them, which is changed. */
void objdump_parse_lines(const struct objdump *tools, char *text, struct binary *binary, const uint64_t *addresses,
                         size_t count, struct arena *arena, struct code_frames *frames);

/* The frames of each of `count` addresses of a file, in one run of the tool; `frames` has room for as many. */
int objdump_lines(const struct objdump *tools, struct binary *binary, const uint64_t *addresses, size_t count,
                  struct arena *arena, struct code_frames *frames, struct error *err);

#endif
