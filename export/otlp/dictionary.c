#include "export/otlp/otlp_write.h"

#include <string.h>

#include "base/protobuf.h"

void otlp_dictionary_init(struct otlp_dictionary *dictionary) {
    *dictionary = (struct otlp_dictionary){0};
    for (int table = 1; table < OTLP_TABLES_END; table++)
        (void)otlp_intern(dictionary, (enum otlp_table)table, "", 0); /* the zero value */
}

void otlp_dictionary_free(struct otlp_dictionary *dictionary) {
    for (int table = 1; table < OTLP_TABLES_END; table++)
        map_free(&dictionary->tables[table]);
}

int64_t otlp_intern(struct otlp_dictionary *dictionary, enum otlp_table table, const void *bytes, size_t size) {
    bool added;
    struct map *map = &dictionary->tables[table];
    struct map_entry *entry = map_put(map, size ? bytes : "", size, &added);
    if (added) entry->value = (int64_t)map->count - 1;
    return entry->value;
}

int64_t otlp_intern_text(struct otlp_dictionary *dictionary, const char *text) {
    return otlp_intern(dictionary, OTLP_STRINGS, text, strlen(text));
}

static int64_t intern_wire(struct otlp_dictionary *dictionary, struct wire text) {
    return otlp_intern(dictionary, OTLP_STRINGS, text.at, wire_size(text));
}

static int64_t intern_attribute(struct otlp_dictionary *dictionary, int64_t key, const void *value, size_t size,
                                int64_t unit) {
    struct buffer message = {0};
    if (key) protobuf_add_int(&message, OTLP_ATTRIBUTE_KEY, key);
    protobuf_add_bytes(&message, OTLP_ATTRIBUTE_VALUE, size ? value : "", size);
    if (unit) protobuf_add_int(&message, OTLP_ATTRIBUTE_UNIT, unit);
    int64_t index = otlp_intern(dictionary, OTLP_ATTRIBUTES, message.data, message.size);
    buffer_free(&message);
    return index;
}

int64_t otlp_intern_attribute(struct otlp_dictionary *dictionary, const char *key, const struct buffer *value,
                              const char *unit) {
    return intern_attribute(dictionary, otlp_intern_text(dictionary, key), value->data, value->size,
                            otlp_intern_text(dictionary, unit));
}

int64_t otlp_intern_whole(struct otlp_dictionary *dictionary, struct wire attribute) {
    struct wire parts[OTLP_ATTRIBUTE_UNIT + 1] = {0};
    struct wire_field field = {0};
    enum wire_state state;
    while ((state = wire_next(&attribute, &field)) == WIRE_OK) {
        if (field.number > OTLP_ATTRIBUTE_UNIT || field.type != WIRE_BYTES) return -1;
        parts[field.number] = field.bytes;
    }
    if (state != WIRE_END) return -1;
    struct wire value = parts[OTLP_ATTRIBUTE_VALUE];
    return intern_attribute(dictionary, intern_wire(dictionary, parts[OTLP_ATTRIBUTE_KEY]), value.at, wire_size(value),
                            intern_wire(dictionary, parts[OTLP_ATTRIBUTE_UNIT]));
}
