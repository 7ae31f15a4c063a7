#include "ingest/read/perf/perf_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "ingest/read/perf/decoder.h"

enum { FILE_HEADER = 104, FILE_HEADER_OLD = 72, PIPE_HEADER = 16 }; /* old: without the list of features */
enum { ATTR_SIZE_FIRST = 64, SECTION = 16 };

static struct perf_event *event_of_record(const struct decoder *decoder, const struct perf_record *record) {
    if (!decoder->facts->event_count) return NULL;
    return decoder_event_of(decoder, perf_record_id(decoder->facts->events[0], record));
}

/* ---- records of the kernel --------------------------------------------------------------------------------------- */

static int visit_sample(struct decoder *decoder, struct perf_event *event, struct perf_data_sample *sample,
                        struct error *err) {
    struct perf_data_facts *facts = decoder->facts;
    sample->event = event;
    event->samples++;
    facts->sample_count++;
    if (sample->time) {
        if (!facts->first_time || sample->time < facts->first_time) facts->first_time = sample->time;
        if (sample->time > facts->last_time) facts->last_time = sample->time;
    }
    return decoder->visitor->sample ? decoder->visitor->sample(decoder->context, sample, err) : 0;
}

/* With PERF_SAMPLE_READ one record is a sample of every counter of the group, with the difference of its value as
 * period. A counter that did not change has no sample. */
static int visit_values(struct decoder *decoder, struct perf_event *event, struct perf_data_sample *sample,
                        const struct perf_read *read, struct error *err) {
    for (uint64_t i = 0; i < read->count; i++) {
        uint64_t value = words_at(read->values, i * read->stride), id = read->lone_id;
        if (read->has_ids && !id) id = words_at(read->values, i * read->stride + 1);
        struct perf_event *counted = read->has_ids ? decoder_event_of(decoder, id) : event;
        if (!counted) {
            decoder->facts->unknown++;
            continue;
        }
        struct map_entry *last = map_put(&decoder->counters, &id, sizeof id, NULL);
        sample->period = value - (uint64_t)last->value;
        last->value = (int64_t)value;
        if (sample->period && visit_sample(decoder, counted, sample, err)) return -1;
    }
    return 0;
}

static int take_sample(struct decoder *decoder, const unsigned char *place, const struct perf_record *record,
                       struct error *err) {
    struct perf_event *event = event_of_record(decoder, record);
    if (!event) {
        decoder->facts->unknown++;
        return 0;
    }
    struct perf_data_sample sample;
    struct perf_read read;
    if (!perf_sample_decode(event, record, &sample, &read))
        return decoder_broken(decoder, place, err, "a sample whose fields do not fit into its record");
    if (read.count) return visit_values(decoder, event, &sample, &read, err);
    return visit_sample(decoder, event, &sample, err);
}

static int take_mmap(struct decoder *decoder, const unsigned char *place, const struct perf_record *record,
                     struct error *err) {
    struct perf_data_mmap mmap;
    if (!perf_mmap_decode(record, &mmap))
        return decoder_broken(decoder, place, err, "a mapping whose fields do not fit or whose end exceeds 64 bits");
    return decoder->visitor->mmap ? decoder->visitor->mmap(decoder->context, &mmap, err) : 0;
}

static int take_comm(struct decoder *decoder, const struct perf_record *record, struct error *err) {
    enum { MISC_EXEC = 1 << 13 };
    struct bytes body = record->body;
    uint32_t pid = bytes_u32(&body), tid = bytes_u32(&body);
    size_t size;
    const char *name = bytes_text(&body, &size);
    if (body.is_short || !decoder->visitor->comm) return 0;
    return decoder->visitor->comm(decoder->context, pid, tid, name, size, record->misc & MISC_EXEC, err);
}

static int take_fork(struct decoder *decoder, const struct perf_record *record, struct error *err) {
    enum { MISC_FORK_EXEC = 1 << 13 };
    struct bytes body = record->body;
    struct perf_data_task task = {.pid = bytes_u32(&body), .keeps_maps = record->misc & MISC_FORK_EXEC};
    task.parent_pid = bytes_u32(&body);
    task.tid = bytes_u32(&body);
    task.parent_tid = bytes_u32(&body);
    if (body.is_short || !decoder->visitor->fork) return 0;
    return decoder->visitor->fork(decoder->context, &task, err);
}

static int take_ksymbol(struct decoder *decoder, const struct perf_record *record, struct error *err) {
    enum { FLAG_UNREGISTER = 1 };
    struct bytes body = record->body;
    uint64_t address = bytes_u64(&body);
    uint32_t size = bytes_u32(&body);
    bytes_u16(&body); /* type */
    bool is_gone = bytes_u16(&body) & FLAG_UNREGISTER;
    size_t name_size;
    const char *name = bytes_text(&body, &name_size);
    if (body.is_short || !decoder->visitor->ksymbol) return 0;
    return decoder->visitor->ksymbol(decoder->context, address, size, name, name_size, is_gone, err);
}

/* Its body is empty: who and when stands behind it. */
static int take_switch(struct decoder *decoder, const struct perf_event *layout, const struct perf_record *record,
                       struct error *err) {
    enum { MISC_SWITCH_OUT = 1 << 13 };
    if (!layout || !decoder->visitor->switched) return 0;
    const struct perf_data_switch change = {.tid = perf_record_thread(layout, record),
                                            .time = perf_record_time(layout, record),
                                            .is_out = record->misc & MISC_SWITCH_OUT};
    return change.tid == UINT32_MAX ? 0 : decoder->visitor->switched(decoder->context, &change, err);
}

static void take_lost(struct decoder *decoder, const struct perf_record *record) {
    struct bytes body = record->body;
    struct perf_event *event = NULL;
    if (record->type == PERF_RECORD_LOST) event = decoder_event_of(decoder, bytes_u64(&body));
    if (!event) event = event_of_record(decoder, record);
    if (!event) event = decoder_event_of(decoder, 0);
    uint64_t lost = bytes_u64(&body);
    if (event && lost <= INT64_MAX - event->lost) event->lost += lost;
}

static int visit_record(struct decoder *decoder, const unsigned char *place, struct error *err) {
    struct perf_record record = perf_record_at(place);
    if (record.type == PERF_RECORD_SAMPLE) return take_sample(decoder, place, &record, err);
    if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES) {
        take_lost(decoder, &record);
        return 0;
    }
    const struct perf_event *layout = event_of_record(decoder, &record);
    if (!layout) layout = decoder_event_of(decoder, 0);
    if (record.type == PERF_RECORD_SWITCH) return take_switch(decoder, layout, &record, err);
    if (layout) perf_record_trim(layout, &record);
    switch (record.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: return take_mmap(decoder, place, &record, err);
    case PERF_RECORD_COMM: return take_comm(decoder, &record, err);
    case PERF_RECORD_FORK: return take_fork(decoder, &record, err);
    case PERF_RECORD_KSYMBOL: return take_ksymbol(decoder, &record, err);
    default: return 0;
    }
}

/* Visits a record of the kernel, in the order of times. An error of the visitor is reported for this record. */
static int deliver(struct decoder *decoder, const unsigned char *place, struct error *err) {
    if (visit_record(decoder, place, err) == 0) return 0;
    bool has_place = strncmp(err->message, "byte ", 5) == 0;
    return has_place ? -1 : error_prefix(err, "byte %" PRIu64 ": ", decoder_offset(decoder, place));
}

static int deliver_front(struct decoder *decoder, size_t count, struct error *err) {
    for (size_t i = 0; i < count; i++) {
        struct queue_entry *entry = &decoder->queue.entries[i];
        if (deliver(decoder, entry->record, err)) return -1;
        decoder->blocks[entry->block].waiting--;
        block_release(decoder, entry->block);
    }
    queue_drop(&decoder->queue, count);
    return 0;
}

static int enqueue(struct decoder *decoder, const unsigned char *place, const struct perf_record *record, size_t block,
                   struct error *err) {
    const struct perf_event *layout = event_of_record(decoder, record);
    uint64_t time = layout ? perf_record_time(layout, record) : 0;
    if (time == 0 || time == UINT64_MAX) return deliver(decoder, place, err);
    queue_add(&decoder->queue, (struct queue_entry){time, place, block});
    decoder->blocks[block].waiting++;
    return limit_check("the queue of events", decoder->queue.count * sizeof *decoder->queue.entries, err);
}

/* ---- records of perf --------------------------------------------------------------------------------------------- */

static int walk(struct decoder *decoder, struct bytes *data, size_t block, struct error *err);

static int take_attr(struct decoder *decoder, const unsigned char *place, const struct perf_record *record,
                     struct error *err) {
    struct bytes body = record->body, size_field = record->body;
    bytes_u32(&size_field);
    uint32_t size = bytes_u32(&size_field);
    if (size == 0) size = ATTR_SIZE_FIRST;
    const unsigned char *attr = bytes_take(&body, size);
    if (!attr || size < ATTR_SIZE_FIRST)
        return decoder_fail(decoder, place, err, "an event that does not fit into its record");
    struct perf_event *event = decoder_add_event(decoder, (struct bytes){attr, size, false});
    return decoder_add_ids(decoder, event, body, place, err);
}

static int take_feature(struct decoder *decoder, const struct perf_record *record, struct error *err) {
    struct bytes body = record->body;
    uint64_t feature = bytes_u64(&body);
    return feature > FEATURE_LAST ? 0 : feature_decode(decoder, (unsigned)feature, body, err);
}

static int take_compressed(struct decoder *decoder, const unsigned char *place, const struct perf_record *record,
                           struct error *err) {
    decoder->block_origin = decoder_offset(decoder, place);
    if (block_inflate(decoder, record, place, err)) return -1;
    size_t index = decoder->block_count - 1;
    struct bytes data = {decoder->blocks[index].data, decoder->blocks[index].size, false};
    int code = walk(decoder, &data, index, err);
    decoder->blocks[index].taken = decoder->blocks[index].size - data.left;
    return code;
}

/* Some records are followed by data that is not part of their size. */
static uint64_t bytes_behind(const struct perf_record *record) {
    struct bytes body = record->body;
    if (record->type == PERF_RECORD_AUXTRACE) return bytes_u64(&body);
    if (record->type == PERF_RECORD_HEADER_TRACING_DATA) return ((uint64_t)bytes_u32(&body) + 7) & ~UINT64_C(7);
    return 0;
}

static int take_record(struct decoder *decoder, const unsigned char *place, struct perf_record *record, size_t block,
                       struct error *err) {
    if (record->type < PERF_RECORD_USER) return enqueue(decoder, place, record, block, err);
    /* perf compresses only records of the ring buffers, not its own. */
    if (block) return decoder_broken(decoder, place, err, "a record of perf itself inside compressed data");
    switch (record->type) {
    case PERF_RECORD_HEADER_ATTR: return take_attr(decoder, place, record, err);
    case PERF_RECORD_HEADER_BUILD_ID: return feature_build_id(decoder, record, err);
    case PERF_RECORD_EVENT_UPDATE: return feature_event_update(decoder, record);
    case PERF_RECORD_HEADER_FEATURE: return take_feature(decoder, record, err);
    case PERF_RECORD_FINISHED_ROUND: return deliver_front(decoder, queue_round(&decoder->queue), err);
    case PERF_RECORD_COMPRESSED:
    case PERF_RECORD_COMPRESSED2: return take_compressed(decoder, place, record, err);
    default: return 0;
    }
}

/* Decodes every record of the data. In a compressed block the last record may continue in the next block; its start
 * stays in `data`. */
static int walk(struct decoder *decoder, struct bytes *data, size_t block, struct error *err) {
    while (data->left >= PERF_RECORD_HEADER) {
        const unsigned char *place = data->at;
        struct perf_record record = perf_record_at(place);
        if (record.size < PERF_RECORD_HEADER)
            return decoder_fail(decoder, place, err, "a record of %u bytes; its header alone has %d", record.size,
                                PERF_RECORD_HEADER);
        if (record.size > data->left) {
            if (block) return 0;
            return decoder_fail(decoder, place, err, "a record of %u bytes where %zu are left: the file is truncated",
                                record.size, data->left);
        }
        bytes_take(data, record.size);
        if (take_record(decoder, place, &record, block, err)) return -1;
        uint64_t behind = bytes_behind(&record);
        if (behind && !bytes_take(data, behind))
            return decoder_fail(decoder, place, err, "%" PRIu64 " bytes of trace where fewer are left", behind);
    }
    if (data->left && !block)
        return decoder_fail(decoder, data->at, err, "%zu bytes where a record must begin: the file is truncated",
                            data->left);
    return 0;
}

/* A lenient reader keeps the records before a break. */
static int walk_all(struct decoder *decoder, struct bytes data, struct error *err) {
    if (walk(decoder, &data, 0, err)) {
        if (!decoder->facts->is_lenient) return -1;
        *err = (struct error){0};
        decoder->facts->skipped++;
    }
    const struct decompressed_block *last = &decoder->blocks[decoder->block_count - 1];
    if (decoder->block_count > 1 && last->taken < last->size &&
        decoder_broken(decoder, data.at, err, "compressed data that ends within a record"))
        return -1;
    return deliver_front(decoder, queue_all(&decoder->queue), err);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

struct section {
    uint64_t offset, size;
};

static struct section take_section(struct bytes *bytes) {
    struct section section = {bytes_u64(bytes), 0};
    section.size = bytes_u64(bytes);
    return section;
}

/* The bytes of a section; false where they are outside the file. */
static bool section_bytes(const struct decoder *decoder, struct section section, struct bytes *bytes) {
    *bytes = (struct bytes){decoder->data, decoder->size, false};
    bytes_take(bytes, section.offset);
    const unsigned char *at = bytes_take(bytes, section.size);
    *bytes = (struct bytes){at, at ? section.size : 0, false};
    return at != NULL;
}

static int take_attrs(struct decoder *decoder, struct section attrs, uint64_t attr_size, struct error *err) {
    struct bytes bytes, ids;
    if (attr_size < ATTR_SIZE_FIRST + SECTION || attr_size > UINT16_MAX)
        return decoder_fail(decoder, decoder->data + 16, err, "events of %" PRIu64 " bytes each", attr_size);
    if (!section_bytes(decoder, attrs, &bytes))
        return decoder_fail(decoder, decoder->data + 24, err, "the list of events is outside of the file");
    while (bytes.left >= attr_size) {
        struct bytes entry = {bytes_take(&bytes, attr_size), attr_size, false};
        struct bytes tail = {entry.at + attr_size - SECTION, SECTION, false};
        entry.left -= SECTION;
        struct perf_event *event = decoder_add_event(decoder, entry);
        if (!section_bytes(decoder, take_section(&tail), &ids))
            return decoder_fail(decoder, entry.at, err, "the ids of an event are outside of the file");
        if (decoder_add_ids(decoder, event, ids, entry.at, err)) return -1;
    }
    return 0;
}

/* The sections of features follow the data, in the order of their bits. */
static int take_features(struct decoder *decoder, struct section data, struct bytes bits, struct error *err) {
    struct bytes table = {decoder->data, decoder->size, false}, body;
    bytes_take(&table, data.offset);
    bytes_take(&table, data.size);
    const unsigned char *words = bytes_words(&bits, 4);
    for (unsigned feature = 0; words && feature <= FEATURE_LAST; feature++) {
        if (!(words_at(words, feature / 64) >> feature % 64 & 1)) continue;
        const unsigned char *place = table.at;
        struct section section = take_section(&table);
        if (table.is_short || !section_bytes(decoder, section, &body)) {
            char what[80];
            snprintf(what, sizeof what, "feature %u is outside of the file: the file is truncated", feature);
            return decoder_broken(decoder, place, err, what);
        }
        if (feature_decode(decoder, feature, body, err)) return -1;
    }
    return 0;
}

static int parse_file(struct decoder *decoder, uint64_t header_size, struct error *err) {
    struct bytes header = {decoder->data, decoder->size < FILE_HEADER ? decoder->size : FILE_HEADER, false}, body;
    bytes_take(&header, 16);
    uint64_t attr_size = bytes_u64(&header);
    struct section attrs = take_section(&header), data = take_section(&header);
    take_section(&header); /* names of events, until Linux 3.3 */
    if (decoder->size < FILE_HEADER_OLD || header.is_short)
        return decoder_fail(decoder, decoder->data + decoder->size, err, "the header is truncated");
    if (take_attrs(decoder, attrs, attr_size, err)) return -1;
    if (data.size == 0 && data.offset < decoder->size) {
        decoder->facts->is_unfinished = true; /* perf record was killed before it wrote the size */
        data.size = decoder->size - data.offset;
    } else if (header_size >= FILE_HEADER && take_features(decoder, data, header, err)) {
        return -1;
    }
    if (!section_bytes(decoder, data, &body)) {
        if (decoder_broken(decoder, decoder->data + 40, err, "the data is outside of the file: the file is truncated"))
            return -1;
        if (data.offset > decoder->size) return 0;
        body = (struct bytes){decoder->data + data.offset, decoder->size - data.offset, false};
    }
    return walk_all(decoder, body, err);
}

static int parse(struct decoder *decoder, struct error *err) {
    struct bytes start = {decoder->data, decoder->size, false};
    uint64_t magic = bytes_u64(&start), size = bytes_u64(&start);
    if (memcmp(&magic, "2ELIFREP", sizeof magic) == 0)
        return error_fail(err, "perf.data of a big-endian machine: convert it there, with `perf script` or "
                               "`perf data convert`");
    if (memcmp(&magic, "PERFILE2", sizeof magic))
        return error_fail(err, "perf.data of version 1 (Linux before 2.6.38): only version 2 is read");
    if (size == PIPE_HEADER) return walk_all(decoder, start, err);
    return parse_file(decoder, size, err);
}

bool perf_data_recognise(const void *data, size_t size) {
    static const char magics[][9] = {"PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP"};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (size >= 8 && memcmp(data, magics[i], 8) == 0) return true;
    return false;
}

int perf_data_parse(const void *data, size_t size, const struct perf_data_visitor *visitor, void *context,
                    struct perf_data_facts *facts, struct error *err) {
    struct decoder decoder = {.data = data, .size = size, .visitor = visitor, .context = context, .facts = facts};
    facts->hostname = facts->architecture = facts->release = "";
    if (!perf_data_recognise(data, size)) return error_fail(err, "not a perf.data file");
    decoder.blocks = xcalloc(1, sizeof *decoder.blocks);
    decoder.block_count = 1;
    int code = parse(&decoder, err);
    for (size_t i = 1; i < decoder.block_count; i++)
        free(decoder.blocks[i].data);
    free(decoder.blocks);
    map_free(&decoder.ids);
    map_free(&decoder.counters);
    queue_free(&decoder.queue);
    ZSTD_freeDStream(decoder.zstd);
    return code;
}

void perf_data_facts_free(struct perf_data_facts *facts) {
    for (size_t i = 0; i < facts->event_count; i++)
        free(facts->events[i]);
    free(facts->events);
    arena_free(&facts->texts);
    *facts = (struct perf_data_facts){0};
}
