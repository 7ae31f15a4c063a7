#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/protobuf.h"
#include "export/otlp/otlp_write.h"

/* ---- a link ---- */

/* The bytes of lower-case hexadecimal digits; false where the text is anything else. */
static bool read_digits(const char *text, size_t size, unsigned char *bytes) {
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * size) return false;
    for (size_t i = 0; i < 2 * size; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit) return false;
        bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | (digit - digits));
    }
    return true;
}

/* The only label of that key, as so many bytes. */
static bool find_id(const struct profile_label *labels, size_t count, const char *key, size_t size,
                    unsigned char *bytes) {
    const struct profile_label *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(labels[i].key, key) != 0) continue;
        if (found) return false;
        found = &labels[i];
    }
    return found && found->text && read_digits(found->text, size, bytes);
}

static int64_t intern_link(struct otlp_dictionary *dictionary, const struct profile_label *labels, size_t count,
                           bool *has_trace, bool *has_span) {
    unsigned char trace[OTLP_TRACE_SIZE] = {0}, span[OTLP_SPAN_SIZE] = {0};
    struct buffer link = {0};
    *has_trace = find_id(labels, count, OTLP_TRACE_LABEL, sizeof trace, trace);
    *has_span = find_id(labels, count, OTLP_SPAN_LABEL, sizeof span, span);
    if (*has_trace) protobuf_add_bytes(&link, OTLP_LINK_TRACE, trace, sizeof trace);
    if (*has_span) protobuf_add_bytes(&link, OTLP_LINK_SPAN, span, sizeof span);
    int64_t index = link.size ? otlp_intern(dictionary, OTLP_LINKS, link.data, link.size) : 0;
    buffer_free(&link);
    return index;
}

/* ---- attributes ---- */

static void add_plain(struct buffer *value, const struct profile_label *label) {
    if (label->text)
        protobuf_add_text(value, OTLP_VALUE_TEXT, label->text);
    else
        protobuf_add_int(value, OTLP_VALUE_INT, label->number);
}

/* Several labels of a key, which are all texts or all numbers of one unit. */
static void add_array(struct buffer *value, const struct profile_label *labels, size_t count) {
    size_t array = protobuf_begin(value, OTLP_VALUE_ARRAY);
    for (size_t i = 0; i < count; i++) {
        size_t element = protobuf_begin(value, 1);
        add_plain(value, &labels[i]);
        protobuf_end(value, element);
    }
    protobuf_end(value, array);
}

static int64_t intern_base64(struct otlp_dictionary *dictionary, const char *text) {
    struct buffer bytes = {0};
    struct wire_field field = {0};
    int64_t index = -1;
    if (base64_decode(&bytes, text) && bytes.size) {
        struct wire message = {(const uint8_t *)bytes.data, (const uint8_t *)bytes.data + bytes.size};
        if (wire_next(&message, &field) == WIRE_OK && field.type == WIRE_BYTES && message.at == message.end)
            index = otlp_intern_whole(dictionary, field.bytes);
    }
    buffer_free(&bytes);
    return index;
}

static bool add_double(struct buffer *value, const char *text) {
    char *end;
    double number = strtod(text, &end);
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (*text && !*end) protobuf_add_fixed64(value, OTLP_VALUE_DOUBLE, bits);
    return *text && !*end;
}

/* Where the end of the key says what the label is: the value, and the size of the key without it; 0: it says nothing. */
static size_t add_ended(struct buffer *value, const struct profile_label *label) {
    const char *ending = strrchr(label->key, ':');
    bool is_ended = false;
    if (!ending) return 0;
    if (label->text && strcmp(ending, OTLP_ENDING_BOOL) == 0) {
        protobuf_add_int(value, OTLP_VALUE_BOOL, strcmp(label->text, "true") == 0);
        is_ended = true;
    } else if (label->text && strcmp(ending, OTLP_ENDING_DOUBLE) == 0) {
        is_ended = add_double(value, label->text);
    } else if (strcmp(ending, label->text ? OTLP_ENDING_TEXT : OTLP_ENDING_INT) == 0) {
        add_plain(value, label);
        is_ended = true;
    }
    return is_ended ? (size_t)(ending - label->key) : 0;
}

static bool is_whole(const struct profile_label *label) {
    const char *ending = strrchr(label->key, ':');
    return ending && label->text && strcmp(ending, OTLP_ENDING_ANY) == 0;
}

static int64_t intern_one(struct otlp_dictionary *dictionary, const struct profile_label *label, bool is_pprof) {
    struct buffer value = {0};
    int64_t index = !is_pprof && is_whole(label) ? intern_base64(dictionary, label->text) : -1;
    if (index >= 0) return index;
    size_t size = is_pprof ? 0 : add_ended(&value, label);
    char *key = xstrdup(label->key);
    if (size)
        key[size] = '\0';
    else
        add_plain(&value, label);
    index = otlp_intern_attribute(dictionary, key, &value, label->text ? "" : label->unit);
    free(key);
    buffer_free(&value);
    return index;
}

static int64_t intern_several(struct otlp_dictionary *dictionary, const struct profile_label *labels, size_t count) {
    struct buffer value = {0};
    add_array(&value, labels, count);
    int64_t index = otlp_intern_attribute(dictionary, labels->key, &value, labels->text ? "" : labels->unit);
    buffer_free(&value);
    return index;
}

static bool are_alike(const struct profile_label *a, const struct profile_label *b) {
    return strcmp(a->key, b->key) == 0 && !a->text == !b->text && (a->text || strcmp(a->unit, b->unit) == 0);
}

static bool is_time(const struct profile_label *label) {
    return !label->text && strcmp(label->key, OTLP_TIME_LABEL) == 0 && strcmp(label->unit, OTLP_TIME_UNIT) == 0;
}

static bool is_part(const struct profile_label *label) {
    return label->text && strcmp(label->key, OTLP_PART_LABEL) == 0;
}

void otlp_labels_of(struct otlp_dictionary *dictionary, const struct profile *profile, uint32_t set, bool is_pprof,
                    struct otlp_labels *out) {
    const struct profile_label *labels = profile->labels + profile->label_sets[set].first;
    size_t count = profile->label_sets[set].count, same;
    bool has_trace, has_span;
    buffer_clear(&out->attributes);
    out->has_time = false;
    out->link = intern_link(dictionary, labels, count, &has_trace, &has_span);
    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && are_alike(&labels[i], &labels[i + same]);)
            same++;
        if ((has_trace && strcmp(labels[i].key, OTLP_TRACE_LABEL) == 0) ||
            (has_span && strcmp(labels[i].key, OTLP_SPAN_LABEL) == 0) || is_part(&labels[i]))
            continue;
        if (!is_pprof && same == 1 && !out->has_time && is_time(&labels[i])) {
            out->has_time = true;
            out->time = labels[i].number;
            continue;
        }
        int64_t index = same == 1 || (!is_pprof && is_whole(&labels[i]))
                            ? (same = 1, intern_one(dictionary, &labels[i], is_pprof))
                            : intern_several(dictionary, &labels[i], same);
        protobuf_add_varint(&out->attributes, (uint64_t)index);
    }
}

int64_t otlp_part_of(const struct profile *profile, uint32_t set) {
    const struct profile_labels *labels = &profile->label_sets[set];
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct profile_label *label = &profile->labels[labels->first + i];
        if (is_part(label)) return strtol(label->text, NULL, 10);
    }
    return 0;
}
