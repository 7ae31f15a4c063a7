/* legacy.h: the formats that pprof read before profile.proto, and reads still: gperftools' binary CPU profile (and Java's
 * variant of it), and the texts of heapz, growthz, fragmentationz, contentionz, mutex, threadz, of Go's count profiles
 * (goroutine, threadcreate) and of Java's heapz and contentionz.
 *
 * One model for all of them (struct legacy). A parser of one format fills it; legacy_finish settles which mapping
 * each address is in; legacy_pack turns it into profile.proto, which the one reader of that format (pprof_read.c) stores. So a
 * legacy profile and the same one converted by pprof become the same rows.
 *
 * What pprof does to such a profile is done here too, because viewers and stored histories expect it:
 *   addresses    a stack holds return addresses; one is subtracted from each, so that it lies inside the call. Not from the
 *                leaf of CPU profiles and threads, which is where the program stood.
 *   scaling      heap samples of a Poisson sampler are divided by their chance to be taken; contentions are multiplied by
 *                the sampling period and cycles become nanoseconds.
 *   clean-up     the frame of the signal handler (see legacy_cpu.c) and a leaf that stands there twice are removed.
 *   mappings     see legacy_maps.c.
 * Where pprof guesses at damaged input (words beyond the end of the file are zeros, say), it is refused here. */
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
    const char *function, *file; /* Java; NULL: nothing but the address is known */
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

/* For parsers. */
/* Room for one more entry, at index `count`, of a list that doubles. */
void *legacy_grow(void *list, size_t count, size_t entry_size);
void legacy_type(struct legacy *legacy, const char *type, const char *unit);
/* A frame for the next sample, the leaf first. False where the stack is too deep. */
bool legacy_frame(struct legacy *legacy, uint64_t address);
/* The addresses of a sample: as far as the line has nothing but hex numbers. Steps over them. */
struct span legacy_addresses(struct span *line);
/* All "0x..." in the text become frames; `adjust`: one less each. The text of a current line. */
int legacy_frames(struct legacy *legacy, const struct input_lines *lines, struct span text, bool adjust,
                  struct error *err);
/* A sample of the frames given since the last one; its values are the caller's to set. Good until the next call. */
struct legacy_sample *legacy_sample(struct legacy *legacy);
/* Does that many allocations of that many bytes in a profile mean, where a byte is sampled with probability 1/rate? False
 * where that does not fit into 64 bits. */
bool legacy_scale(int64_t *count, int64_t *bytes, int64_t rate);

/* The parsers: each fills the model from legacy->input. */
int legacy_parse_cpu(struct legacy *legacy, struct error *err);
int legacy_parse_heap(struct legacy *legacy, struct error *err);
int legacy_parse_count(struct legacy *legacy, struct error *err);
int legacy_parse_threads(struct legacy *legacy, struct error *err);
int legacy_parse_contention(struct legacy *legacy, struct error *err);
int legacy_parse_java(struct legacy *legacy, struct error *err);

/* Removes a second frame that is the call of the leaf itself: both the unwinder and the signal's context gave it. */
void legacy_drop_double_leaves(struct legacy *legacy);

/* legacy_java.c: names for the locations, from the lines that remain. */
int legacy_java_locations(struct legacy *legacy, struct input_lines *lines, struct error *err);

/* legacy_maps.c. Is this the line after which mappings stand? */
bool legacy_is_map_title(struct span line);
/* Reads mappings from the lines that remain, in the form of /proc/self/maps or the shorter one of gperftools. */
int legacy_parse_maps(struct legacy *legacy, struct input_lines *lines, struct error *err);
/* The same after the title, if it comes at all. `lines` may stand on it already. */
int legacy_find_maps(struct legacy *legacy, struct input_lines *lines, struct error *err);
/* Settles the mapping of every location that a sample uses. After all mappings are known, also if there are none. */
void legacy_finish(struct legacy *legacy);

/* legacy_pack.c: the model as an uncompressed profile.proto. */
void legacy_pack(const struct legacy *legacy, struct buffer *proto);

#endif
