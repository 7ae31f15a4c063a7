/* folded_stacks.c: folded stacks, as stackcollapse-*.pl and others write them: a line `root;caller;leaf COUNT` for each
 * stack. Frames are names, so a location has no mapping and no address. Suffixes of names (" [k]", "_[j]") are kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "ingest/read/readers.h"

enum { FRAMES_MAX = 1 << 16, PROGRESS_STEP = 4096 /* lines */ };

struct folded_reader {
    struct ingest *ingest;
    struct input_lines lines;
    struct error *err;
    struct map names; /* of frames -> location id */
    int64_t *stack;   /* FRAMES_MAX location ids */
    struct arena text;
};

/* Splits "STACK COUNT" at the last blank. Returns the size of STACK, or -1 with what is wrong in the error. */
static int64_t split_count(struct folded_reader *reader, int64_t *count) {
    const struct input_lines *lines = &reader->lines;
    const char *blank = memrchr(lines->line, ' ', lines->size);
    size_t at = blank ? (size_t)(blank - lines->line) : lines->size;
    if (!blank || at == 0 || at + 1 == lines->size) {
        input_fail_line(reader->err, lines, 0, "expected `frame;frame;... COUNT`");
        return -1;
    }
    bool is_negative = lines->line[at + 1] == '-';
    int64_t sum = 0;
    for (size_t i = at + 1 + is_negative; i < lines->size; i++) {
        int digit = lines->line[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum)) { /* negative sums reach one further */
            input_fail_line(reader->err, lines, i + 1, "expected a whole number of at most 63 bits as the count");
            return -1;
        }
    }
    if (at + 1 + is_negative == lines->size || (!is_negative && sum == INT64_MIN)) {
        input_fail_line(reader->err, lines, at + 2, "expected a whole number of at most 63 bits as the count");
        return -1;
    }
    *count = is_negative ? sum : -sum;
    return (int64_t)at;
}

static int64_t frame_location(struct folded_reader *reader, const char *name, size_t size) {
    bool added;
    struct map_entry *entry = map_put(&reader->names, name, size, &added);
    if (!added) return entry->value;
    arena_reset(&reader->text);
    struct row_writer *writer = &reader->ingest->writer;
    struct writer_line line = {0};
    line.function_id = writer_function(writer, arena_text(&reader->text, name, size), "", "", 0, reader->err);
    if (line.function_id < 0) return -1;
    return entry->value = writer_location(writer, 0, 0, 0, &line, 1, reader->err);
}

/* The text is root first, a trace leaf first. */
static int64_t read_stack(struct folded_reader *reader, size_t size) {
    const char *text = reader->lines.line;
    size_t depth = 0, end = size;
    while (depth < FRAMES_MAX) {
        const char *semicolon = memrchr(text, ';', end);
        size_t start = semicolon ? (size_t)(semicolon - text) + 1 : 0;
        reader->stack[depth] = frame_location(reader, text + start, end - start);
        if (reader->stack[depth++] < 0) return -1;
        if (!semicolon) return writer_stack(&reader->ingest->writer, reader->stack, depth, reader->err);
        end = start - 1;
    }
    return input_fail_line(reader->err, &reader->lines, 0, "a stack of more than %d frames", FRAMES_MAX);
}

/* 1: a row was added, 0: the line is broken and skipped, -1. */
static int read_line(struct folded_reader *reader) {
    const struct input_lines *lines = &reader->lines;
    int64_t count;
    size_t bad = utf8_bad_byte(lines->line, lines->size);
    if (bad < lines->size) {
        input_fail_line(reader->err, lines, bad + 1, "expected UTF-8 text");
        return ingest_broken(reader->ingest, reader->err);
    }
    int64_t size = split_count(reader, &count);
    if (size < 0) return ingest_broken(reader->ingest, reader->err);
    int64_t trace_id = read_stack(reader, (size_t)size);
    if (trace_id < 0) return -1;
    return ingest_sample(reader->ingest, trace_id, 0, &count, reader->err);
}

static int read_lines(struct folded_reader *reader) {
    while (input_next_line(&reader->lines)) {
        if (reader->lines.size == 0) continue;
        if (read_line(reader) < 0) return -1;
        if (reader->lines.number % PROGRESS_STEP == 0) ingest_progress(reader->ingest, reader->lines.offset);
    }
    return 0;
}

static int read_folded(struct ingest *ingest, const struct input *input, struct error *err) {
    static const struct ingest_type type = {"samples", "count"};
    const struct ingest_profile profile = {
        .kind = "samples", .time_ns = input->modified_ns, .types = &type, .type_count = 1, .default_type = "samples"};
    if (ingest_begin_run(ingest, &(struct ingest_run){0}, err) != 0 || ingest_begin_profile(ingest, &profile, err) != 0)
        return -1;
    struct folded_reader reader = {.ingest = ingest, .lines = {.input = input}, .err = err};
    reader.stack = xmalloc(FRAMES_MAX * sizeof *reader.stack);
    int code = read_lines(&reader);
    free(reader.stack);
    map_free(&reader.names);
    arena_free(&reader.text);
    return code;
}

/* Whether the first line is text that ends in a blank and digits. Control bytes at the start are not text:
 * profile.proto begins with lengths and small numbers. */
static bool recognise_folded(const struct input *input) {
    enum { LOOK_AT = 4096 };
    size_t size = input->size < LOOK_AT ? input->size : LOOK_AT;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = input->data[i];
        if (byte == 0x7f || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r')) return false;
    }
    struct input_lines lines = {.input = input};
    while (input_next_line(&lines))
        if (lines.size) break;
    if (lines.size < 3 || lines.line[0] == '#') return false;
    size_t at = lines.size;
    while (at > 0 && lines.line[at - 1] >= '0' && lines.line[at - 1] <= '9')
        at--;
    if (at > 1 && lines.line[at - 1] == '-') at--;
    return at > 1 && at < lines.size && lines.line[at - 1] == ' ';
}

const struct format format_folded = {
    .name = "folded",
    .help = "folded stacks, `root;caller;leaf COUNT`: flame graph tools",
    .recognise = recognise_folded,
    .read = read_folded,
};
