/* cache_lines.h: the cache lines that threads take from each other, from the samples of `perf c2c record` and `perf mem record`.
 *
 * Such a sample has the address that an instruction used, and where the data came from. HITM, "hit modified", is the case that costs:
 * another core had changed the line and had to hand it over. Kept are the accesses, loads and stores, of the lines that have at least
 * one HITM. Lines of 64 bytes: those of x86, and of most 64-bit ARM cores. */
#ifndef CLEAR_INGEST_READ_PERF_CACHE_LINES_H
#define CLEAR_INGEST_READ_PERF_CACHE_LINES_H

#include "base/error.h"
#include "base/map.h"
#include "ingest/read/perf/perf_data.h"
#include "ingest/read/perf/process_maps.h"

enum { CACHE_LINE = 64 };

/* Where the symbol table of a file has the address: as far behind the code that is mapped below it as it was in memory. */
struct perf_data_place {
    uint64_t code_offset, distance; /* of that code in the file, and from its start to the address; bytes */
    uint32_t image, unused;         /* IMAGE_NONE: no file's code is below it */
};

/* All samples of one stack and thread at one address. */
struct perf_access {
    uint32_t stack, comm, pid, tid, mode, is_store;
    uint64_t address;
    struct perf_data_place place;
    uint64_t samples, hitm;
    uint64_t latency; /* sum of the loads' weights, cycles */
};

struct perf_lines {
    struct map index;    /* the members of an access up to its address -> index into `items` */
    struct map modified; /* pid and number of a line with a HITM -> nothing */
    struct perf_access *items;
    size_t count, capacity;
    size_t event; /* the index of the one whose samples had a HITM, where `modified` has a line */
};

/* Adds a sample that has an address; others are left alone. `key`: stack, comm, pid, tid and mode of the sample. Fails where the
 * accesses take more than the limit of base/limit.h. */
int perf_lines_add(struct perf_lines *lines, const struct perf_data_sample *sample, struct perf_access key,
                   const struct perf_space *space, struct error *err);
void perf_lines_free(struct perf_lines *lines);

/* Is it of a line with a HITM? */
bool perf_lines_has(const struct perf_lines *lines, const struct perf_access *access);

#endif
