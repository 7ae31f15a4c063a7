#include <stdlib.h>

#include "ingest/read/otlp/translation.h"

int otlp_sample_read(struct otlp_reader *reader, struct wire message, struct otlp_sample *sample) {
    struct wire_field field = {0};
    const uint8_t *start = message.at;
    int state, code = 0;
    sample->stack = sample->link = 0;
    sample->attributes.count = sample->values.count = sample->times.count = 0;
    while (code == 0 && (state = otlp_next(reader, &message, &field)) != 0) {
        if (state < 0) return -1;
        if (field.number == OTLP_SAMPLE_ATTRIBUTES)
            code = otlp_add_numbers(reader, &sample->attributes, &message, &field, WIRE_VARINT);
        else if (field.number == OTLP_SAMPLE_VALUES)
            code = otlp_add_numbers(reader, &sample->values, &message, &field, WIRE_VARINT);
        else if (field.number == OTLP_SAMPLE_TIMES)
            code = otlp_add_numbers(reader, &sample->times, &message, &field, WIRE_FIXED64);
        else if (field.number == OTLP_SAMPLE_STACK || field.number == OTLP_SAMPLE_LINK) {
            code = otlp_need(reader, &message, &field, WIRE_VARINT);
            *(field.number == OTLP_SAMPLE_STACK ? &sample->stack : &sample->link) = (int32_t)field.value;
        }
    }
    if (code != 0) return -1;
    if (sample->values.count && sample->times.count && sample->values.count != sample->times.count)
        return otlp_fail(reader, start,
                         "%zu values and %zu timestamps: where a sample has both, each value has its time; have the "
                         "file written again",
                         sample->values.count, sample->times.count);
    return 0;
}

void otlp_sample_free(struct otlp_sample *sample) {
    free(sample->attributes.list);
    free(sample->values.list);
    free(sample->times.list);
}

int otlp_samples_next(struct otlp_reader *reader, struct wire *profiles, size_t count, struct wire *samples) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct wire_field field = {0};
        int state;
        while ((state = otlp_next(reader, &profiles[i], &field)) == 1 && field.number != OTLP_PROFILE_SAMPLES)
            continue;
        if (state < 0 || (state == 1 && otlp_need(reader, &profiles[i], &field, WIRE_BYTES) != 0)) return -1;
        if (state == 1) samples[i] = field.bytes;
        found += (size_t)state;
    }
    reader->sample++;
    return found == 0 ? 0 : found == count ? 1 : 2;
}

/* ---- whether profiles are one ---- */

static bool same_numbers(const struct otlp_numbers *a, const struct otlp_numbers *b) {
    return a->count == b->count && (a->count == 0 || memcmp(a->list, b->list, a->count * sizeof *a->list) == 0);
}

enum { NOT_PLAIN, PLAIN, PLAIN_ID };

/* A text that would come back as a link. */
static bool is_link_id(const struct otlp_attribute *attribute) {
    bool is_trace = otlp_is_text(attribute->key, OTLP_TRACE_LABEL);
    size_t size = wire_size(attribute->text);
    if (attribute->type != OTLP_VALUE_TEXT || size != 2 * (is_trace ? OTLP_TRACE_SIZE : OTLP_SPAN_SIZE)) return false;
    for (size_t i = 0; i < size; i++)
        if (!memchr("0123456789abcdef", attribute->text.at[i], 16)) return false;
    return true;
}

/* Whether the attribute is a label of a profile.proto as it stands; PLAIN_ID: if the sample has no link. -1 with the error set. */
static int is_plain(struct otlp_reader *reader, int64_t index, const uint8_t *at) {
    struct otlp_attribute attribute = {0};
    int code = otlp_attribute_read(reader, index, at, &attribute);
    if (code == 0) {
        enum otlp_value type = attribute.type == OTLP_VALUE_ARRAY ? otlp_array_type(attribute.text) : attribute.type;
        bool is_array = attribute.type == OTLP_VALUE_ARRAY;
        bool is_text = type == OTLP_VALUE_TEXT && !wire_size(attribute.unit) && (is_array || wire_size(attribute.text));
        bool is_id = otlp_is_text(attribute.key, OTLP_TRACE_LABEL) || otlp_is_text(attribute.key, OTLP_SPAN_LABEL);
        code = is_text || type == OTLP_VALUE_INT ? (is_id ? PLAIN_ID : PLAIN) : NOT_PLAIN;
        if (otlp_is_text(attribute.key, OTLP_PART_LABEL) || (is_id && is_link_id(&attribute))) code = NOT_PLAIN;
    }
    otlp_attribute_free(&attribute);
    return code;
}

/* Whether the sample's attributes are labels as they stand: 1; 0, or -1 with the error set. */
static int are_plain(struct otlp_reader *reader, struct map *plain, const struct otlp_sample *sample,
                     const uint8_t *at) {
    for (size_t i = 0; i < sample->attributes.count; i++) {
        int64_t index = (int32_t)sample->attributes.list[i];
        bool added;
        struct map_entry *entry = map_put(plain, &index, sizeof index, &added);
        if (added) entry->value = is_plain(reader, index, at);
        if (entry->value < 0) return -1;
        if (entry->value == NOT_PLAIN || (entry->value == PLAIN_ID && sample->link)) return 0;
    }
    return 1;
}

static int are_one(struct otlp_reader *reader, const struct wire *messages, size_t count,
                   struct otlp_sample samples[2]) {
    for (size_t i = 0; i < count; i++) {
        struct otlp_sample *sample = &samples[i > 0];
        if (otlp_sample_read(reader, messages[i], sample) != 0) return -1;
        if (sample->times.count || sample->stack != samples[0].stack || sample->link != samples[0].link ||
            sample->values.count != 1 || !same_numbers(&sample->attributes, &samples[0].attributes))
            return 0;
    }
    return 1;
}

/* Fields but the sample type and those of one profile alone, in their order. */
static int read_shared(struct otlp_reader *reader, struct wire profile, struct buffer *out) {
    struct wire_field field = {0};
    int state;
    while ((state = otlp_next(reader, &profile, &field)) == 1) {
        bool is_own = field.number < OTLP_PROFILE_TIME ||
                      (field.number >= OTLP_PROFILE_ID && field.number <= OTLP_PROFILE_PAYLOAD);
        if (is_own) continue;
        protobuf_add_varint(out, field.number);
        protobuf_add_varint(out, field.value);
        if (field.type == WIRE_BYTES) buffer_add(out, field.bytes.at, wire_size(field.bytes));
    }
    return state;
}

static int share_heads(struct otlp_reader *reader, const struct otlp_group *group) {
    struct buffer first = {0}, other = {0};
    int code = read_shared(reader, group->profiles[0], &first);
    bool same = true;
    for (size_t i = 1; code == 0 && same && i < group->count; i++) {
        buffer_clear(&other);
        code = read_shared(reader, group->profiles[i], &other);
        same = first.size == other.size && (first.size == 0 || memcmp(first.data, other.data, first.size) == 0);
    }
    buffer_free(&first);
    buffer_free(&other);
    return code < 0 ? -1 : same;
}

int otlp_is_one(struct otlp_reader *reader, const struct otlp_group *group) {
    struct wire at[INGEST_TYPES_MAX], messages[INGEST_TYPES_MAX];
    struct otlp_sample samples[2] = {0};
    struct map plain = {0};
    memcpy(at, group->profiles, group->count * sizeof *at);
    int is_one = share_heads(reader, group), state = 1;
    reader->sample = 0;
    while (is_one == 1 && state == 1) {
        state = otlp_samples_next(reader, at, group->count, messages);
        if (state < 0) is_one = -1;
        if (state == 1) is_one = are_one(reader, messages, group->count, samples);
        if (state == 1 && is_one == 1) is_one = are_plain(reader, &plain, &samples[0], messages[0].at);
        if (state == 2) is_one = 0;
    }
    otlp_sample_free(&samples[0]);
    otlp_sample_free(&samples[1]);
    map_free(&plain);
    reader->sample = 0;
    return is_one;
}
