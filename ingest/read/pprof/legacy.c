#include "ingest/read/pprof/legacy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/read/readers.h"

/* ---- the model --------------------------------------------------------------------------------------------------- */

void legacy_open(struct legacy *legacy, struct ingest *ingest, const struct input *input) {
    *legacy = (struct legacy){.ingest = ingest, .input = input};
    legacy->stack = xcalloc(LEGACY_DEPTH_MAX, sizeof *legacy->stack);
}

void legacy_close(struct legacy *legacy) {
    arena_free(&legacy->arena);
    map_free(&legacy->by_address);
    free(legacy->samples);
    free(legacy->locations);
    free(legacy->mappings);
    free(legacy->stack);
    *legacy = (struct legacy){0};
}

void legacy_type(struct legacy *legacy, const char *type, const char *unit) {
    legacy->types[legacy->type_count][0] = type;
    legacy->types[legacy->type_count++][1] = unit;
}

void *legacy_grow(void *list, size_t count, size_t entry_size) {
    bool is_full = count == 0 || (count >= 64 && (count & (count - 1)) == 0);
    return is_full ? xrealloc(list, (count ? count * 2 : 64) * entry_size) : list;
}

static uint32_t find_location(struct legacy *legacy, uint64_t address) {
    bool added;
    struct map_entry *entry = map_put(&legacy->by_address, &address, sizeof address, &added);
    if (added) {
        entry->value = (int64_t)legacy->location_count;
        legacy->locations = legacy_grow(legacy->locations, legacy->location_count, sizeof *legacy->locations);
        legacy->locations[legacy->location_count++] = (struct legacy_location){.address = address};
    }
    return (uint32_t)entry->value;
}

bool legacy_frame(struct legacy *legacy, uint64_t address) {
    if (legacy->depth == LEGACY_DEPTH_MAX) return false;
    legacy->stack[legacy->depth++] = address;
    return true;
}

struct span legacy_addresses(struct span *line) {
    struct span addresses = {line->at, line->at};
    while (addresses.end < line->end && *addresses.end && strchr(" \tx0123456789abcdef", *addresses.end))
        addresses.end++;
    line->at = addresses.end;
    return addresses;
}

int legacy_frames(struct legacy *legacy, const struct input_lines *lines, struct span text, bool adjust,
                  struct error *err) {
    const char *place;
    while ((place = span_find(text, "0x"))) {
        uint64_t address;
        text.at = place + 2;
        enum number state = span_unsigned(&text, 16, &address);
        if (state == NUMBER_TOO_BIG)
            return input_fail_line(err, lines, span_column(lines, place), "an address of more than 64 bits");
        if (state == NUMBER_NONE) continue;
        if (!legacy_frame(legacy, adjust ? address - 1 : address))
            return input_fail_line(err, lines, span_column(lines, place), "a stack of more than %d frames",
                                   LEGACY_DEPTH_MAX);
    }
    return 0;
}

struct legacy_sample *legacy_sample(struct legacy *legacy) {
    legacy->samples = legacy_grow(legacy->samples, legacy->sample_count, sizeof *legacy->samples);
    struct legacy_sample *sample = &legacy->samples[legacy->sample_count++];
    *sample = (struct legacy_sample){.depth = legacy->depth};
    if (legacy->depth) sample->frames = arena_alloc(&legacy->arena, legacy->depth * sizeof *sample->frames);
    for (size_t i = 0; i < legacy->depth; i++)
        sample->frames[i] = find_location(legacy, legacy->stack[i]);
    legacy->depth = 0;
    return sample;
}

bool legacy_scale(int64_t *count, int64_t *bytes, int64_t rate) {
    if (*count == 0 || *bytes == 0) {
        *count = *bytes = 0;
        return true;
    }
    if (rate <= 1) return true; /* every block was sampled, or the rate is unknown */
    double mean = (double)*bytes / (double)*count;
    double scale = 1 / (1 - exp(-mean / (double)rate));
    double scaled_count = (double)*count * scale, scaled_bytes = (double)*bytes * scale;
    /* Written so that a NaN fails too. */
    if (!(fabs(scaled_count) < 0x1p63) || !(fabs(scaled_bytes) < 0x1p63)) return false;
    *count = (int64_t)scaled_count; /* towards zero, as pprof does */
    *bytes = (int64_t)scaled_bytes;
    return true;
}

/* ---- which format it is ------------------------------------------------------------------------------------------ */

/* The start of the first line, for recognition. */
static struct span first_line(const struct input *input) {
    struct span line = {(const char *)input->data, (const char *)input->data};
    while (line.end < (const char *)input->data + input->size && span_size(line) < 512 && *line.end != '\n')
        line.end++;
    return span_trim(line);
}

/* The first line that is neither blank nor a comment, within the first 16 KiB. */
static struct span first_title(const struct input *input) {
    struct input head = *input;
    struct span line = {0};
    if (head.size > 16 * 1024) head.size = 16 * 1024;
    struct input_lines lines = {.input = &head};
    while (input_next_line(&lines)) {
        line = span_trim(span_of_line(&lines));
        if (span_size(line) && *line.at != '#') break;
    }
    return line;
}

static uint64_t word_at(const uint8_t *bytes, size_t size, bool big_endian) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[big_endian ? i : size - 1 - i];
    return value;
}

/* 0, 3, 0 or (Java) 1, the period in µs, 0. */
static bool is_cpu(const struct input *input) {
    for (size_t size = 4; size <= 8 && input->size >= size * 5; size += 4)
        for (int big = 0; big < 2; big++) {
            uint64_t word[5];
            for (size_t i = 0; i < 5; i++)
                word[i] = word_at(input->data + i * size, size, big);
            if (word[0] == 0 && word[1] == 3 && word[2] <= 1 && word[3] && word[4] == 0) return true;
        }
    return false;
}

static bool is_heap(const struct input *input) {
    struct span line = first_line(input);
    const char *title = span_find(line, "heap profile:");
    if (!title) return false;
    line.at = title;
    const char *at = span_find(line, "@");
    if (!at) return false;
    line.at = at + 1;
    span_skip_blanks(&line);
    return span_starts(line, "heap") || span_starts(line, "growth") || span_starts(line, "fragmentation");
}

static bool is_count(const struct input *input) {
    struct span line = first_title(input), word = span_word(&line);
    uint64_t total;
    return span_size(word) && span_take(&line, " profile: total ") && span_unsigned(&line, 10, &total) &&
           span_size(line) == 0;
}

static bool is_threads(const struct input *input) {
    struct span line = first_title(input);
    return span_starts(line, "--- threadz ") || span_starts(line, "--- Thread ");
}

/* Whether it is of Java, by the attributes in the lines after the title. */
static bool is_java(const struct input *input) {
    struct input head = *input;
    if (head.size > 4096) head.size = 4096;
    struct input_lines lines = {.input = &head};
    if (!input_next_line(&lines)) return false;
    struct span title = span_trim(span_of_line(&lines));
    if (span_is(title, "--- heapz 1 ---")) return true;
    if (!span_is(title, "--- contentionz 1 ---")) return false;
    while (input_next_line(&lines)) {
        struct span line = span_trim(span_of_line(&lines));
        if (span_starts(line, "format") || span_starts(line, "resolution")) return true;
        if (span_size(line) && !span_find(line, "=")) break;
    }
    return false;
}

static bool is_contention(const struct input *input) {
    struct span line = first_line(input);
    return span_starts(line, "--- contentionz ") || span_starts(line, "--- mutex:") ||
           span_starts(line, "--- contention:");
}

typedef int parser(struct legacy *legacy, struct error *err);

static parser *find_parser(const struct input *input) {
    static const struct {
        bool (*is)(const struct input *input);
        parser *parse;
    } parsers[] = {
        {is_cpu, legacy_parse_cpu},         {is_heap, legacy_parse_heap}, {is_count, legacy_parse_count},
        {is_threads, legacy_parse_threads}, {is_java, legacy_parse_java}, {is_contention, legacy_parse_contention},
    };
    if (!input->data) return NULL;
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (parsers[i].is(input)) return parsers[i].parse;
    return NULL;
}

/* ---- the reader -------------------------------------------------------------------------------------------------- */

static bool recognise(const struct input *input) {
    return find_parser(input) != NULL;
}

static int read_profile(struct ingest *ingest, const struct input *input, struct error *err) {
    struct legacy legacy;
    struct buffer proto = {0};
    legacy_open(&legacy, ingest, input);
    int code = find_parser(input)(&legacy, err);
    if (code == 0) legacy_pack(&legacy, &proto);
    legacy_close(&legacy);
    if (code == 0) {
        struct input packed = *input;
        packed.data = (const uint8_t *)proto.data;
        packed.size = proto.size;
        code = format_pprof.read(ingest, &packed, err);
    }
    buffer_free(&proto);
    return code;
}

const struct format format_legacy = {
    .name = "legacy-pprof",
    .help =
        "what pprof read before profile.proto: gperftools CPU, heap, growth, contention, threads; Go's counts; Java's",
    .recognise = recognise,
    .read = read_profile,
};
