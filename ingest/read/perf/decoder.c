#include "ingest/read/perf/decoder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* ---- places and errors ------------------------------------------------------------------------------------------- */

uint64_t decoder_offset(const struct decoder *decoder, const unsigned char *place) {
    bool is_in_file = place >= decoder->data && place <= decoder->data + decoder->size;
    return is_in_file ? (uint64_t)(place - decoder->data) : decoder->block_origin;
}

int decoder_fail(const struct decoder *decoder, const unsigned char *place, struct error *err, const char *format,
                 ...) {
    va_list args;
    va_start(args, format);
    error_vset(err, ERROR_FAILURE, format, args);
    va_end(args);
    return error_prefix(err, "byte %" PRIu64 ": ", decoder_offset(decoder, place));
}

int decoder_broken(struct decoder *decoder, const unsigned char *place, struct error *err, const char *what) {
    if (!decoder->facts->is_lenient) return decoder_fail(decoder, place, err, "%s", what);
    decoder->facts->skipped++;
    return 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct perf_event *decoder_add_event(struct decoder *decoder, struct bytes attr) {
    struct perf_data_facts *facts = decoder->facts;
    struct perf_event *event = xcalloc(1, sizeof *event);
    perf_event_decode(event, attr);
    event->index = facts->event_count;
    event->name = perf_event_make_name(&facts->texts, event->type, event->config, event->flags);
    facts->events = xrealloc(facts->events, (facts->event_count + 1) * sizeof *facts->events);
    return facts->events[facts->event_count++] = event;
}

int decoder_add_ids(struct decoder *decoder, const struct perf_event *event, struct bytes ids,
                    const unsigned char *place, struct error *err) {
    decoder->id_count += ids.left / 8;
    /* All events may have the same section of ids, so the number of ids is bounded by the size of the file. */
    if (decoder->id_count > decoder->size / 8)
        return decoder_fail(decoder, place, err, "more ids than the file can hold");
    while (ids.left >= 8) {
        uint64_t id = bytes_u64(&ids);
        map_put(&decoder->ids, &id, sizeof id, NULL)->value = (int64_t)event->index;
    }
    return 0;
}

struct perf_event *decoder_event_of(const struct decoder *decoder, uint64_t id) {
    const struct perf_data_facts *facts = decoder->facts;
    if (!facts->event_count) return NULL;
    if (id == 0) return facts->events[0];
    const struct map_entry *entry = map_find(&decoder->ids, &id, sizeof id);
    if (entry) return facts->events[entry->value];
    return facts->event_count == 1 ? facts->events[0] : NULL; /* a pipe of older perfs names no ids */
}

/* ---- compressed records ------------------------------------------------------------------------------------------ */

/* perf inflates into a buffer of the size of its ring buffer, 2 MiB by default. A record (at most 64 KiB) that inflates
 * to more than this is an attack. */
enum { BLOCK_MAX = 64 << 20 };
/* A limit for all blocks with waiting records, which are two rounds of every ring buffer. */
#define BLOCKS_MAX (UINT64_C(1) << 30)

void block_release(struct decoder *decoder, size_t index) {
    struct decompressed_block *block = &decoder->blocks[index];
    if (index == 0 || block->waiting || index + 1 == decoder->block_count) return;
    decoder->block_bytes -= block->size;
    free(block->data);
    block->data = NULL;
}

static struct decompressed_block *add_block(struct decoder *decoder) {
    decoder->blocks = xrealloc(decoder->blocks, (decoder->block_count + 1) * sizeof *decoder->blocks);
    struct decompressed_block *before = &decoder->blocks[decoder->block_count - 1], *block = before + 1;
    *block = (struct decompressed_block){0};
    if (decoder->block_count > 1) {
        block->size = before->size - before->taken;
        block->data = xmalloc(block->size + ZSTD_DStreamOutSize());
        memcpy(block->data, before->data + before->taken, block->size);
        decoder->block_bytes += block->size;
    }
    decoder->block_count++;
    block_release(decoder, decoder->block_count - 2);
    return block;
}

int block_inflate(struct decoder *decoder, const struct perf_record *record, const unsigned char *place,
                  struct error *err) {
    if (!decoder->zstd && !(decoder->zstd = ZSTD_createDStream())) return error_fail(err, "out of memory");
    struct bytes body = record->body;
    uint64_t size = body.left;
    if (record->type == PERF_RECORD_COMPRESSED2) size = bytes_u64(&body); /* what follows it is padding */
    const unsigned char *from = bytes_take(&body, size);
    if (!from) return decoder_fail(decoder, place, err, "a compressed record whose data does not fit into it");
    struct decompressed_block *block = add_block(decoder);
    ZSTD_inBuffer in = {from, size, 0};
    ZSTD_outBuffer out = {0};
    size_t capacity = 0;
    do {
        if (capacity < block->size + ZSTD_DStreamOutSize()) {
            capacity = 2 * block->size + ZSTD_DStreamOutSize();
            block->data = xrealloc(block->data, capacity);
        }
        out = (ZSTD_outBuffer){block->data + block->size, ZSTD_DStreamOutSize(), 0};
        size_t result = ZSTD_decompressStream(decoder->zstd, &out, &in);
        if (ZSTD_isError(result)) return decoder_fail(decoder, place, err, "zstd: %s", ZSTD_getErrorName(result));
        block->size += out.pos;
        decoder->block_bytes += out.pos;
        decoder->inflated_bytes += out.pos;
        if (decoder->inflated_bytes > limit_inflated(decoder->size))
            return decoder_fail(decoder, place, err,
                                "compressed data that inflates to more than %" PRIu64
                                " MiB in all; --limit 4G allows it",
                                limit_inflated(decoder->size) >> 20);
        if (block->size > BLOCK_MAX || decoder->block_bytes > BLOCKS_MAX)
            return decoder_fail(decoder, place, err, "compressed data that inflates to more than %d MiB at once",
                                BLOCK_MAX >> 20);
    } while (in.pos < in.size || out.pos == out.size);
    block->data = xrealloc(block->data, block->size + 1); /* blocks with waiting records stay */
    return 0;
}
