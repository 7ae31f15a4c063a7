/* legacy_text.c: the text profiles of C++ and Go programs: a title line with the kind, a line for each sample, and
 * often a title and the program's mappings. Blank lines and lines that begin with '#' are skipped. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ingest/read/pprof/legacy.h"

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_blank_or_comment(struct span line) {
    line = span_trim(line);
    return span_size(line) == 0 || *line.at == '#';
}

/* The current line is broken, as `err` says: 0 to go on without it, -1 to give up. */
static int broken(struct legacy *legacy, struct error *err) {
    legacy->depth = 0;
    return ingest_broken(legacy->ingest, err);
}

static int fail_at(const struct input_lines *lines, struct span place, const char *expected, struct error *err) {
    return input_fail_line(err, lines, span_column(lines, place.at), "expected %s, found '%.*s'", expected,
                           span_shown(place), place.at);
}

/* Reads the number that must be here. */
static int take_number(const struct input_lines *lines, struct span *line, int64_t *value, struct error *err) {
    struct span place = *line;
    span_skip_blanks(&place);
    line->at = place.at;
    switch (span_signed(line, value)) {
    case NUMBER_OK: return 0;
    case NUMBER_TOO_BIG:
        return input_fail_line(err, lines, span_column(lines, place.at), "a number of more than 64 bits");
    default: return fail_at(lines, place, "a number", err);
    }
}

static int take_text(const struct input_lines *lines, struct span *line, const char *text, struct error *err) {
    span_skip_blanks(line);
    return span_take(line, text) ? 0 : fail_at(lines, *line, text, err);
}

static int take_addresses(struct legacy *legacy, const struct input_lines *lines, struct span *line,
                          struct error *err) {
    return legacy_frames(legacy, lines, legacy_addresses(line), true, err);
}

/* ---- heap, growth, fragmentation --------------------------------------------------------------------------------- */

/* "IN_USE: BYTES [ALLOCATED: BYTES] @", the beginning of the title and of every sample. */
struct block_sum {
    int64_t count, bytes;
};
struct heap_numbers {
    struct block_sum inuse, alloc;
};

static int take_heap_numbers(const struct input_lines *lines, struct span *line, struct heap_numbers *numbers,
                             struct error *err) {
    if (take_number(lines, line, &numbers->inuse.count, err) || take_text(lines, line, ":", err) ||
        take_number(lines, line, &numbers->inuse.bytes, err) || take_text(lines, line, "[", err) ||
        take_number(lines, line, &numbers->alloc.count, err) || take_text(lines, line, ":", err) ||
        take_number(lines, line, &numbers->alloc.bytes, err) || take_text(lines, line, "]", err) ||
        take_text(lines, line, "@", err))
        return -1;
    return 0;
}

struct heap_format {
    bool is_sampled; /* by bytes, as a Poisson process */
    bool has_allocs; /* it has all allocations besides those in use */
};

/* Reads what follows '@': the kind of profile and the sampling rate. */
static int read_heap_kind(struct legacy *legacy, const struct input_lines *lines, struct span line,
                          struct heap_format *format, struct error *err) {
    static const struct {
        const char *name;
        bool is_sampled;
        int rate_divisor; /* 0: the period is 1, whatever the title says */
    } kinds[] = {{"heap_v2", true, 1},         {"heapz_v2", true, 1},
                 {"heapprofile", false, 0},    {"heap", true, 2}, /* Go: writes twice the rate, for old viewers */
                 {"growthz", false, 0},        {"growth", false, 0},
                 {"fragmentationz", false, 0}, {"fragmentation", false, 0}};
    span_skip_blanks(&line);
    struct span name = {line.at, line.at};
    while (name.end < line.end && *name.end != '/' && *name.end != ' ')
        name.end++;
    line.at = name.end;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!span_is(name, kinds[i].name)) continue;
        format->is_sampled = kinds[i].is_sampled;
        legacy->period = kinds[i].rate_divisor ? 0 : 1;
        if (!kinds[i].rate_divisor || !span_take(&line, "/") || span_size(line) == 0) return 0;
        if (take_number(lines, &line, &legacy->period, err)) return -1;
        legacy->period /= kinds[i].rate_divisor;
        return 0;
    }
    return fail_at(lines, name, "heap_v2, heapz_v2, heap, heapprofile, growth or fragmentation", err);
}

static int read_heap_title(struct legacy *legacy, const struct input_lines *lines, struct heap_format *format,
                           struct error *err) {
    static const char title[] = "heap profile:";
    struct span line = span_of_line(lines);
    struct heap_numbers total = {0};
    const char *start = span_find(line, title);
    if (!start) return fail_at(lines, line, title, err);
    line.at = start + sizeof title - 1;
    if (take_heap_numbers(lines, &line, &total, err) || read_heap_kind(legacy, lines, line, format, err)) return -1;
    /* gperftools repeats the figures in use if it does not know those of all allocations. */
    format->has_allocs = (total.alloc.count != total.inuse.count && total.alloc.count != 0) ||
                         (total.alloc.bytes != total.inuse.bytes && total.alloc.bytes != 0);
    return 0;
}

/* Sets two values of a sample, from `at` on. */
static int set_blocks(struct legacy *legacy, const struct input_lines *lines, struct block_sum sum, bool is_sampled,
                      struct legacy_sample *sample, size_t at, struct error *err) {
    int64_t count = sum.count, bytes = sum.bytes;
    if (count == 0 && bytes != 0)
        return input_fail_line(err, lines, 1, "no blocks, but %" PRId64 " bytes in them", bytes);
    if (count == -1 && bytes == INT64_MIN) return input_fail_line(err, lines, 1, "a number of more than 64 bits");
    if (count) sample->block_bytes = bytes / count;
    if (count && is_sampled && !legacy_scale(&count, &bytes, legacy->period))
        return input_fail_line(err, lines, 1, "the figures exceed 64 bits when scaled by the sampling rate %" PRId64,
                               legacy->period);
    sample->values[at] = count;
    sample->values[at + 1] = bytes;
    return 0;
}

static int read_heap_sample(struct legacy *legacy, const struct input_lines *lines, const struct heap_format *format,
                            struct error *err) {
    struct span line = span_trim(span_of_line(lines));
    struct heap_numbers numbers;
    struct legacy_sample values = {0};
    size_t at = 0;
    if (take_heap_numbers(lines, &line, &numbers, err) || take_addresses(legacy, lines, &line, err)) return -1;
    if (format->has_allocs) {
        if (set_blocks(legacy, lines, numbers.alloc, format->is_sampled, &values, at, err)) return -1;
        at = 2;
    }
    if (set_blocks(legacy, lines, numbers.inuse, format->is_sampled, &values, at, err)) return -1;
    struct legacy_sample *sample = legacy_sample(legacy);
    memcpy(sample->values, values.values, sizeof values.values);
    sample->block_bytes = values.block_bytes;
    return 0;
}

int legacy_parse_heap(struct legacy *legacy, struct error *err) {
    struct input_lines lines = {.input = legacy->input};
    struct heap_format format = {0};
    if (!input_next_line(&lines) || read_heap_title(legacy, &lines, &format, err)) return -1;
    legacy->period_type = "space";
    legacy->period_unit = "bytes";
    legacy->has_block_bytes = true;
    if (format.has_allocs) {
        legacy_type(legacy, "alloc_objects", "count");
        legacy_type(legacy, "alloc_space", "bytes");
    }
    legacy_type(legacy, format.has_allocs ? "inuse_objects" : "objects", "count");
    legacy_type(legacy, format.has_allocs ? "inuse_space" : "space", "bytes");
    while (input_next_line(&lines)) {
        if (is_blank_or_comment(span_of_line(&lines))) continue;
        if (legacy_is_map_title(span_of_line(&lines))) break;
        if (read_heap_sample(legacy, &lines, &format, err) && broken(legacy, err)) return -1;
    }
    return legacy_find_maps(legacy, &lines, err);
}

/* ---- contention -------------------------------------------------------------------------------------------------- */

/* "ATTRIBUTE = VALUE" before the samples. 1: the line is none. */
static int read_attribute(struct legacy *legacy, const struct input_lines *lines, int64_t *hertz, struct error *err) {
    struct span value = span_of_line(lines), name;
    if (!span_find(value, "=")) return 1;
    span_field(&value, '=', &name);
    name = span_trim(name);
    int64_t ms = 0, *number = NULL;
    if (span_is(name, "cycles/second")) number = hertz;
    if (span_is(name, "sampling period")) number = &legacy->period;
    if (span_is(name, "ms since reset")) number = &ms;
    if (!number)
        return span_is(name, "discarded samples") ? 0 : fail_at(lines, name, "an attribute of contentionz", err);
    if (take_number(lines, &value, number, err)) return -1;
    if (number == &ms && __builtin_mul_overflow(ms, 1000000, &legacy->duration_ns))
        return fail_at(lines, name, "less than 64 bits of ns", err);
    return 0;
}

/* "CYCLES CONTENTIONS @ ADDRESS...", both of them sampled. */
static int read_contention(struct legacy *legacy, const struct input_lines *lines, int64_t hertz, struct error *err) {
    struct span line = span_trim(span_of_line(lines));
    int64_t delay, count;
    if (take_number(lines, &line, &delay, err) || take_number(lines, &line, &count, err) ||
        take_text(lines, &line, "@", err) || take_addresses(legacy, lines, &line, err))
        return -1;
    if (legacy->period > 0 && hertz > 0) {
        double ns = (double)delay * (double)legacy->period / ((double)hertz / 1e9);
        if (!(fabs(ns) < 0x1p63)) return input_fail_line(err, lines, 1, "a delay of more than 64 bits of ns");
        delay = (int64_t)ns;
    }
    if (legacy->period > 0 && __builtin_mul_overflow(count, legacy->period, &count))
        return input_fail_line(err, lines, 1, "contentions times the sampling period exceed 64 bits");
    struct legacy_sample *sample = legacy_sample(legacy);
    sample->values[0] = count;
    sample->values[1] = delay;
    return 0;
}

int legacy_parse_contention(struct legacy *legacy, struct error *err) {
    struct input_lines lines = {.input = legacy->input};
    int64_t hertz = 0;
    bool in_attributes = true;
    legacy->period_type = "contentions";
    legacy->period_unit = "count";
    legacy->period = 1;
    legacy_type(legacy, "contentions", "count");
    legacy_type(legacy, "delay", "nanoseconds");
    input_next_line(&lines); /* the title */
    while (input_next_line(&lines)) {
        struct span line = span_trim(span_of_line(&lines));
        if (is_blank_or_comment(line)) continue;
        if (span_starts(line, "---")) break;
        if (in_attributes) {
            int state = read_attribute(legacy, &lines, &hertz, err);
            if (state < 0) return -1;
            if (state == 0) continue;
            in_attributes = false;
        }
        if (read_contention(legacy, &lines, hertz, err) && broken(legacy, err)) return -1;
    }
    return legacy_find_maps(legacy, &lines, err);
}

/* ---- Go's counts: goroutine, threadcreate ------------------------------------------------------------------------ */

/* "COUNT @ ADDRESS ..." */
static int read_count(struct legacy *legacy, const struct input_lines *lines, struct error *err) {
    struct span line = span_of_line(lines);
    int64_t count;
    if (take_number(lines, &line, &count, err) || take_text(lines, &line, "@", err) ||
        take_addresses(legacy, lines, &line, err))
        return -1;
    if (span_size(span_trim(line))) return fail_at(lines, line, "an address (0x...)", err);
    legacy_sample(legacy)->values[0] = count;
    return 0;
}

int legacy_parse_count(struct legacy *legacy, struct error *err) {
    struct input_lines lines = {.input = legacy->input};
    while (input_next_line(&lines) && is_blank_or_comment(span_of_line(&lines)))
        ;
    struct span line = span_of_line(&lines);
    const char *type = span_copy(span_word(&line), &legacy->arena);
    legacy->period_type = type;
    legacy->period_unit = "count";
    legacy->period = 1;
    legacy_type(legacy, type, "count");
    while (input_next_line(&lines)) {
        if (is_blank_or_comment(span_of_line(&lines))) continue;
        if (span_starts(span_of_line(&lines), "---")) break;
        if (read_count(legacy, &lines, err) && broken(legacy, err)) return -1;
    }
    return legacy_find_maps(legacy, &lines, err);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* "--- Thread HEX (name: TEXT/NUMBER) stack: ---" */
static bool is_thread_title(struct span line) {
    uint64_t id;
    return span_take(&line, "--- Thread ") && span_unsigned(&line, 16, &id) && span_take(&line, " (name: ") &&
           span_find(line, ") stack: ---");
}

/* Reads the frames after a title, up to the next line that begins with "---". Each line is "0xADDRESS: function", the
 * leaf "PC: 0xADDRESS: function". 1: there is a next line, 0: it was the last thread. */
static int read_thread(struct legacy *legacy, struct input_lines *lines, struct error *err) {
    bool is_same = false, is_more;
    while ((is_more = input_next_line(lines))) {
        struct span line = span_trim(span_of_line(lines));
        if (span_starts(line, "---") || legacy_is_map_title(line)) break;
        if (span_find(line, "same as previous thread"))
            is_same = true;
        else if (legacy_frames(legacy, lines, line, false, err) && broken(legacy, err))
            return -1;
    }
    if (is_same || legacy->depth == 0) {
        legacy->depth = 0;
        if (legacy->sample_count) legacy->samples[legacy->sample_count - 1].values[0]++;
        return is_more;
    }
    for (size_t i = 1; i < legacy->depth; i++)
        legacy->stack[i]--;
    legacy_sample(legacy)->values[0] = 1;
    return is_more;
}

int legacy_parse_threads(struct legacy *legacy, struct error *err) {
    struct input_lines lines = {.input = legacy->input};
    while (input_next_line(&lines) && is_blank_or_comment(span_of_line(&lines)))
        ;
    int more = 1;
    if (span_starts(span_of_line(&lines), "--- threadz "))
        while ((more = input_next_line(&lines)) && !span_starts(span_of_line(&lines), "-") &&
               !legacy_is_map_title(span_of_line(&lines)))
            ;
    legacy->period_type = "thread";
    legacy->period_unit = "count";
    legacy->period = 1;
    legacy_type(legacy, "thread", "count");
    while (more && !legacy_is_map_title(span_of_line(&lines))) {
        struct span line = span_trim(span_of_line(&lines));
        if (span_starts(line, "---- no stack trace for")) break;
        if (!is_thread_title(line)) return fail_at(&lines, line, "'--- Thread ID (name: NAME/ID) stack: ---'", err);
        if ((more = read_thread(legacy, &lines, err)) < 0) return -1;
    }
    if (legacy_find_maps(legacy, &lines, err)) return -1;
    legacy_drop_double_leaves(legacy);
    return 0;
}
