#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/hex.h"
#include "ingest/read/otlp/translation.h"

void translation_put_label(struct translation *made, struct buffer *out, const char *key, struct wire text,
                           int64_t number, struct wire unit) {
    size_t begin = protobuf_begin(out, SAMPLE_LABEL);
    protobuf_add_nonzero(out, LABEL_KEY, (uint64_t)translation_intern_text(made, key));
    if (wire_size(text)) protobuf_add_nonzero(out, LABEL_TEXT, (uint64_t)translation_intern_wire(made, text));
    if (!wire_size(text)) protobuf_add_nonzero(out, LABEL_NUMBER, (uint64_t)number);
    if (!wire_size(text) && wire_size(unit))
        protobuf_add_nonzero(out, LABEL_UNIT, (uint64_t)translation_intern_wire(made, unit));
    protobuf_end(out, begin);
}

static const struct wire nothing;

static void add_ended(struct translation *made, const char *key, const char *ending, struct wire text) {
    char *ended = xasprintf("%s%s", key, ending);
    translation_put_label(made, &made->label_bytes, ended, text, 0, nothing);
    free(ended);
}

static void add_whole(struct translation *made, const char *key) {
    struct buffer message = {0}, text = {0};
    otlp_attribute_add(&message, 1, &made->attribute);
    base64_add(&text, message.data, message.size);
    add_ended(made, key, OTLP_ENDING_ANY, wire_of(buffer_text(&text)));
    buffer_free(&message);
    buffer_free(&text);
}

static bool ends_in(const char *text, const char *ending) {
    size_t size = strlen(text), end = strlen(ending);
    return size >= end && strcmp(text + size - end, ending) == 0;
}

/* Whether a label of that key would come back as something else. */
static bool is_mistakable(const struct translation *made, const char *key) {
    static const char *const endings[] = {OTLP_ENDING_TEXT, OTLP_ENDING_INT, OTLP_ENDING_BOOL, OTLP_ENDING_DOUBLE,
                                          OTLP_ENDING_ANY};
    static const char *const keys[] = {OTLP_TRACE_LABEL, OTLP_SPAN_LABEL, OTLP_TIME_LABEL, OTLP_PART_LABEL};
    if (made->group->is_pprof) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_in(key, endings[i])) return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

static void add_number_label(struct translation *made, const char *key, int64_t number, struct wire unit) {
    char *longer = is_mistakable(made, key) ? xasprintf("%s%s", key, OTLP_ENDING_INT) : NULL;
    translation_put_label(made, &made->label_bytes, longer ? longer : key, nothing, number, unit);
    free(longer);
}

static void add_array(struct translation *made, const char *key) {
    const struct otlp_attribute *attribute = &made->attribute;
    struct wire array = attribute->text;
    struct wire_field element = {0}, value = {0};
    enum otlp_value type = otlp_array_type(array);
    bool has_unit = wire_size(attribute->unit) != 0;
    if (type == OTLP_VALUE_NONE || (type == OTLP_VALUE_TEXT && has_unit) || is_mistakable(made, key)) {
        add_whole(made, key);
        return;
    }
    while (wire_next(&array, &element) == WIRE_OK) {
        struct wire message = element.bytes;
        (void)wire_next(&message, &value);
        if (type == OTLP_VALUE_TEXT)
            translation_put_label(made, &made->label_bytes, key, value.bytes, 0, nothing);
        else
            translation_put_label(made, &made->label_bytes, key, nothing, (int64_t)value.value, attribute->unit);
    }
}

static void add_double(struct translation *made, const char *key) {
    char text[40];
    double value;
    memcpy(&value, &made->attribute.number, sizeof value);
    snprintf(text, sizeof text, "%.17g", value);
    if (isfinite(value))
        add_ended(made, key, OTLP_ENDING_DOUBLE, wire_of(text));
    else
        add_whole(made, key);
}

static void add_attribute_labels(struct translation *made, const char *key) {
    const struct otlp_attribute *attribute = &made->attribute;
    bool has_unit = wire_size(attribute->unit) != 0;
    if (attribute->type == OTLP_VALUE_INT)
        add_number_label(made, key, attribute->number, attribute->unit);
    else if (attribute->type == OTLP_VALUE_ARRAY)
        add_array(made, key);
    else if (attribute->type == OTLP_VALUE_TEXT && wire_size(attribute->text) && !has_unit)
        add_ended(made, key, is_mistakable(made, key) ? OTLP_ENDING_TEXT : "", attribute->text);
    else if (attribute->type == OTLP_VALUE_BOOL && !has_unit)
        add_ended(made, key, OTLP_ENDING_BOOL, wire_of(attribute->number ? "true" : "false"));
    else if (attribute->type == OTLP_VALUE_DOUBLE && !has_unit)
        add_double(made, key);
    else
        add_whole(made, key);
}

static int add_id(struct translation *made, const char *key, struct wire id, size_t wanted) {
    char digits[2 * OTLP_TRACE_SIZE + 1];
    size_t size = wire_size(id);
    if (size == 0) return 0;
    if (size != wanted) return otlp_fail(made->reader, id.at, "a %s of %zu bytes: it must have %zu", key, size, wanted);
    hex_bytes(digits, id.at, size);
    translation_put_label(made, &made->label_bytes, key, wire_of(digits), 0, nothing);
    return 0;
}

static int add_link_labels(struct translation *made, int64_t index, const uint8_t *at) {
    struct wire link, trace = {at, at}, span = {at, at};
    struct wire_field field = {0};
    int state;
    if (otlp_item(made->reader, OTLP_LINKS, index, "link_index", at, &link) != 0) return -1;
    while ((state = otlp_next(made->reader, &link, &field)) == 1) {
        if (field.number > OTLP_LINK_SPAN) continue;
        if (otlp_need(made->reader, &link, &field, WIRE_BYTES) != 0) return -1;
        *(field.number == OTLP_LINK_TRACE ? &trace : &span) = field.bytes;
    }
    return state < 0 || add_id(made, OTLP_TRACE_LABEL, trace, OTLP_TRACE_SIZE) ||
                   add_id(made, OTLP_SPAN_LABEL, span, OTLP_SPAN_SIZE)
               ? -1
               : 0;
}

static int make_labels(struct translation *made, int64_t index, const uint8_t *at) {
    if (index < 0) return add_link_labels(made, ~index, at);
    if (otlp_attribute_read(made->reader, index, at, &made->attribute) != 0) return -1;
    char *key = otlp_copy_text(made->attribute.key);
    add_attribute_labels(made, key);
    free(key);
    return 0;
}

int translation_put_labels(struct translation *made, int64_t index, const uint8_t *at) {
    bool added;
    struct map_entry *entry = map_put(&made->labels, &index, sizeof index, &added);
    if (added) {
        entry->value = (int64_t)made->label_bytes.size;
        if (make_labels(made, index, at) != 0) return -1;
    }
    bool is_last = entry + 1 == made->labels.entries + made->labels.count;
    size_t begin = (size_t)entry->value, end = is_last ? made->label_bytes.size : (size_t)entry[1].value;
    buffer_add(&made->sample, buffer_text(&made->label_bytes) + begin, end - begin);
    return 0;
}
