/* features.c: the features of a perf.data file, which describe the machine and the recording. They are sections behind
 * the data, in the form for pipes records. */
#include "ingest/read/perf/decoder.h"

enum {
    FEATURE_HOSTNAME = 3,
    FEATURE_RELEASE = 4,
    FEATURE_ARCHITECTURE = 6,
    FEATURE_COMMAND_LINE = 11,
    FEATURE_EVENT_DESCRIPTION = 12,
    FEATURE_CLOCK_DATA = 29,
};
enum { UPDATE_NAME = 2 };
enum { MISC_BUILD_ID_SIZE = 1 << 15, BUILD_ID_ROOM = 24, BUILD_ID_SIZE = 20 };

/* A counted text, which perf pads with NULs. NULL where it does not fit. */
static const char *take_text(struct decoder *decoder, struct bytes *body) {
    uint32_t size = bytes_u32(body);
    const char *text = (const char *)bytes_take(body, size);
    return text ? arena_text(&decoder->facts->texts, text, strnlen(text, size)) : NULL;
}

static void take_arguments(struct decoder *decoder, struct bytes *body) {
    struct perf_data_facts *facts = decoder->facts;
    uint32_t count = bytes_u32(body);
    if (count > body->left / 4) return; /* each has a length of four bytes */
    facts->arguments = arena_alloc(&facts->texts, (count + (size_t)1) * sizeof *facts->arguments);
    facts->argument_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *argument = take_text(decoder, body);
        if (!argument) return;
        facts->arguments[facts->argument_count++] = argument;
    }
}

/* Names of events as the user wrote them. An event is found by its ids, else by its position in the list. */
static void take_event_names(struct decoder *decoder, struct bytes *body) {
    uint32_t count = bytes_u32(body), attr_size = bytes_u32(body);
    for (uint32_t i = 0; i < count && !body->is_short; i++) {
        bytes_take(body, attr_size);
        uint32_t id_count = bytes_u32(body);
        const char *name = take_text(decoder, body);
        const unsigned char *ids = bytes_words(body, id_count);
        struct perf_event *event = NULL;
        if (ids && id_count && words_at(ids, 0)) event = decoder_event_of(decoder, words_at(ids, 0));
        if (!event && i < decoder->facts->event_count) event = decoder->facts->events[i];
        if (event && name && *name) event->name = name;
    }
}

static void take_clock(struct decoder *decoder, struct bytes *body) {
    bytes_u32(body); /* version */
    bytes_u32(body); /* clock id */
    decoder->facts->clock_wall = bytes_u64(body);
    decoder->facts->clock_time = bytes_u64(body);
    decoder->facts->has_clock = !body->is_short;
}

int feature_build_id(struct decoder *decoder, const struct perf_record *record, struct error *err) {
    struct bytes body = record->body;
    bytes_u32(&body); /* pid: of a machine, not of a process */
    const unsigned char *build_id = bytes_take(&body, BUILD_ID_ROOM);
    size_t size = BUILD_ID_SIZE, path_size;
    const char *path = bytes_text(&body, &path_size);
    if (!build_id || !path_size || !decoder->visitor->build_id) return 0;
    if (record->misc & MISC_BUILD_ID_SIZE && build_id[BUILD_ID_SIZE] <= BUILD_ID_SIZE) size = build_id[BUILD_ID_SIZE];
    return decoder->visitor->build_id(decoder->context, path, path_size, build_id, size, err);
}

static int take_build_ids(struct decoder *decoder, struct bytes *body, struct error *err) {
    while (body->left >= PERF_RECORD_HEADER) {
        struct perf_record record = perf_record_at(body->at);
        const unsigned char *place = body->at;
        if (record.size < PERF_RECORD_HEADER || !bytes_take(body, record.size))
            return decoder_broken(decoder, place, err, "a build id that does not fit into its section");
        if (feature_build_id(decoder, &record, err)) return -1;
    }
    return 0;
}

int feature_decode(struct decoder *decoder, unsigned feature, struct bytes body, struct error *err) {
    struct perf_data_facts *facts = decoder->facts;
    const char *text = NULL;
    switch (feature) {
    case FEATURE_BUILD_ID: return take_build_ids(decoder, &body, err);
    case FEATURE_HOSTNAME:
        if ((text = take_text(decoder, &body))) facts->hostname = text;
        break;
    case FEATURE_RELEASE:
        if ((text = take_text(decoder, &body))) facts->release = text;
        break;
    case FEATURE_ARCHITECTURE:
        if ((text = take_text(decoder, &body))) facts->architecture = text;
        break;
    case FEATURE_COMMAND_LINE: take_arguments(decoder, &body); break;
    case FEATURE_EVENT_DESCRIPTION: take_event_names(decoder, &body); break;
    case FEATURE_CLOCK_DATA: take_clock(decoder, &body); break;
    default: break;
    }
    return 0;
}

int feature_event_update(struct decoder *decoder, struct perf_record *record) {
    uint64_t what = bytes_u64(&record->body), id = bytes_u64(&record->body);
    struct perf_event *event = decoder_event_of(decoder, id);
    size_t size;
    const char *name = bytes_text(&record->body, &size);
    if (what == UPDATE_NAME && event && size) event->name = arena_text(&decoder->facts->texts, name, size);
    return 0;
}
