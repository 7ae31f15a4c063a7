/* jit_names.h: names of code that is in no module, such as a JIT compiler makes.
 *
 * Best first: the files that runtimes write for perf, /tmp/perf-PID.map (node --perf-basic-prof, java agents, Julia, .NET) and
 * jit-PID.dump (jit_dump.h), which the process has mapped to tell where it is, or which is in our directory; the name that the region has in
 * /proc/PID/maps, while the process runs: "[anon:v8]", "memfd:doublemapper"; "[anon]". Whatever these files say is data: they are limited,
 * and a broken line is left out. */
#ifndef CLEAR_INGEST_SYMBOLS_JIT_NAMES_H
#define CLEAR_INGEST_SYMBOLS_JIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jit_range {
    uint64_t start, limit;
    size_t order; /* of two at one start, the later one holds */
    char *name;
};
struct jit_ranges { /* sorted by start, then order */
    struct jit_range *items;
    size_t count, capacity;
};

/* All zeros is empty. */
struct jit_names {
    int32_t pid;    /* 0: unknown */
    uint32_t owner; /* the user that the process runs as, where has_owner says that it is known */
    bool has_owner;
    bool is_running, is_read;
    char *dump; /* the path of its jitdump, as it was seen while the process ran; NULL: it was not */
    struct jit_ranges symbols, regions;
};

/* The process as it is now. Its files are read at the next look-up, where there is one. */
void jit_names_begin(struct jit_names *names, int32_t pid, bool is_running);
/* Reads a file as runtimes write it for perf, of either kind, instead of those of the process. */
void jit_names_read(struct jit_names *names, FILE *symbols);
/* Never NULL; valid until the next jit_names_begin. */
const char *jit_name(struct jit_names *names, uint64_t address);
void jit_names_free(struct jit_names *names);

#endif
