/* headers.c: the header lines of a dump: "# KEY: VALUE", "# WARNING: ...", titles, names of columns. */
#include <stdlib.h>
#include <string.h>

#include "ingest/read/dumps/clear_dumps.h"

void dump_comment(struct dump_reader *dump, const char *text) {
    if (dump->comment_count < DUMP_COMMENTS_MAX) dump->comments[dump->comment_count++] = text;
}

int dump_expected(const struct dump_reader *dump, struct span place, const char *expected, struct error *err) {
    return input_fail_line(err, &dump->lines, span_column(&dump->lines, place.at), "expected %s, found '%.*s'",
                           expected, span_shown(place), place.at);
}

int dump_number(const struct dump_reader *dump, struct span word, int64_t *value, struct error *err) {
    struct span digits = word;
    uint64_t number = 0;
    enum number state = span_unsigned(&digits, 10, &number);
    if (state == NUMBER_NONE || span_size(digits)) return dump_expected(dump, word, "a number", err);
    if (state == NUMBER_TOO_BIG || number > INT64_MAX)
        return dump_expected(dump, word, "a number of at most 63 bits", err);
    *value = (int64_t)number;
    return 0;
}

/* Titles and names of columns are skipped, because they are equal in all dumps of a format. */
static bool is_format_line(struct span text) {
    static const char *const starts[] = {
        "alloc-profile v",
        "lock-profile v",
        "mvcc-profile v",
        "channel-profile v",
        "fiber-profile v",
        "addr ",
        "addr\t",
        "addrs ",
        "addrs\t",
        "id\t",
        "id ",
        "sched\t",
        "sched ",
        "site\t",
        "site ",
        "per-scheduler ",
        "per-site ",
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (span_starts(text, starts[i])) return true;
    return false;
}

/* "WARNING: 17 samples dropped (...)" */
static void read_warning(struct dump_reader *dump, struct span text) {
    uint64_t count;
    span_take(&text, "WARNING:");
    span_skip_blanks(&text);
    if (span_unsigned(&text, 10, &count) != NUMBER_OK || !span_starts(text, " samples dropped")) return;
    if (count > INT64_MAX || __builtin_add_overflow(dump->dropped, (int64_t)count, &dump->dropped))
        dump->dropped = INT64_MAX;
}

/* False where it is not one; then the line is a comment. */
static bool read_object(struct dump_reader *dump, struct span text) {
    struct span fields[4];
    uint64_t address;
    if (!span_take(&text, "object: ")) return false;
    for (int i = 0; i < 4; i++)
        if (!span_field(&text, '\t', &fields[i])) return false;
    bool is_known = span_starts(fields[2], "symbol:") || span_starts(fields[2], "heap:");
    if (text.at || !is_known || span_size(fields[3]) == 0 || !span_take(&fields[0], "0x") ||
        span_unsigned(&fields[0], 16, &address) != NUMBER_OK || span_size(fields[0]))
        return false;
    struct dump_object *object = arena_alloc(&dump->arena, sizeof *object);
    *object = (struct dump_object){.kind = span_copy(fields[1], &dump->arena),
                                   .identity = span_copy(fields[2], &dump->arena),
                                   .name = span_copy(fields[3], &dump->arena)};
    map_put(&dump->objects, &address, sizeof address, NULL)->value = (int64_t)(intptr_t)object;
    return true;
}

static bool take_number(struct span field, int64_t *value) {
    uint64_t number;
    if (span_unsigned(&field, 10, &number) != NUMBER_OK || span_size(field) || number > INT32_MAX) return false;
    *value = (int64_t)number;
    return true;
}

/* False where it is not one. Frames of one address stand together, the innermost first. */
static bool read_frame(struct dump_reader *dump, struct span text) {
    struct span fields[6];
    struct dump_frame frame = {0};
    uint64_t address;
    if (!span_take(&text, "frame: ")) return false;
    for (int i = 0; i < 6; i++)
        if (!span_field(&text, '\t', &fields[i])) return false;
    if (text.at || span_size(fields[1]) == 0 || !span_take(&fields[0], "0x") ||
        span_unsigned(&fields[0], 16, &address) != NUMBER_OK || span_size(fields[0]) ||
        !take_number(fields[4], &frame.line) || !take_number(fields[5], &frame.start_line))
        return false;
    frame.function = span_copy(fields[1], &dump->arena);
    frame.system_name = span_copy(fields[2], &dump->arena);
    frame.file = span_copy(fields[3], &dump->arena);
    struct dump_frame *kept = arena_alloc(&dump->arena, sizeof *kept);
    *kept = frame;
    struct map_entry *entry = map_put(&dump->frames, &address, sizeof address, NULL);
    struct dump_frame *last = (struct dump_frame *)(intptr_t)entry->value;
    while (last && last->outer)
        last = last->outer;
    if (last)
        last->outer = kept;
    else
        entry->value = (int64_t)(intptr_t)kept;
    return true;
}

static int read_header(struct dump_reader *dump, struct span text, struct error *err) {
    if (span_size(text) == 0 || is_format_line(text) || read_object(dump, text) || read_frame(dump, text)) return 0;
    if (span_take(&text, "sample_n:")) {
        if (dump_number(dump, span_trim(text), &dump->sample_n, err) != 0) return -1;
        return dump->sample_n ? 0 : dump_expected(dump, text, "a sampling rate of at least 1", err);
    }
    if (span_starts(text, "WARNING:")) read_warning(dump, text);
    dump_comment(dump, span_copy(text, &dump->arena));
    return 0;
}

static bool is_header(struct span line) {
    return span_size(line) && *line.at == '#';
}

int dump_open(struct dump_reader *dump, struct ingest *ingest, struct dump_names *names, const struct input *input,
              struct error *err) {
    memset(dump, 0, sizeof *dump);
    dump->ingest = ingest;
    dump->names = names;
    dump->input = input;
    dump->sample_n = 1;
    if (names) names->told = &dump->frames;
    dump->lines = (struct input_lines){.input = input};
    while (input_next_line(&dump->lines)) {
        struct span line = span_trim(span_of_line(&dump->lines));
        if (!is_header(line)) continue;
        line.at++;
        if (read_header(dump, span_trim(line), err) != 0 && ingest_broken(ingest, err) != 0) {
            dump_close(dump);
            return -1;
        }
    }
    dump->lines = (struct input_lines){.input = input};
    return 0;
}

void dump_close(struct dump_reader *dump) {
    map_free(&dump->objects);
    map_free(&dump->frames);
    if (dump->names) dump->names->told = NULL;
    arena_free(&dump->arena);
}

bool dump_next_row(struct dump_reader *dump) {
    while (input_next_line(&dump->lines)) {
        if ((dump->lines.number & 0xfff) == 0 && dump->input == dump->ingest->input)
            ingest_progress(dump->ingest, dump->lines.offset);
        struct span line = span_trim(span_of_line(&dump->lines));
        if (span_size(line) && !is_header(line)) return true;
    }
    return false;
}

int dump_begin_profile(struct dump_reader *dump, const char *kind, struct error *err) {
    const struct ingest_profile profile = {.kind = kind,
                                           .duration_ns = dump->duration_ns,
                                           .comments = dump->comments,
                                           .comment_count = dump->comment_count,
                                           .dropped = dump->dropped,
                                           .sample_n = dump->sample_n};
    return ingest_begin_profile(dump->ingest, &profile, err);
}
