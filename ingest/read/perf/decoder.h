/* decoder.h: the state of the perf.data decoder, which its files share. For ingest/read/perf alone. */
#ifndef CLEAR_INGEST_READ_PERF_DECODER_H
#define CLEAR_INGEST_READ_PERF_DECODER_H

#include <zstd.h>

#include "ingest/read/perf/event_queue.h"
#include "ingest/read/perf/perf_data.h"
#include "ingest/read/perf/records.h"

/* The content of a COMPRESSED record. Kept while any of its records waits in the queue. */
struct decompressed_block {
    unsigned char *data; /* NULL: freed */
    size_t size, waiting;
    size_t taken; /* bytes of whole records; the rest belongs to the first record of the next block */
};

struct decoder {
    const unsigned char *data;
    size_t size;
    const struct perf_data_visitor *visitor;
    void *context;
    struct perf_data_facts *facts;
    struct map ids;      /* sample id -> index of its event */
    uint64_t id_count;   /* ids read: at most as many as the file has words */
    struct map counters; /* sample id -> last value read, for PERF_SAMPLE_READ */
    struct queue queue;
    struct decompressed_block *blocks; /* [0] is the file itself */
    size_t block_count;
    uint64_t block_bytes;    /* that are held now */
    uint64_t inflated_bytes; /* of all blocks there were */
    uint64_t block_origin;   /* offset of the COMPRESSED record that the current block is from */
    ZSTD_DStream *zstd;
};

/* Where that is in the file; of what was compressed where its record begins. */
uint64_t decoder_offset(const struct decoder *decoder, const unsigned char *place);
/* Sets the error for a position in the file; returns -1. */
int decoder_fail(const struct decoder *decoder, const unsigned char *place, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* As decoder_fail, for a record that can be skipped: 0 if lenient, and the record is counted. */
int decoder_broken(struct decoder *decoder, const unsigned char *place, struct error *err, const char *what);

struct perf_event *decoder_add_event(struct decoder *decoder, struct bytes attr);
int decoder_add_ids(struct decoder *decoder, const struct perf_event *event, struct bytes ids,
                    const unsigned char *place, struct error *err);
struct perf_event *decoder_event_of(const struct decoder *decoder, uint64_t id); /* 0 is the first; NULL unknown */

/* ---- compressed records ---- */

/* Inflates a compressed record into a new block, behind the rest of the block before. */
int block_inflate(struct decoder *decoder, const struct perf_record *record, const unsigned char *place,
                  struct error *err);
void block_release(struct decoder *decoder, size_t block); /* frees it if none of its records waits */

/* ---- features.c ---- */

enum { FEATURE_BUILD_ID = 2, FEATURE_LAST = 255 };
/* One feature section; unknown ones are skipped. */
int feature_decode(struct decoder *decoder, unsigned feature, struct bytes body, struct error *err);
/* One build_id_event, with its header. */
int feature_build_id(struct decoder *decoder, const struct perf_record *record, struct error *err);
int feature_event_update(struct decoder *decoder, struct perf_record *record);

#endif
