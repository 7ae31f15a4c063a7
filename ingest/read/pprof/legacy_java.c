/* legacy_java.c: the text profiles of Java programs: a title, "ATTRIBUTE = VALUE" lines, samples, and then names:
 *
 *     --- heapz 1 ---
 *     format = java
 *     resolution = bytes
 *       7048     1 @ 0x00000003 0x00000004          BYTES COUNT, or DELAY COUNT; the leaf first
 *     0x00000003 com.example.Main.run (Main.java:12)
 *     0x00000004 /lib/libjvm.so, GC, "generated stub/JIT", ...
 *
 * The addresses are no more than numbers of frames, so they are not kept: a frame is its name, file and line. */
#include <inttypes.h>
#include <string.h>

#include "ingest/read/pprof/legacy.h"

enum { JAVA_HEAP_RATE = 524288 }; /* bytes between samples: the default, which such profiles do not contain */

/* ---- names ------------------------------------------------------------------------------------------------------- */

struct java_name {
    struct span function, file;
    int64_t line;
};

/* The last " (" of "FUNCTION (PLACE)"; NULL where the text does not have that form. */
static const char *last_opening(struct span text) {
    if (span_size(text) < 4 || text.end[-1] != ')') return NULL;
    for (const char *at = text.end - 2; at > text.at; at--)
        if (*at == '(' && (at[-1] == ' ' || at[-1] == '\t')) return at;
    return NULL;
}

/* "FILE:LINE" in parentheses is a line of a source; anything else there is the path of a library. */
static void read_place(struct span place, struct java_name *name) {
    for (const char *at = place.end - 1; at > place.at; at--) {
        if (*at != ':') continue;
        struct span digits = {at + 1, place.end};
        int64_t line;
        if (span_signed(&digits, &line) != NUMBER_OK || span_size(digits)) break;
        name->file = (struct span){place.at, at};
        name->line = line > 0 ? line : 0;
        return;
    }
    name->file = place;
    for (const char *at = place.at; at < place.end; at++)
        if (*at == '/') name->file.at = at + 1;
}

static struct java_name read_name(struct span text) {
    struct java_name name = {.function = text};
    const char *opening = last_opening(text);
    if (opening) {
        name.function = span_trim((struct span){text.at, opening});
        read_place((struct span){opening + 1, text.end - 1}, &name);
    } else if (span_find(text, "generated stub/JIT")) {
        static const char stub[] = "STUB";
        name.function = (struct span){stub, stub + 4};
    }
    return name;
}

/* A function has one file: that of the line that named it first. */
static const char *file_of(struct legacy *legacy, struct map *files, const struct java_name *name) {
    bool added;
    struct map_entry *entry = map_put(files, name->function.at, span_size(name->function), &added);
    if (added) entry->value = (int64_t)(intptr_t)span_copy(name->file, &legacy->arena);
    return (const char *)(intptr_t)entry->value;
}

int legacy_java_locations(struct legacy *legacy, struct input_lines *lines, struct error *err) {
    struct map files = {0};
    int code = 0;
    do {
        struct span line = span_trim(span_of_line(lines));
        uint64_t address;
        struct span start = line;
        if (!span_take(&line, "0x")) continue;
        enum number state = span_unsigned(&line, 16, &address);
        if (state == NUMBER_NONE || line.at == line.end || (*line.at != ' ' && *line.at != '\t')) continue;
        if (state == NUMBER_TOO_BIG) {
            code = input_fail_line(err, lines, span_column(lines, start.at), "an address of more than 64 bits");
            if ((code = ingest_broken(legacy->ingest, err)) != 0) break;
            continue;
        }
        const struct map_entry *entry = map_find(&legacy->by_address, &address, sizeof address);
        if (!entry) continue; /* of no sample */
        struct java_name name = read_name(span_trim(line));
        struct legacy_location *location = &legacy->locations[entry->value];
        location->file = file_of(legacy, &files, &name);
        location->function = span_copy(name.function, &legacy->arena);
        location->line = name.line;
    } while (input_next_line(lines));
    map_free(&files);
    if (code != 0) return -1;
    legacy_finish(legacy);
    for (size_t i = 0; i < legacy->location_count; i++)
        legacy->locations[i].address = 0;
    return 0;
}

/* ---- attributes and samples -------------------------------------------------------------------------------------- */

struct java {
    bool is_heap;
    bool has_attributes; /* their lines are read */
};

static int bad_attribute(const struct input_lines *lines, const char *expected, struct error *err) {
    struct span line = span_of_line(lines);
    return input_fail_line(err, lines, 1, "expected %s, found '%.*s'", expected, span_shown(line), line.at);
}

/* "contention" only: how often contentions were sampled, and for how long. */
static int read_number(struct legacy *legacy, const struct input_lines *lines, struct span value, bool is_period,
                       struct error *err) {
    int64_t number;
    if (span_signed(&value, &number) != NUMBER_OK) return bad_attribute(lines, "a number of at most 64 bits", err);
    if (is_period) {
        legacy->period_type = "contentions";
        legacy->period_unit = "count";
        legacy->period = number;
    } else if (__builtin_mul_overflow(number, 1000000, &legacy->duration_ns)) {
        return bad_attribute(lines, "less than 64 bits of ns", err);
    }
    return 0;
}

/* 1: the line is no attribute. */
static int read_attribute(struct legacy *legacy, const struct java *java, const struct input_lines *lines,
                          struct error *err) {
    struct span value = span_of_line(lines), name;
    if (!span_find(value, "=")) return 1;
    span_field(&value, '=', &name);
    name = span_trim(name);
    value = span_trim(value);
    if (span_is(name, "format")) return span_is(value, "java") ? 0 : bad_attribute(lines, "format = java", err);
    if (span_is(name, "resolution")) {
        legacy->type_count = 0;
        legacy_type(legacy, java->is_heap ? "inuse_objects" : "contentions", "count");
        legacy_type(legacy, java->is_heap ? "inuse_space" : "delay", span_copy(value, &legacy->arena));
        return 0;
    }
    bool is_period = span_is(name, "sampling period");
    if (!java->is_heap && (is_period || span_is(name, "ms since reset")))
        return read_number(legacy, lines, value, is_period, err);
    return bad_attribute(lines, "format, resolution, sampling period or ms since reset", err);
}

static int scale(struct legacy *legacy, const struct java *java, const struct input_lines *lines, int64_t *count,
                 int64_t *amount, struct error *err) {
    if (java->is_heap) {
        if (*count == 0) return input_fail_line(err, lines, 1, "bytes in no block");
        if (!legacy_scale(count, amount, JAVA_HEAP_RATE))
            return input_fail_line(err, lines, 1, "the figures exceed 64 bits when scaled by the sampling rate");
    } else if (legacy->period && (__builtin_mul_overflow(*count, legacy->period, count) ||
                                  __builtin_mul_overflow(*amount, legacy->period, amount))) {
        return input_fail_line(err, lines, 1, "the figures exceed 64 bits when multiplied by the sampling period");
    }
    return 0;
}

/* "AMOUNT COUNT @ ADDRESS...". 1: the line is no sample, 0: done, -1: it is a broken one. */
static int read_sample(struct legacy *legacy, const struct java *java, const struct input_lines *lines,
                       struct error *err) {
    struct span line = span_trim(span_of_line(lines)), amount_word = span_word(&line), count_word = span_word(&line);
    int64_t amount, count;
    enum number amount_state = span_signed(&amount_word, &amount), count_state = span_signed(&count_word, &count);
    span_skip_blanks(&line);
    if (amount_state == NUMBER_NONE || count_state == NUMBER_NONE || !span_take(&line, "@")) return 1;
    if (amount_state == NUMBER_TOO_BIG || count_state == NUMBER_TOO_BIG || amount < 0 || count < 0)
        return input_fail_line(err, lines, 1, "expected two numbers of at most 63 bits");
    int64_t block_bytes = count ? amount / count : 0;
    if (scale(legacy, java, lines, &count, &amount, err) != 0) return -1;
    if (legacy_frames(legacy, lines, legacy_addresses(&line), false, err) != 0) return -1;
    struct legacy_sample *sample = legacy_sample(legacy);
    sample->values[0] = count;
    sample->values[1] = amount;
    sample->block_bytes = block_bytes;
    return 0;
}

int legacy_parse_java(struct legacy *legacy, struct error *err) {
    struct input_lines lines = {.input = legacy->input};
    if (!input_next_line(&lines)) return input_fail_byte(err, legacy->input, 0, "no title line");
    struct java java = {.is_heap = span_starts(span_of_line(&lines), "--- heapz")};
    legacy->has_block_bytes = java.is_heap;
    legacy->period_type = legacy->period_unit = "";
    while (input_next_line(&lines)) {
        if (span_size(span_trim(span_of_line(&lines))) == 0) continue;
        int state = java.has_attributes ? 1 : read_attribute(legacy, &java, &lines, err);
        if (state < 0) return -1;
        if (state == 0) continue;
        java.has_attributes = true;
        if (!legacy->type_count) return bad_attribute(&lines, "resolution = UNIT before the first sample", err);
        state = read_sample(legacy, &java, &lines, err);
        if (state > 0) break;
        if (state < 0) {
            legacy->depth = 0;
            if (ingest_broken(legacy->ingest, err) != 0) return -1;
        }
    }
    if (!legacy->type_count) return bad_attribute(&lines, "resolution = UNIT", err);
    return legacy_java_locations(legacy, &lines, err);
}
