/* line_code.h: source lines with their values and the machine code of each line: the model behind weblist, by pprof's rules.
 *
 * Instructions come from the binaries around the addresses that were sampled, their lines from the debug information, inlined
 * calls and all; where there is no binary, or it cannot be read, from the lines that the profile has, without code. A value
 * of a line is the sum of its instructions'; that of an instruction includes what was sampled within it. A sample counts once
 * for an address, however often its stack goes through it. */
#ifndef CLEAR_QUERY_REPORT_LINE_CODE_H
#define CLEAR_QUERY_REPORT_LINE_CODE_H

#include "query/code/machine_code.h"
#include "query/report/report.h"

struct code_point { /* an instruction, or an address of which no more is known */
    uint32_t file;  /* a mapping of its binary: the first one of that file; PROFILE_NONE none */
    uint64_t address, in_file;
    uint64_t length;         /* bytes */
    const char *text;        /* of the instruction; "" it is not known */
    struct code_frame place; /* the innermost */
    int64_t flat, cum;
};

struct line_entry { /* a point at a line: the same one may stand at several, once for each call that was inlined */
    const char *path;
    int64_t line;
    const char *function;             /* as linked */
    const struct code_frame *callees; /* what is inlined at the line, innermost first; none for code of its own */
    size_t callee_count;
    size_t point, order; /* index into points; in the order of finding */
};

struct line_code {
    struct code *code;
    struct code_point *points;
    size_t point_count, point_room;
    struct line_entry *entries; /* by path, line, order */
    size_t entry_count, entry_room;
    struct map interest, readable; /* names of functions that are shown; linked name -> const char * for people */
    size_t left_out;               /* ranges that were not disassembled, because there are too many */
    bool overflows;                /* a sum of a point was beyond 64 bits */
};

/* What matches `pattern`: functions by name, linked name or file, and binaries by file; or what is at that address. 1: nothing
 * does. Binaries that cannot be read are told of by the report's note. */
int line_code_find(struct line_code *lines, const struct report *report, struct code *code, struct pattern *pattern,
                   struct error *err);
void line_code_free(struct line_code *lines);
/* The name of a function for people. */
const char *line_code_readable(const struct line_code *lines, const char *function);

#endif
