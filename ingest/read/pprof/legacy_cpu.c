/* legacy_cpu.c: gperftools' binary CPU profile, and Java's variant. Words of 4 or 8 bytes of either byte order:
 *
 *     0, 3, 0 (Java: 1), period in µs, 0            the header
 *     count, depth, address * depth                 a sample, the leaf first; again and again
 *     0, 1, 0                                       the end (may be missing), then text: /proc/self/maps, or Java's
 *                                                   names */
#include <inttypes.h>
#include <stdlib.h>

#include "ingest/read/pprof/legacy.h"

struct word_reader {
    const struct input *input;
    size_t at, size; /* offset in the file; bytes of a word */
    bool big_endian, is_java;
};

/* The next word; the caller knows that it is there. */
static uint64_t next_word(struct word_reader *words) {
    uint64_t value = 0;
    const uint8_t *bytes = words->input->data + words->at;
    for (size_t i = 0; i < words->size; i++)
        value = value << 8 | bytes[words->big_endian ? i : words->size - 1 - i];
    words->at += words->size;
    return value;
}

static size_t words_left(const struct word_reader *words) {
    return (words->input->size - words->at) / words->size;
}

/* At most one of the four layouts fits: in another byte order or size three of the five words are other numbers. */
static bool read_header(struct word_reader *words, uint64_t *period_us) {
    for (int layout = 0; layout < 4; layout++) {
        *words = (struct word_reader){.input = words->input, .size = layout < 2 ? 4 : 8, .big_endian = layout & 1};
        if (words_left(words) < 5) continue;
        uint64_t word[5];
        for (size_t i = 0; i < 5; i++)
            word[i] = next_word(words);
        words->is_java = word[2] == 1;
        *period_us = word[3];
        if (word[0] == 0 && word[1] == 3 && word[2] <= 1 && word[3] && word[4] == 0) return true;
    }
    return false;
}

static int read_stack(struct legacy *legacy, struct word_reader *words, uint64_t depth, struct error *err) {
    if (depth > words_left(words))
        return input_fail_byte(err, words->input, words->at,
                               "a stack of %" PRIu64 " frames, but the file ends after %zu words", depth,
                               words_left(words));
    if (depth > LEGACY_DEPTH_MAX)
        return input_fail_byte(err, words->input, words->at, "a stack of %" PRIu64 " frames; at most %d are read",
                               depth, LEGACY_DEPTH_MAX);
    for (uint64_t i = 0; i < depth; i++) {
        uint64_t address = next_word(words);
        legacy_frame(legacy, i > 0 && !words->is_java ? address - 1 : address);
    }
    return 0;
}

static int read_samples(struct legacy *legacy, struct word_reader *words, struct error *err) {
    while (words->at < words->input->size) {
        size_t start = words->at;
        if (words_left(words) < 2)
            return input_fail_byte(err, words->input, start, "the file ends inside a sample (count, depth, addresses)");
        uint64_t count = next_word(words), depth = next_word(words);
        if (read_stack(legacy, words, depth, err) != 0) return -1;
        if (count == 0 && depth == 1 && legacy->stack[0] == 0) {
            legacy->depth = 0;
            return 0;
        }
        int64_t ns;
        if (count > INT64_MAX || __builtin_mul_overflow((int64_t)count, legacy->period, &ns))
            return input_fail_byte(err, words->input, start, "%" PRIu64 " samples of %" PRId64 " ns exceed 64 bits",
                                   count, legacy->period);
        struct legacy_sample *sample = legacy_sample(legacy);
        sample->values[0] = (int64_t)count;
        sample->values[1] = ns;
    }
    return 0;
}

static void drop_second_frame(struct legacy_sample *sample) {
    for (size_t i = 2; i < sample->depth; i++)
        sample->frames[i - 1] = sample->frames[i];
    sample->depth--;
}

/* The location that is the second frame of all samples but one in 32, or -1. */
static int64_t common_second_frame(const struct legacy *legacy) {
    size_t needed = legacy->sample_count - legacy->sample_count / 32;
    uint32_t *seen = xcalloc(legacy->location_count + 1, sizeof *seen);
    int64_t common = -1;
    for (size_t i = 0; i < legacy->sample_count && common < 0; i++) {
        const struct legacy_sample *sample = &legacy->samples[i];
        if (sample->depth > 1 && ++seen[sample->frames[1]] >= needed) common = sample->frames[1];
    }
    free(seen);
    return common;
}

/* The first frame comes from the signal's context and is right. After it there may be frames of the signal handler,
 * which are equal in nearly every sample. Up to two such frames are removed. */
static void drop_handler_frames(struct legacy *legacy) {
    for (int round = 0; round < 2; round++) {
        int64_t common = common_second_frame(legacy);
        if (common < 0) return;
        for (size_t i = 0; i < legacy->sample_count; i++) {
            struct legacy_sample *sample = &legacy->samples[i];
            if (sample->depth > 1 && sample->frames[1] == common) drop_second_frame(sample);
        }
    }
}

void legacy_drop_double_leaves(struct legacy *legacy) {
    for (size_t i = 0; i < legacy->sample_count; i++) {
        struct legacy_sample *sample = &legacy->samples[i];
        if (sample->depth > 1 &&
            legacy->locations[sample->frames[0]].address == legacy->locations[sample->frames[1]].address + 1)
            drop_second_frame(sample);
    }
}

int legacy_parse_cpu(struct legacy *legacy, struct error *err) {
    struct word_reader words = {.input = legacy->input};
    uint64_t period_us = 0;
    if (!read_header(&words, &period_us)) return input_fail_byte(err, legacy->input, 0, "no CPU profile header");
    if (period_us > INT64_MAX / 1000)
        return input_fail_byte(err, legacy->input, words.size * 3, "a period of %" PRIu64 " µs exceeds 64 bits of ns",
                               period_us);
    legacy->period = (int64_t)period_us * 1000;
    legacy->period_type = "cpu";
    legacy->period_unit = "nanoseconds";
    legacy_type(legacy, "samples", "count");
    legacy_type(legacy, "cpu", "nanoseconds");
    if (read_samples(legacy, &words, err) != 0) return -1;
    struct input_lines lines = {.input = legacy->input, .offset = words.at};
    if (words.is_java) return legacy_java_locations(legacy, &lines, err);
    drop_handler_frames(legacy);
    if (legacy_parse_maps(legacy, &lines, err) != 0) return -1;
    legacy_finish(legacy);
    legacy_drop_double_leaves(legacy);
    return 0;
}
