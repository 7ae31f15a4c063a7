#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/utf8.h"
#include "ingest/read/otlp/otlp.h"

enum { VALUE_DEPTH = 32 }; /* of lists in lists */

static int check_text(struct otlp_reader *reader, struct wire text) {
    size_t size = wire_size(text), bad = utf8_bad_byte((const char *)text.at, size);
    return bad == size ? 0 : otlp_fail(reader, text.at + bad, "the text of an attribute is no valid UTF-8");
}

/* ---- values ---- */

static int add_value(struct otlp_reader *reader, struct wire value, int depth, struct buffer *out);

/* The key of a KeyValue is a text or an index. */
static int read_key(struct otlp_reader *reader, struct wire pair, struct wire *key, struct wire *value) {
    struct wire_field field = {0};
    int state;
    *key = *value = (struct wire){pair.at, pair.at};
    while ((state = otlp_next(reader, &pair, &field)) == 1) {
        if (field.number > KEY_VALUE_KEY_INDEX) continue;
        if (otlp_need(reader, &pair, &field, field.number == KEY_VALUE_KEY_INDEX ? WIRE_VARINT : WIRE_BYTES) != 0)
            return -1;
        if (field.number == KEY_VALUE_VALUE)
            *value = field.bytes;
        else if (field.number == KEY_VALUE_KEY)
            *key = field.bytes;
        else if (field.value &&
                 otlp_item(reader, OTLP_STRINGS, (int32_t)field.value, "key_strindex", pair.at, key) != 0)
            return -1;
    }
    return state < 0 ? -1 : check_text(reader, *key);
}

static int add_pair(struct otlp_reader *reader, struct wire pair, unsigned into, int depth, struct buffer *out) {
    struct wire key, value;
    if (read_key(reader, pair, &key, &value) != 0) return -1;
    size_t begin = protobuf_begin(out, into);
    protobuf_add_bytes(out, KEY_VALUE_KEY, key.at, wire_size(key));
    size_t value_begin = protobuf_begin(out, KEY_VALUE_VALUE);
    if (add_value(reader, value, depth, out) != 0) return -1;
    protobuf_end(out, value_begin);
    protobuf_end(out, begin);
    return 0;
}

/* An ArrayValue of AnyValues, or a KeyValueList of KeyValues: field 1 is repeated in both. */
static int add_list(struct otlp_reader *reader, const struct wire_field *list, int depth, struct buffer *out) {
    struct wire message = list->bytes;
    struct wire_field field = {0};
    int state;
    if (depth == 0) return otlp_fail(reader, message.at, "an attribute with lists in lists, deeper than 32");
    size_t begin = protobuf_begin(out, (unsigned)list->number);
    while ((state = otlp_next(reader, &message, &field)) == 1) {
        if (field.number != 1) continue;
        if (otlp_need(reader, &message, &field, WIRE_BYTES) != 0) return -1;
        if (list->number == OTLP_VALUE_LIST) {
            if (add_pair(reader, field.bytes, 1, depth - 1, out) != 0) return -1;
            continue;
        }
        size_t element = protobuf_begin(out, 1);
        if (add_value(reader, field.bytes, depth - 1, out) != 0) return -1;
        protobuf_end(out, element);
    }
    protobuf_end(out, begin);
    return state;
}

static int add_text(struct otlp_reader *reader, struct wire text, struct buffer *out) {
    if (check_text(reader, text) != 0) return -1;
    protobuf_add_bytes(out, OTLP_VALUE_TEXT, text.at, wire_size(text));
    return 0;
}

static int add_one(struct otlp_reader *reader, const struct wire_field *field, int depth, struct buffer *out) {
    struct wire text;
    switch ((enum otlp_value)field->number) {
    case OTLP_VALUE_TEXT: return add_text(reader, field->bytes, out);
    case OTLP_VALUE_TEXT_INDEX:
        return otlp_item(reader, OTLP_STRINGS, (int32_t)field->value, "string_value_strindex", field->bytes.at, &text)
                   ? -1
                   : add_text(reader, text, out);
    case OTLP_VALUE_BOOL: protobuf_add_int(out, OTLP_VALUE_BOOL, field->value != 0); return 0;
    case OTLP_VALUE_INT: protobuf_add_int(out, OTLP_VALUE_INT, (int64_t)field->value); return 0;
    case OTLP_VALUE_DOUBLE: protobuf_add_fixed64(out, OTLP_VALUE_DOUBLE, field->value); return 0;
    case OTLP_VALUE_BYTES:
        protobuf_add_bytes(out, OTLP_VALUE_BYTES, field->bytes.at, wire_size(field->bytes));
        return 0;
    default: return add_list(reader, field, depth, out);
    }
}

static enum wire_type type_of_value(uint64_t number) {
    if (number == OTLP_VALUE_DOUBLE) return WIRE_FIXED64;
    return number == OTLP_VALUE_BOOL || number == OTLP_VALUE_INT || number == OTLP_VALUE_TEXT_INDEX ? WIRE_VARINT
                                                                                                    : WIRE_BYTES;
}

/* Of a oneof the last field counts. */
static int add_value(struct otlp_reader *reader, struct wire value, int depth, struct buffer *out) {
    struct wire_field field = {0}, last = {0};
    int state;
    while ((state = otlp_next(reader, &value, &field)) == 1) {
        if (field.number > OTLP_VALUE_TEXT_INDEX) continue;
        if (otlp_need(reader, &value, &field, type_of_value(field.number)) != 0) return -1;
        if (field.type != WIRE_BYTES) field.bytes = (struct wire){value.at, value.at};
        last = field;
    }
    if (state < 0) return -1;
    return last.number ? add_one(reader, &last, depth, out) : 0;
}

/* ---- resources and scopes ---- */

static int key_among(struct wire key, const char *const *apart) {
    for (int i = 0; apart[i]; i++)
        if (otlp_is_text(key, apart[i])) return i;
    return -1;
}

static int add_part_attribute(struct otlp_reader *reader, const struct wire_field *field, const char *const *apart,
                              struct buffer *apart_values, struct buffer *out) {
    struct wire key, value;
    if (read_key(reader, field->bytes, &key, &value) != 0) return -1;
    int found = key_among(key, apart);
    if (found < 0) return add_pair(reader, field->bytes, (unsigned)field->number, VALUE_DEPTH, out);
    buffer_clear(&apart_values[found]);
    return add_value(reader, value, VALUE_DEPTH, &apart_values[found]);
}

int otlp_resolve_part(struct otlp_reader *reader, struct wire message, unsigned field, const char *const *apart,
                      struct buffer *apart_values, struct buffer *out) {
    struct wire_field one = {0};
    int state;
    while ((state = otlp_next(reader, &message, &one)) == 1) {
        if (one.number == field) {
            if (otlp_need(reader, &message, &one, WIRE_BYTES) != 0 ||
                add_part_attribute(reader, &one, apart, apart_values, out) != 0)
                return -1;
        } else if (one.type == WIRE_BYTES) {
            protobuf_add_bytes(out, (unsigned)one.number, one.bytes.at, wire_size(one.bytes));
        } else if (one.type == WIRE_VARINT && one.value) {
            protobuf_add_int(out, (unsigned)one.number, (int64_t)one.value);
        }
    }
    return state;
}

/* ---- attributes of samples, locations, mappings and profiles ---- */

/* `value` is resolved, so nothing in it can be wrong. */
static void look_at_value(struct otlp_attribute *attribute) {
    const uint8_t *bytes = (const uint8_t *)attribute->value.data;
    struct wire value = {bytes, bytes + attribute->value.size};
    struct wire_field field = {0};
    attribute->type = OTLP_VALUE_NONE;
    if (attribute->value.size == 0 || wire_next(&value, &field) != WIRE_OK) return;
    attribute->type = (enum otlp_value)field.number;
    attribute->number = (int64_t)field.value;
    attribute->text = field.bytes;
}

int otlp_attribute_read(struct otlp_reader *reader, int64_t index, const uint8_t *at,
                        struct otlp_attribute *attribute) {
    struct wire item, value = {at, at};
    struct wire_field field = {0};
    int64_t key = 0, unit = 0;
    int state;
    if (otlp_item(reader, OTLP_ATTRIBUTES, index, "attribute index", at, &item) != 0) return -1;
    const uint8_t *start = item.at;
    while ((state = otlp_next(reader, &item, &field)) == 1) {
        if (field.number > OTLP_ATTRIBUTE_UNIT) continue;
        if (otlp_need(reader, &item, &field, field.number == OTLP_ATTRIBUTE_VALUE ? WIRE_BYTES : WIRE_VARINT) != 0)
            return -1;
        if (field.number == OTLP_ATTRIBUTE_KEY) key = (int32_t)field.value;
        if (field.number == OTLP_ATTRIBUTE_UNIT) unit = (int32_t)field.value;
        if (field.number == OTLP_ATTRIBUTE_VALUE) value = field.bytes;
    }
    buffer_clear(&attribute->value);
    if (state < 0 || otlp_item(reader, OTLP_STRINGS, key, "key_strindex", start, &attribute->key) != 0 ||
        otlp_item(reader, OTLP_STRINGS, unit, "unit_strindex", start, &attribute->unit) != 0 ||
        add_value(reader, value, VALUE_DEPTH, &attribute->value) != 0)
        return -1;
    look_at_value(attribute);
    return 0;
}

void otlp_attribute_free(struct otlp_attribute *attribute) {
    buffer_free(&attribute->value);
}

void otlp_attribute_add(struct buffer *out, unsigned field, const struct otlp_attribute *attribute) {
    size_t begin = protobuf_begin(out, field);
    protobuf_add_bytes(out, OTLP_ATTRIBUTE_KEY, attribute->key.at, wire_size(attribute->key));
    protobuf_add_bytes(out, OTLP_ATTRIBUTE_VALUE, buffer_text(&attribute->value), attribute->value.size);
    if (wire_size(attribute->unit))
        protobuf_add_bytes(out, OTLP_ATTRIBUTE_UNIT, attribute->unit.at, wire_size(attribute->unit));
    protobuf_end(out, begin);
}

enum otlp_value otlp_array_type(struct wire array) {
    struct wire_field element = {0}, value = {0};
    enum otlp_value type = OTLP_VALUE_NONE;
    size_t count = 0;
    for (; wire_next(&array, &element) == WIRE_OK; count++) {
        struct wire message = element.bytes;
        if (wire_next(&message, &value) != WIRE_OK || (count && value.number != type)) return OTLP_VALUE_NONE;
        type = (enum otlp_value)value.number;
        bool is_text = type == OTLP_VALUE_TEXT && wire_size(value.bytes);
        if (!is_text && type != OTLP_VALUE_INT) return OTLP_VALUE_NONE;
    }
    return count > 1 ? type : OTLP_VALUE_NONE;
}
