#include "ingest/receive/text_profile.h"

#include <string.h>

#include "base/map.h"
#include "base/pprof_proto.h"
#include "base/protobuf.h"
#include "base/utf8.h"

enum { FRAMES_MAX = 1 << 16 };
enum { TYPE_NAME = 1, TYPE_UNIT };                              /* ValueType */
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1 }; /* Location, Line */
enum { FUNCTION_ID = 1, FUNCTION_NAME };                        /* Function */

struct text_making {
    const struct text_profile *how;
    struct input_lines lines;
    struct map strings; /* -> index; that of a frame is also the id of its function and location */
    struct map frames;  /* indices that are frames */
    struct buffer *out, sample;
    struct error *err;
};

static int64_t intern(struct text_making *making, const char *text, size_t size) {
    bool added;
    struct map_entry *entry = map_put(&making->strings, text, size, &added);
    if (added) entry->value = (int64_t)making->strings.count - 1;
    return entry->value;
}

static int64_t intern_text(struct text_making *making, const char *text) {
    return intern(making, text, strlen(text));
}

/* Splits "STACK COUNT": the size of STACK, or -1 with the error set. */
static int64_t split(struct text_making *making, int64_t *count) {
    const struct input_lines *lines = &making->lines;
    *count = 1;
    if (making->how->counts_lines) return (int64_t)lines->size;
    const char *blank = memrchr(lines->line, ' ', lines->size);
    size_t at = blank ? (size_t)(blank - lines->line) : 0;
    int64_t sum = 0;
    bool is_number = at && at + 1 < lines->size;
    for (size_t i = at + 1; is_number && i < lines->size; i++) {
        int digit = lines->line[i] - '0';
        is_number = digit >= 0 && digit <= 9 && !__builtin_mul_overflow(sum, 10, &sum) &&
                    !__builtin_add_overflow(sum, digit, &sum);
    }
    if (!is_number) return input_fail_line(making->err, lines, 0, "expected `frame;frame;... COUNT`");
    *count = sum;
    return (int64_t)at;
}

/* The text is root first, a sample leaf first. */
static int put_stack(struct text_making *making, size_t size) {
    const char *text = making->lines.line;
    size_t begin = protobuf_begin(&making->sample, SAMPLE_LOCATION), end = size;
    for (size_t depth = 0; depth < FRAMES_MAX; depth++) {
        const char *semicolon = memrchr(text, ';', end);
        size_t start = semicolon ? (size_t)(semicolon - text) + 1 : 0;
        int64_t frame = intern(making, text + start, end - start);
        map_put(&making->frames, &frame, sizeof frame, NULL);
        protobuf_add_varint(&making->sample, (uint64_t)frame + 1);
        if (!semicolon) {
            protobuf_end(&making->sample, begin);
            return 0;
        }
        end = start - 1;
    }
    return input_fail_line(making->err, &making->lines, 0, "a stack of more than %d frames", FRAMES_MAX);
}

static int put_line(struct text_making *making) {
    const struct input_lines *lines = &making->lines;
    int64_t count, time_ns;
    size_t bad = utf8_bad_byte(lines->line, lines->size);
    if (bad < lines->size) return input_fail_line(making->err, lines, bad + 1, "expected UTF-8 text");
    int64_t size = split(making, &count);
    buffer_clear(&making->sample);
    if (size < 0 || put_stack(making, (size_t)size) != 0) return -1;
    if (__builtin_mul_overflow(count, making->how->period_ns, &time_ns))
        return input_fail_line(making->err, lines, 0, "more CPU time than 64 bits hold");
    size_t begin = protobuf_begin(&making->sample, SAMPLE_VALUE);
    protobuf_add_varint(&making->sample, (uint64_t)count);
    if (making->how->period_ns) protobuf_add_varint(&making->sample, (uint64_t)time_ns);
    protobuf_end(&making->sample, begin);
    protobuf_add_bytes(making->out, PROFILE_SAMPLE, making->sample.data, making->sample.size);
    return 0;
}

static void put_type(struct text_making *making, unsigned field, const char *type, const char *unit) {
    size_t begin = protobuf_begin(making->out, field);
    protobuf_add_int(making->out, TYPE_NAME, intern_text(making, type));
    protobuf_add_int(making->out, TYPE_UNIT, intern_text(making, unit));
    protobuf_end(making->out, begin);
}

static void put_types(struct text_making *making) {
    const struct text_profile *how = making->how;
    put_type(making, PROFILE_SAMPLE_TYPE, how->period_ns ? "samples" : how->type, how->period_ns ? "count" : how->unit);
    if (!how->period_ns) return;
    put_type(making, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    put_type(making, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    protobuf_add_int(making->out, PROFILE_PERIOD, how->period_ns);
}

static void put_names(struct text_making *making) {
    for (size_t i = 0; i < making->frames.count; i++) {
        int64_t frame;
        memcpy(&frame, making->frames.entries[i].key, sizeof frame);
        size_t begin = protobuf_begin(making->out, PROFILE_LOCATION);
        protobuf_add_int(making->out, LOCATION_ID, frame + 1);
        size_t line = protobuf_begin(making->out, LOCATION_LINE);
        protobuf_add_int(making->out, LINE_FUNCTION, frame + 1);
        protobuf_end(making->out, line);
        protobuf_end(making->out, begin);
        begin = protobuf_begin(making->out, PROFILE_FUNCTION);
        protobuf_add_int(making->out, FUNCTION_ID, frame + 1);
        protobuf_add_int(making->out, FUNCTION_NAME, frame);
        protobuf_end(making->out, begin);
    }
    for (size_t i = 0; i < making->strings.count; i++)
        protobuf_add_bytes(making->out, PROFILE_STRING, making->strings.entries[i].key,
                           making->strings.entries[i].size);
}

int text_profile_add(const struct text_profile *how, const struct input *text, struct buffer *out, struct error *err) {
    struct text_making making = {.how = how, .lines = {.input = text}, .out = out, .err = err};
    int code = 0;
    (void)intern_text(&making, "");
    put_types(&making);
    while (code == 0 && input_next_line(&making.lines))
        if (making.lines.size) code = put_line(&making);
    if (code == 0) put_names(&making);
    map_free(&making.strings);
    map_free(&making.frames);
    buffer_free(&making.sample);
    return code;
}
