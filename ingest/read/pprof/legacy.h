/* legacy.h: the formats that pprof read before profile.proto, and still reads: gperftools' binary CPU profile (and
 * Java's variant), and the texts of heapz, growthz, fragmentationz, contentionz, mutex, threadz, of Go's count profiles
 * (goroutine, threadcreate), and of Java's heapz and contentionz.
 *
 * A parser for each format fills one model (struct legacy). legacy_finish finds the mapping of each address.
 * legacy_pack turns the model into profile.proto, which the reader of that format (profile_proto.c) stores. So a legacy
 * profile and its conversion by pprof give the same rows.
 *
 * What pprof does to such a profile is done here too:
 *   addresses    a stack has return addresses. One is subtracted from each, so that it is inside the call instruction;
 *                not from the leaf of CPU profiles and threads, which is where the program was.
 *   scaling      heap samples of a Poisson sampler are divided by their probability; contentions are multiplied by the
 *                sampling period, and cycles are converted to nanoseconds.
 *   clean-up     the frame of the signal handler (legacy_cpu.c) and a leaf that is there twice are removed.
 *   mappings     see legacy_maps.c.
 * Where pprof guesses at damaged input (it reads words beyond the end of the file as zeros), this is an error here. */
#ifndef CLEAR_INGEST_READ_PPROF_LEGACY_H
#define CLEAR_INGEST_READ_PPROF_LEGACY_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/map.h"
#include "ingest/read/ingest.h"
#include "ingest/read/input.h"
#include "ingest/read/scan.h"

enum {
    LEGACY_DEPTH_MAX = 16384, /* frames of one stack; more is an error */
    LEGACY_TYPES_MAX = 4,
};

struct legacy_sample {
    int64_t values[LEGACY_TYPES_MAX];
    int64_t block_bytes; /* mean size of a block: the label "bytes" of heap samples */
    uint32_t *frames;    /* indexes into locations, leaf first */
    size_t depth;
};

struct legacy_location {
    uint64_t address;
    const char *function, *file; /* Java; NULL: only the address is known */
    int64_t line;
    uint32_t mapping; /* 1 + index into mappings; 0: none */
};

struct legacy_mapping {
    uint64_t start, limit, offset;
    const char *file, *build_id;
};

struct legacy {
    struct ingest *ingest; /* for --lenient */
    const struct input *input;
    struct arena arena;
    const char *types[LEGACY_TYPES_MAX][2]; /* type, unit */
    size_t type_count;
    const char *period_type, *period_unit;
    int64_t period, duration_ns;
    bool has_block_bytes;
    struct legacy_sample *samples;
    size_t sample_count;
    struct legacy_location *locations;
    size_t location_count;
    struct map by_address;           /* address -> index into locations */
    struct legacy_mapping *mappings; /* the main binary first */
    size_t mapping_count;
    uint64_t *stack; /* the addresses of the sample being read */
    size_t depth;
};

void legacy_open(struct legacy *legacy, struct ingest *ingest, const struct input *input);
void legacy_close(struct legacy *legacy);

/* ---- for parsers ---- */

/* Grows a list, by doubling, so that it has room for an entry at index `count`. */
void *legacy_grow(void *list, size_t count, size_t entry_size);
void legacy_type(struct legacy *legacy, const char *type, const char *unit);
/* Adds a frame to the next sample, leaf first. False where the stack is too deep. */
bool legacy_frame(struct legacy *legacy, uint64_t address);
/* Takes the hexadecimal numbers at the start of the line, which are the addresses of a sample. */
struct span legacy_addresses(struct span *line);
/* Adds a frame for each "0x..." in the text, which is part of the current line; `adjust`: less one. */
int legacy_frames(struct legacy *legacy, const struct input_lines *lines, struct span text, bool adjust,
                  struct error *err);
/* Makes a sample of the frames since the last one. The caller sets its values. Valid until the next call. */
struct legacy_sample *legacy_sample(struct legacy *legacy);
/* Scales `*count` sampled blocks of `*bytes` bytes to all blocks, where a byte is sampled with probability 1/rate.
 * False where the result exceeds 64 bits. */
bool legacy_scale(int64_t *count, int64_t *bytes, int64_t rate);

/* The parsers: each fills the model from legacy->input. */
int legacy_parse_cpu(struct legacy *legacy, struct error *err);
int legacy_parse_heap(struct legacy *legacy, struct error *err);
int legacy_parse_count(struct legacy *legacy, struct error *err);
int legacy_parse_threads(struct legacy *legacy, struct error *err);
int legacy_parse_contention(struct legacy *legacy, struct error *err);
int legacy_parse_java(struct legacy *legacy, struct error *err);

/* Removes a second frame that repeats the leaf: both the unwinder and the signal's context gave it. */
void legacy_drop_double_leaves(struct legacy *legacy);

/* legacy_java.c. Reads the names of the locations from the remaining lines. */
int legacy_java_locations(struct legacy *legacy, struct input_lines *lines, struct error *err);

/* legacy_maps.c. Whether this is the line before the mappings. */
bool legacy_is_map_title(struct span line);
/* Reads mappings from the remaining lines, in the form of /proc/self/maps or the shorter one of gperftools. */
int legacy_parse_maps(struct legacy *legacy, struct input_lines *lines, struct error *err);
/* The same from behind the title, if there is one. The current line may be the title. */
int legacy_find_maps(struct legacy *legacy, struct input_lines *lines, struct error *err);
/* Finds the mapping of every location that a sample uses. Call it when all mappings are known, also if there are
 * none. */
void legacy_finish(struct legacy *legacy);

/* legacy_pack.c: the model as an uncompressed profile.proto. */
void legacy_pack(const struct legacy *legacy, struct buffer *proto);

#endif
