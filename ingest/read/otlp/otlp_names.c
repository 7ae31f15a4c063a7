#include <stdlib.h>

#include "base/otlp_identity.h"
#include "ingest/read/otlp/translation.h"

/* Keeps the attribute that was read for whom it tags. */
static void note_tag(struct translation *made, struct buffer *tags) {
    otlp_attribute_add(tags, TAGGED_ATTRIBUTE, &made->attribute);
}

static void add_tags(struct otlp_tags *tags, const struct buffer *attributes, uint64_t hash) {
    if (!attributes->size) return;
    bool added;
    struct map_entry *entry = map_put(&tags->groups, attributes->data, attributes->size, &added);
    if (added) {
        entry->value = (int64_t)tags->groups.count - 1;
        tags->hashes = xrealloc(tags->hashes, tags->groups.count * sizeof *tags->hashes);
        tags->hashes[entry->value] = (struct buffer){0};
    }
    buffer_add(&tags->hashes[entry->value], &hash, sizeof hash);
}

struct otlp_mapping {
    uint64_t values[OTLP_MAPPING_ATTRIBUTES]; /* by field */
    struct wire file;
    uint64_t flags[OTLP_MAPPING_FLAG_COUNT];
    struct buffer build_id, tags; /* the attribute's value goes when the next is read */
    uint64_t hash;
};

static void free_mapping(struct otlp_mapping *mapping) {
    buffer_free(&mapping->build_id);
    buffer_free(&mapping->tags);
}

static int read_mapping_attribute(struct translation *made, int64_t index, const uint8_t *at,
                                  struct otlp_mapping *mapping) {
    static const char *const flags[] = OTLP_MAPPING_FLAGS;
    const struct otlp_attribute *attribute = &made->attribute;
    if (otlp_attribute_read(made->reader, index, at, &made->attribute) != 0) return -1;
    if (attribute->type == OTLP_VALUE_TEXT && otlp_is_text(attribute->key, OTLP_BUILD_ID) && !mapping->build_id.size) {
        buffer_add(&mapping->build_id, attribute->text.at, wire_size(attribute->text));
        return 0;
    }
    for (size_t i = 0; i < OTLP_MAPPING_FLAG_COUNT; i++) {
        if (attribute->type != OTLP_VALUE_BOOL || !otlp_is_text(attribute->key, flags[i])) continue;
        mapping->flags[i] = (uint64_t)attribute->number;
        return 0;
    }
    note_tag(made, &mapping->tags);
    return 0;
}

static int read_mapping_field(struct translation *made, const struct wire *wire, const struct wire_field *field,
                              struct otlp_mapping *mapping) {
    if (field->number > OTLP_MAPPING_ATTRIBUTES) return 0;
    if (field->number == OTLP_MAPPING_ATTRIBUTES)
        return otlp_add_numbers(made->reader, &made->numbers, wire, field, WIRE_VARINT);
    if (otlp_need(made->reader, wire, field, WIRE_VARINT) != 0) return -1;
    mapping->values[field->number] = field->value;
    return 0;
}

/* A text of the dictionary by its index. */
static int text_at(struct translation *made, uint64_t index, const char *what, const uint8_t *at, struct wire *text) {
    return otlp_item(made->reader, OTLP_STRINGS, (int32_t)index, what, at, text);
}

static int read_mapping(struct translation *made, int64_t index, const uint8_t *at, struct otlp_mapping *mapping) {
    struct wire message;
    struct wire_field field = {0};
    int state;
    *mapping = (struct otlp_mapping){0};
    made->numbers.count = 0;
    if (otlp_item(made->reader, OTLP_MAPPINGS, index, "mapping_index", at, &message) != 0) return -1;
    const uint8_t *start = message.at;
    while ((state = otlp_next(made->reader, &message, &field)) == 1)
        if (read_mapping_field(made, &message, &field, mapping) != 0) return -1;
    if (state < 0 || text_at(made, mapping->values[OTLP_MAPPING_FILE], "filename_strindex", start, &mapping->file) != 0)
        return -1;
    for (size_t i = 0; i < made->numbers.count; i++)
        if (read_mapping_attribute(made, (int32_t)made->numbers.list[i], start, mapping) != 0) return -1;
    char *file = otlp_copy_text(mapping->file);
    mapping->hash = otlp_hash_mapping(file, buffer_text(&mapping->build_id), mapping->values[OTLP_MAPPING_START],
                                      mapping->values[OTLP_MAPPING_LIMIT], mapping->values[OTLP_MAPPING_OFFSET]);
    free(file);
    return 0;
}

int translation_put_mapping(struct translation *made, int64_t index) {
    enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID, FLAGS };
    struct otlp_mapping mapping;
    int code = read_mapping(made, index, made->reader->input->data, &mapping);
    if (code == 0) {
        size_t begin = protobuf_begin(made->out, PROFILE_MAPPING);
        protobuf_add_nonzero(made->out, ID, (uint64_t)index);
        protobuf_add_nonzero(made->out, START, mapping.values[OTLP_MAPPING_START]);
        protobuf_add_nonzero(made->out, LIMIT, mapping.values[OTLP_MAPPING_LIMIT]);
        protobuf_add_nonzero(made->out, OFFSET, mapping.values[OTLP_MAPPING_OFFSET]);
        translation_put_text(made, FILENAME, mapping.file);
        translation_put_text(made, BUILD_ID, wire_of(buffer_text(&mapping.build_id)));
        for (unsigned i = 0; i < OTLP_MAPPING_FLAG_COUNT; i++)
            protobuf_add_nonzero(made->out, FLAGS + i, mapping.flags[i]);
        protobuf_end(made->out, begin);
        add_tags(&made->mapping_tags, &mapping.tags, mapping.hash);
    }
    free_mapping(&mapping);
    return code;
}

struct otlp_function {
    struct wire texts[OTLP_FUNCTION_START]; /* by field */
    uint64_t start_line;
};

static int read_function(struct translation *made, int64_t index, const uint8_t *at, struct otlp_function *function) {
    struct wire message;
    uint64_t values[OTLP_FUNCTION_START + 1] = {0};
    if (otlp_item(made->reader, OTLP_FUNCTIONS, index, "function_index", at, &message) != 0 ||
        otlp_read_numbers(made->reader, message, values, OTLP_FUNCTION_START + 1) != 0)
        return -1;
    for (int i = OTLP_FUNCTION_NAME; i < OTLP_FUNCTION_START; i++)
        if (text_at(made, values[i], "a strindex of a function,", message.at, &function->texts[i]) != 0) return -1;
    function->start_line = values[OTLP_FUNCTION_START];
    return 0;
}

int translation_put_function(struct translation *made, int64_t index) {
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE };
    struct otlp_function function;
    if (read_function(made, index, made->reader->input->data, &function) != 0) return -1;
    size_t begin = protobuf_begin(made->out, PROFILE_FUNCTION);
    protobuf_add_nonzero(made->out, ID, (uint64_t)index);
    translation_put_text(made, NAME, function.texts[OTLP_FUNCTION_NAME]);
    translation_put_text(made, SYSTEM_NAME, function.texts[OTLP_FUNCTION_SYSTEM_NAME]);
    translation_put_text(made, FILENAME, function.texts[OTLP_FUNCTION_FILE]);
    protobuf_add_nonzero(made->out, START_LINE, function.start_line);
    protobuf_end(made->out, begin);
    return 0;
}

struct otlp_location {
    int64_t mapping;
    uint64_t address, hash;
    bool is_folded;
    struct otlp_slices lines;
    struct otlp_numbers attributes;
    struct buffer tags;
};

static int read_location_field(struct translation *made, const struct wire *wire, const struct wire_field *field,
                               struct otlp_location *location) {
    struct otlp_reader *reader = made->reader;
    switch (field->number) {
    case OTLP_LOCATION_ATTRIBUTES: return otlp_add_numbers(reader, &location->attributes, wire, field, WIRE_VARINT);
    case OTLP_LOCATION_LINES:
        if (otlp_need(reader, wire, field, WIRE_BYTES) != 0) return -1;
        if (location->lines.count == OTLP_DEPTH_MAX)
            return otlp_fail(reader, wire->at, "a location of more than 65536 lines");
        otlp_add_slice(&location->lines, field->bytes);
        return 0;
    case OTLP_LOCATION_MAPPING: location->mapping = (int32_t)field->value; break;
    case OTLP_LOCATION_ADDRESS: location->address = field->value; break;
    default: return 0;
    }
    return otlp_need(reader, wire, field, WIRE_VARINT);
}

static int read_location_attributes(struct translation *made, struct otlp_location *location, const uint8_t *at) {
    const struct otlp_attribute *attribute = &made->attribute;
    for (size_t i = 0; i < location->attributes.count; i++) {
        if (otlp_attribute_read(made->reader, (int32_t)location->attributes.list[i], at, &made->attribute) != 0)
            return -1;
        if (attribute->type == OTLP_VALUE_BOOL && otlp_is_text(attribute->key, OTLP_IS_FOLDED))
            location->is_folded = attribute->number != 0;
        else
            note_tag(made, &location->tags);
    }
    return 0;
}

/* By its address, or where it has none by its lines. */
static int hash_line(struct translation *made, const uint64_t *line, struct otlp_location *location,
                     const uint8_t *at) {
    struct otlp_function function;
    if (location->address) return 0;
    if (read_function(made, (int32_t)line[OTLP_LINE_FUNCTION], at, &function) != 0) return -1;
    char *name_text = otlp_copy_text(function.texts[OTLP_FUNCTION_NAME]);
    char *file_text = otlp_copy_text(function.texts[OTLP_FUNCTION_FILE]);
    location->hash = otlp_hash_line(location->hash, name_text, file_text, (int64_t)line[OTLP_LINE_LINE],
                                    (int64_t)line[OTLP_LINE_COLUMN]);
    free(name_text);
    free(file_text);
    return 0;
}

static int hash_mapping(struct translation *made, struct otlp_location *location, const uint8_t *at) {
    struct otlp_mapping mapping = {0};
    int code = 0;
    if (location->mapping) code = read_mapping(made, location->mapping, at, &mapping);
    location->hash = otlp_hash_location(mapping.hash, location->address);
    free_mapping(&mapping);
    return code;
}

static int put_lines(struct translation *made, struct otlp_location *location) {
    enum { LINE = 4, LINE_FUNCTION = 1, LINE_LINE, LINE_COLUMN };
    for (size_t i = 0; i < location->lines.count; i++) {
        struct wire message = location->lines.list[i];
        uint64_t line[OTLP_LINE_COLUMN + 1] = {0};
        struct wire ignored;
        if (otlp_read_numbers(made->reader, message, line, OTLP_LINE_COLUMN + 1) != 0) return -1;
        int64_t function = (int32_t)line[OTLP_LINE_FUNCTION];
        if (otlp_item(made->reader, OTLP_FUNCTIONS, function, "function_index", message.at, &ignored) != 0 ||
            (location->tags.size && hash_line(made, line, location, message.at) != 0))
            return -1;
        if (function) translation_use(&made->functions, function);
        size_t begin = protobuf_begin(made->out, LINE);
        protobuf_add_nonzero(made->out, LINE_FUNCTION, (uint64_t)function);
        protobuf_add_nonzero(made->out, LINE_LINE, line[OTLP_LINE_LINE]);
        protobuf_add_nonzero(made->out, LINE_COLUMN, line[OTLP_LINE_COLUMN]);
        protobuf_end(made->out, begin);
    }
    return 0;
}

static int put_read_location(struct translation *made, int64_t index, struct otlp_location *location,
                             const uint8_t *at) {
    enum { ID = 1, MAPPING, ADDRESS, IS_FOLDED = 5 };
    struct wire ignored;
    if (otlp_item(made->reader, OTLP_MAPPINGS, location->mapping, "mapping_index", at, &ignored) != 0 ||
        read_location_attributes(made, location, at) != 0 ||
        (location->tags.size && hash_mapping(made, location, at) != 0))
        return -1;
    if (location->mapping) translation_use(&made->mappings, location->mapping);
    size_t begin = protobuf_begin(made->out, PROFILE_LOCATION);
    protobuf_add_int(made->out, ID, index + 1);
    protobuf_add_nonzero(made->out, MAPPING, (uint64_t)location->mapping);
    protobuf_add_nonzero(made->out, ADDRESS, location->address);
    if (put_lines(made, location) != 0) return -1;
    protobuf_add_nonzero(made->out, IS_FOLDED, location->is_folded);
    protobuf_end(made->out, begin);
    add_tags(&made->location_tags, &location->tags, location->hash);
    return 0;
}

int translation_put_location(struct translation *made, int64_t index) {
    struct otlp_location location = {0};
    struct wire message = made->reader->tables[OTLP_LOCATIONS].list[index];
    struct wire_field field = {0};
    const uint8_t *start = message.at;
    int state, code = 0;
    while (code == 0 && (state = otlp_next(made->reader, &message, &field)) != 0)
        code = state < 0 ? -1 : read_location_field(made, &message, &field, &location);
    if (code == 0) code = put_read_location(made, index, &location, start);
    free(location.lines.list);
    free(location.attributes.list);
    buffer_free(&location.tags);
    return code;
}
