/* clear_dumps.h: the text dumps of CLEAR's runtime and of the tools beside it, one at a time or as a directory
 * NAME.profile/ next to the binary NAME. Every version is read; what an older one lacks is 0 or none.
 *
 *     clear_dumps.c    which dump it is, single files and directories
 *     dump_headers.c   the lines from '#'
 *     dump_names.c     addresses to functions, by the binary where it is there
 *     dump_rows.c      alloc.txt, locks.txt, mvcc.txt, channels.txt
 *     dump_fibers.c    fibers.txt, and the task sites in transpiled.zig
 *     dump_tools.c     syscalls.txt (strace -c), perf-stat.txt (perf stat)
 *
 * Figures in dumps are scaled by sample_n already. */
#ifndef CLEAR_INGEST_READ_DUMPS_CLEAR_DUMPS_H
#define CLEAR_INGEST_READ_DUMPS_CLEAR_DUMPS_H

#include "base/arena.h"
#include "base/map.h"
#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/scan.h"
#include "ingest/symbols/symbolize.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Addresses are as the dump has them, and are looked up so: neither load bias nor the length of a call is subtracted,
 * because no dump says whether it did. Only of a program that we started ourselves do we know the bias, and subtract it. An
 * address outside of the binary, or without one, is a function of that name, "0x401234". */
struct dump_names {
    struct ingest *ingest;
    struct symbolizer *symbolizer;
    struct symbolizer_module *module; /* NULL: there is no binary */
    char *binary;                     /* absolute path, NULL */
    uint64_t bias;                    /* address in the dump minus address in the binary */
    struct map locations;             /* address -> location id */
    struct map mappings;              /* start of a segment -> mapping id */
};

/* `path` is a dump in NAME.profile/, or that directory. Of ingest->program, its executable is the binary. */
void dump_names_open(struct dump_names *names, struct ingest *ingest, const char *path);
void dump_names_close(struct dump_names *names);
/* What the code that was met was made of, into the table `sources`. */
int dump_names_store_sources(struct dump_names *names, struct error *err);
/* A stack, leaf first; empty is trace 0. */
int64_t dump_trace(struct dump_names *names, const uint64_t *addresses, size_t depth, struct error *err);
/* The lock or cell at an address: a global of the binary, or nothing but the address. */
int64_t dump_object(struct dump_names *names, const char *kind, uint64_t address, struct error *err);

/* ---- one dump ---------------------------------------------------------------------------------------------------- */

enum { DUMP_DEPTH_MAX = 4096, DUMP_COMMENTS_MAX = 1000 };

/* "# object: ADDRESS KIND IDENTITY NAME" (tabs between): what a lock is, in our own dumps. */
struct dump_object {
    const char *kind, *identity, *name;
};

struct dump_reader {
    struct ingest *ingest;
    struct dump_names *names;
    const struct input *input;
    struct input_lines lines;
    struct arena arena;
    const char *comments[DUMP_COMMENTS_MAX]; /* lines from '#' that are no plain headers, without '#' */
    size_t comment_count;
    struct map objects;        /* address -> struct dump_object * */
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
/* A text that goes with the profile; beyond DUMP_COMMENTS_MAX none does. */
void dump_comment(struct dump_reader *dump, const char *text);

/* A profile of that kind with the headers' facts. */
int dump_begin_profile(struct dump_reader *dump, const char *kind, struct error *err);

/* The next line that is neither blank nor a header. */
bool dump_next_row(struct dump_reader *dump);
/* "PATH:LINE:COLUMN: expected ..., found '...'". `place` is in the current line. */
int dump_expected(const struct dump_reader *dump, struct span place, const char *expected, struct error *err);
/* A number that does not fit into 63 bits, or is none, is an error. */
int dump_number(const struct dump_reader *dump, struct span word, int64_t *value, struct error *err);

/* ---- the dumps --------------------------------------------------------------------------------------------------- */

/* Each begins its profile and adds its rows. */
int dump_read_rows(struct dump_reader *dump, const char *kind, struct error *err); /* heap, lock, mvcc, channels */
int dump_read_fibers(struct dump_reader *dump, struct error *err);
int dump_read_syscalls(struct dump_reader *dump, struct error *err);
int dump_read_counters(struct dump_reader *dump, struct error *err);
/* The name in a directory of the dump that an input is ("alloc.txt"); NULL for none. */
const char *dump_file_of(const struct input *input);
/* The markers in the transpiled files of a run, to the fibers that were recorded of it. In a transaction of its own. */
int dump_mark_run(struct db *db, int64_t run_id, struct error *err);
/* Adds kind, line and column to the task sites of the open profile, and those that never ran. Where the open profile is
 * not the fibers', the first marker begins that. */
int dump_read_task_sites(struct dump_reader *dump, bool has_fibers, struct error *err);

#endif
