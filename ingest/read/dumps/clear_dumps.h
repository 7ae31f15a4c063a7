/* clear_dumps.h: reads the text dumps of CLEAR's runtime and of the tools beside it, single files or a directory
 * NAME.profile/ next to the binary NAME. Every version is read; what an older one lacks is 0 or none.
 *
 *     clear_dumps.c     recognises dumps; single files and directories
 *     headers.c         the lines that begin with '#'
 *     address_names.c   functions of addresses, by the binary if it is there
 *     counter_dumps.c   alloc.txt, locks.txt, mvcc.txt, channels.txt
 *     fiber_dump.c      fibers.txt, and the task sites in transpiled.zig
 *     tool_output.c     syscalls.txt (strace -c), perf-stat.txt (perf stat)
 *
 * Figures in dumps are already scaled by sample_n. */
#ifndef CLEAR_INGEST_READ_DUMPS_CLEAR_DUMPS_H
#define CLEAR_INGEST_READ_DUMPS_CLEAR_DUMPS_H

#include "base/arena.h"
#include "base/map.h"
#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/scan.h"
#include "ingest/symbols/symbolize.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Addresses are looked up as they are in the dump. Neither a load bias nor the length of a call is subtracted, because
 * a dump does not say whether its writer did; for a program that we started the bias is known and is subtracted. The
 * function of an address outside the binary, or without one, is named by the address: "0x401234". */
struct dump_names {
    struct ingest *ingest;
    struct symbolizer *symbolizer;
    struct symbolizer_module *module; /* NULL: there is no binary */
    char *binary;                     /* absolute path, NULL */
    uint64_t bias;                    /* address in the dump minus address in the binary */
    struct map locations;             /* address -> location id */
    struct map mappings;              /* start of a segment -> mapping id */
    const struct map *told;           /* of the dump that is open: its `frames`; NULL: none is */
};

/* `path` is a dump in NAME.profile/, or that directory. The binary is the executable of ingest->program if that is
 * set. */
void dump_names_open(struct dump_names *names, struct ingest *ingest, const char *path);
void dump_names_close(struct dump_names *names);
/* Stores the transpiled sources of the code that was resolved. */
int dump_names_store_sources(struct dump_names *names, struct error *err);
/* The id of a stack's trace, leaf first; an empty stack is trace 0. */
int64_t dump_trace(struct dump_names *names, const uint64_t *addresses, size_t depth, struct error *err);
/* The id of the lock or cell at an address: a global variable of the binary, or just the address. */
int64_t dump_object(struct dump_names *names, const char *kind, uint64_t address, struct error *err);

/* ---- one dump ---------------------------------------------------------------------------------------------------- */

enum { DUMP_DEPTH_MAX = 4096, DUMP_COMMENTS_MAX = 1000, DUMP_INLINED_MAX = 64 };

/* "# object: ADDRESS KIND IDENTITY NAME", separated by tabs: the object of an address, in dumps that clear wrote. */
struct dump_object {
    const char *kind, *identity, *name;
};

/* "# frame: ADDRESS FUNCTION SYSTEM-NAME FILE LINE START-LINE", separated by tabs: a frame of an address of callers. */
struct dump_frame {
    const char *function, *system_name, *file;
    int64_t line, start_line;
    struct dump_frame *outer; /* the one that it was inlined into; NULL: none */
};

struct dump_reader {
    struct ingest *ingest;
    struct dump_names *names;
    const struct input *input;
    struct input_lines lines;
    struct arena arena;
    const char *comments[DUMP_COMMENTS_MAX]; /* lines that begin with '#' and are no known header, without the '#' */
    size_t comment_count;
    struct map objects;        /* address -> struct dump_object * */
    struct map frames;         /* address -> struct dump_frame *, the innermost inlined one */
    int64_t sample_n, dropped; /* dropped: of "# WARNING: N samples dropped" */
    int64_t duration_ns;
    uint64_t disagreeing;           /* rows whose totals disagree */
    uint64_t stack[DUMP_DEPTH_MAX]; /* of the current row */
    size_t depth;
};

/* Reads all headers of the input. */
int dump_open(struct dump_reader *dump, struct ingest *ingest, struct dump_names *names, const struct input *input,
              struct error *err);
void dump_close(struct dump_reader *dump);
/* Adds a comment to the profile; ignored beyond DUMP_COMMENTS_MAX. */
void dump_comment(struct dump_reader *dump, const char *text);

/* Begins a profile of that kind, with the facts of the headers. */
int dump_begin_profile(struct dump_reader *dump, const char *kind, struct error *err);

/* The next line that is neither blank nor a header. */
bool dump_next_row(struct dump_reader *dump);
/* "PATH:LINE:COLUMN: expected ..., found '...'". `place` is in the current line. */
int dump_expected(const struct dump_reader *dump, struct span place, const char *expected, struct error *err);
/* Reads a number; text that is not a number of at most 63 bits is an error. */
int dump_number(const struct dump_reader *dump, struct span word, int64_t *value, struct error *err);

/* ---- the dumps --------------------------------------------------------------------------------------------------- */

/* Each reads a dump: begins its profile and adds its rows. */
int dump_read_rows(struct dump_reader *dump, const char *kind, struct error *err); /* heap, lock, mvcc, channels */
int dump_read_fibers(struct dump_reader *dump, struct error *err);
int dump_read_syscalls(struct dump_reader *dump, struct error *err);
int dump_read_counters(struct dump_reader *dump, struct error *err);
/* The name that the input has in a directory of dumps, by its content ("alloc.txt"); NULL where it is not a dump. */
const char *dump_file_of(const struct input *input);
/* Adds the markers in the transpiled files of a run to its profiles of fibers. In a transaction of its own. */
int dump_mark_run(struct db *db, int64_t run_id, struct error *err);
/* Adds kind, line and column to the task sites of the open profile, and the sites that never ran. Without `has_fibers`
 * the first marker begins a profile of fibers. */
int dump_read_task_sites(struct dump_reader *dump, bool has_fibers, struct error *err);

#endif
