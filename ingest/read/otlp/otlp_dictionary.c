#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ingest/read/otlp/otlp.h"

enum {
    ITEMS_MAX = 1 << 24,   /* of a table, against hostile files */
    NUMBERS_MAX = 1 << 24, /* of one sample: values, times */
    ZERO_DEPTH = 4,        /* of messages in a zero value */
};

static const char *const table_names[] = OTLP_TABLE_NAMES;

int otlp_fail(struct otlp_reader *reader, const uint8_t *at, const char *format, ...) {
    char place[64] = "", what[512];
    va_list args;
    if (reader->profile && reader->sample)
        snprintf(place, sizeof place, "profile %zu, sample %zu: ", reader->profile, reader->sample);
    else if (reader->profile)
        snprintf(place, sizeof place, "profile %zu: ", reader->profile);
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return input_fail_byte(reader->err, reader->input, (uint64_t)(at - reader->input->data), "%s%s", place, what);
}

int otlp_next(struct otlp_reader *reader, struct wire *wire, struct wire_field *field) {
    enum wire_state state = wire_next(wire, field);
    if (state >= 0) return (int)state;
    return otlp_fail(reader, wire->at, "%s: fetch or write the file again, whole", wire_problem(state));
}

int otlp_need(struct otlp_reader *reader, const struct wire *wire, const struct wire_field *field,
              enum wire_type type) {
    if (field->type == type) return 0;
    return otlp_fail(reader, wire->at, "field %" PRIu64 " must be %s", field->number,
                     type == WIRE_BYTES     ? "a message or text"
                     : type == WIRE_FIXED64 ? "a fixed number of 64 bits"
                                            : "a number");
}

int otlp_read_numbers(struct otlp_reader *reader, struct wire message, uint64_t *values, size_t count) {
    struct wire_field field = {0};
    int state;
    while ((state = otlp_next(reader, &message, &field)) == 1) {
        if (field.number >= count) continue;
        if (otlp_need(reader, &message, &field, WIRE_VARINT) != 0) return -1;
        values[field.number] = field.value;
    }
    return state;
}

static int add_number(struct otlp_reader *reader, struct otlp_numbers *numbers, const uint8_t *at, uint64_t value) {
    if (numbers->count == NUMBERS_MAX) return otlp_fail(reader, at, "more than 16777216 numbers in one list");
    if (numbers->count == numbers->capacity) {
        numbers->capacity = numbers->capacity ? numbers->capacity * 2 : 64;
        numbers->list = xrealloc(numbers->list, numbers->capacity * sizeof *numbers->list);
    }
    numbers->list[numbers->count++] = (int64_t)value;
    return 0;
}

int otlp_add_numbers(struct otlp_reader *reader, struct otlp_numbers *numbers, const struct wire *wire,
                     const struct wire_field *field, enum wire_type type) {
    if (field->type == type) return add_number(reader, numbers, wire->at, field->value);
    if (otlp_need(reader, wire, field, WIRE_BYTES) != 0) return -1;
    struct wire packed = field->bytes;
    while (packed.at < packed.end) {
        uint64_t value;
        enum wire_state state = type == WIRE_VARINT ? wire_varint(&packed, &value) : wire_fixed(&packed, 8, &value);
        if (state != WIRE_OK) return otlp_fail(reader, packed.at, "%s", wire_problem(state));
        if (add_number(reader, numbers, packed.at, value) != 0) return -1;
    }
    return 0;
}

void otlp_add_slice(struct otlp_slices *slices, struct wire slice) {
    if (slices->count == slices->capacity) {
        slices->capacity = slices->capacity ? slices->capacity * 2 : 64;
        slices->list = xrealloc(slices->list, slices->capacity * sizeof *slices->list);
    }
    slices->list[slices->count++] = slice;
}

static int note_item(struct otlp_reader *reader, enum otlp_table table, struct wire item) {
    struct otlp_slices *slices = &reader->tables[table];
    if (slices->count == ITEMS_MAX) return otlp_fail(reader, item.at, "%s: too many elements", table_names[table]);
    size_t size = wire_size(item);
    size_t bad = table == OTLP_STRINGS ? utf8_bad_byte((const char *)item.at, size) : size;
    if (bad < size) return otlp_fail(reader, item.at + bad, "string_table[%zu] is no valid UTF-8 text", slices->count);
    otlp_add_slice(slices, item);
    return 0;
}

static int note_dictionary(struct otlp_reader *reader, struct wire message) {
    struct wire_field field = {0};
    int state;
    while ((state = otlp_next(reader, &message, &field)) == 1) {
        if (field.number >= OTLP_TABLES_END) continue; /* of a newer version */
        if (otlp_need(reader, &message, &field, WIRE_BYTES) != 0 ||
            note_item(reader, (enum otlp_table)field.number, field.bytes) != 0)
            return -1;
    }
    return state;
}

/* Whether nothing in the message is set, or only to what stands for nothing. */
static bool is_zero(struct wire message, int depth) {
    struct wire_field field = {0};
    enum wire_state state;
    while ((state = wire_next(&message, &field)) == WIRE_OK) {
        if (field.type != WIRE_BYTES && field.value) return false;
        if (field.type == WIRE_BYTES && (depth == 0 || !is_zero(field.bytes, depth - 1))) return false;
    }
    return state == WIRE_END;
}

static int check_zeros(struct otlp_reader *reader, const uint8_t *at) {
    for (int table = 1; table < OTLP_TABLES_END; table++) {
        const struct otlp_slices *slices = &reader->tables[table];
        if (slices->count == 0)
            return otlp_fail(
                reader, at,
                "the dictionary's %s is empty: its element 0 must be there and be the zero value; have the "
                "file written by what keeps to OTLP 1.11",
                table_names[table]);
        struct wire zero = slices->list[0];
        if (table == OTLP_STRINGS ? zero.at != zero.end : !is_zero(zero, ZERO_DEPTH))
            return otlp_fail(
                reader, zero.at,
                "element 0 of the dictionary's %s is not the zero value, which index 0 means; have the file "
                "written by what keeps to OTLP 1.11",
                table_names[table]);
    }
    return 0;
}

int otlp_read_file(struct otlp_reader *reader) {
    struct wire wire = {reader->input->data, reader->input->data + reader->input->size};
    struct wire_field field = {0};
    int state;
    while ((state = otlp_next(reader, &wire, &field)) == 1) {
        if (field.number > OTLP_DICTIONARY) continue;
        if (otlp_need(reader, &wire, &field, WIRE_BYTES) != 0) return -1;
        if (field.number == OTLP_RESOURCES)
            otlp_add_slice(&reader->resources, field.bytes);
        else if (note_dictionary(reader, field.bytes) != 0)
            return -1;
    }
    return state < 0 ? -1 : check_zeros(reader, wire.at);
}

int otlp_item(struct otlp_reader *reader, enum otlp_table table, int64_t index, const char *what, const uint8_t *at,
              struct wire *item) {
    const struct otlp_slices *slices = &reader->tables[table];
    if (index < 0 || (uint64_t)index >= slices->count)
        return otlp_fail(reader, at,
                         "%s %" PRId64 ": %s has %zu elements; the dictionary is damaged or of another file, so have "
                         "the file written again",
                         what, index, table_names[table], slices->count);
    *item = slices->list[index];
    return 0;
}

bool otlp_is_text(struct wire text, const char *wanted) {
    size_t size = strlen(wanted);
    return wire_size(text) == size && memcmp(text.at, wanted, size) == 0;
}

char *otlp_copy_text(struct wire text) {
    char *copy = xmalloc(wire_size(text) + 1);
    if (wire_size(text)) memcpy(copy, text.at, wire_size(text));
    copy[wire_size(text)] = '\0';
    return copy;
}
