/* otlp_profile.c: a profile of a file, or several that belong together, as one profile.proto.
 *
 * Mappings, functions and locations keep their numbers in the dictionary as ids; those that samples use are written behind the samples. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/otlp_identity.h"
#include "base/protobuf.h"
#include "ingest/read/otlp/otlp.h"

enum { DEPTH_MAX = 1 << 16 }; /* frames of a stack, lines of a location, as in profile_proto.c */

/* Fields of profile.proto. */
enum {
    PPROF_TYPE = 1,
    PPROF_SAMPLE,
    PPROF_MAPPING,
    PPROF_LOCATION,
    PPROF_FUNCTION,
    PPROF_STRING,
    PPROF_DROP,
    PPROF_KEEP,
    PPROF_TIME,
    PPROF_DURATION,
    PPROF_PERIOD_TYPE,
    PPROF_PERIOD,
    PPROF_COMMENT,
    PPROF_DEFAULT,
    PPROF_DOC
};
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };

struct otlp_sample {
    int64_t stack, link;
    struct otlp_numbers attributes, values, times;
};

struct otlp_tags {         /* attributes of locations or mappings that profile.proto has no place for */
    struct map groups;     /* TAGGED_ATTRIBUTE fields -> index in `hashes` */
    struct buffer *hashes; /* 8 bytes each, little endian */
};

struct translation {
    struct otlp_reader *reader;
    const struct otlp_group *group;
    struct buffer *out;
    struct map strings;                        /* text -> index in the string table */
    struct map locations, functions, mappings; /* indices in the dictionary that are used */
    struct map labels;                         /* attribute or ~link -> range in label_ranges */
    struct otlp_numbers label_ranges;          /* offset and size */
    struct buffer label_bytes;
    struct otlp_tags location_tags, mapping_tags;
    struct buffer context, sample;
    struct otlp_attribute attribute;
    struct otlp_numbers numbers;
    struct otlp_sample *samples; /* of each profile of the group, the one that is read */
};

static size_t size_of(struct wire bytes) {
    return (size_t)(bytes.end - bytes.at);
}

static int64_t intern(struct translation *made, const void *text, size_t size) {
    bool added;
    struct map_entry *entry = map_put(&made->strings, size ? text : "", size, &added);
    if (added) entry->value = (int64_t)made->strings.count - 1;
    return entry->value;
}

static int64_t intern_text(struct translation *made, const char *text) {
    return intern(made, text, strlen(text));
}

static int64_t intern_wire(struct translation *made, struct wire text) {
    return intern(made, text.at, size_of(text));
}

static void use(struct map *map, int64_t index) {
    (void)map_put(map, &index, sizeof index, NULL);
}

static int64_t used(const struct map *map, size_t place) {
    int64_t index;
    memcpy(&index, map->entries[place].key, sizeof index);
    return index;
}

static void put_text(struct translation *made, unsigned field, struct wire text) {
    if (size_of(text)) protobuf_add_int(made->out, field, intern_wire(made, text));
}

static void put_number(struct buffer *out, unsigned field, uint64_t value) {
    if (value) protobuf_add_int(out, field, (int64_t)value);
}

/* A text of the dictionary by its index. */
static int text_at(struct translation *made, uint64_t index, const char *what, const uint8_t *at, struct wire *text) {
    return otlp_item(made->reader, OTLP_STRINGS, (int32_t)index, what, at, text);
}

/* ---- labels ---- */

static void add_label(struct translation *made, const char *key, struct wire text, int64_t number, struct wire unit) {
    struct buffer *out = &made->label_bytes;
    size_t begin = protobuf_begin(out, 3);
    put_number(out, LABEL_KEY, (uint64_t)intern_text(made, key));
    if (size_of(text)) put_number(out, LABEL_TEXT, (uint64_t)intern_wire(made, text));
    if (!size_of(text)) put_number(out, LABEL_NUMBER, (uint64_t)number);
    if (!size_of(text) && size_of(unit)) put_number(out, LABEL_UNIT, (uint64_t)intern_wire(made, unit));
    protobuf_end(out, begin);
}

static struct wire wire_of(const char *text) {
    return (struct wire){(const uint8_t *)text, (const uint8_t *)text + strlen(text)};
}

static const struct wire nothing;

static void add_ended(struct translation *made, const char *key, const char *ending, struct wire text) {
    char *ended = xasprintf("%s%s", key, ending);
    add_label(made, ended, text, 0, nothing);
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
    add_label(made, longer ? longer : key, nothing, number, unit);
    free(longer);
}

static void add_array(struct translation *made, const char *key) {
    const struct otlp_attribute *attribute = &made->attribute;
    struct wire array = attribute->text;
    struct wire_field element = {0}, value = {0};
    enum otlp_value type = otlp_array_type(array);
    bool has_unit = size_of(attribute->unit) != 0;
    if (type == OTLP_VALUE_NONE || (type == OTLP_VALUE_TEXT && has_unit) || is_mistakable(made, key)) {
        add_whole(made, key);
        return;
    }
    while (wire_next(&array, &element) == WIRE_OK) {
        struct wire message = element.bytes;
        (void)wire_next(&message, &value);
        if (type == OTLP_VALUE_TEXT)
            add_label(made, key, value.bytes, 0, nothing);
        else
            add_label(made, key, nothing, (int64_t)value.value, attribute->unit);
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
    bool has_unit = size_of(attribute->unit) != 0;
    if (attribute->type == OTLP_VALUE_INT)
        add_number_label(made, key, attribute->number, attribute->unit);
    else if (attribute->type == OTLP_VALUE_ARRAY)
        add_array(made, key);
    else if (attribute->type == OTLP_VALUE_TEXT && size_of(attribute->text) && !has_unit)
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
    size_t size = size_of(id);
    if (size == 0) return 0;
    if (size != wanted) return otlp_fail(made->reader, id.at, "a %s of %zu bytes: it must have %zu", key, size, wanted);
    hex_bytes(digits, id.at, size);
    add_label(made, key, wire_of(digits), 0, nothing);
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
    struct wire key = made->attribute.key;
    char *text = xmalloc(size_of(key) + 1);
    memcpy(text, key.at, size_of(key));
    text[size_of(key)] = '\0';
    add_attribute_labels(made, text);
    free(text);
    return 0;
}

/* Adds the labels of an attribute, or of a link whose index is ~index, to the sample. */
static int put_labels(struct translation *made, int64_t index, const uint8_t *at) {
    bool added;
    struct map_entry *entry = map_put(&made->labels, &index, sizeof index, &added);
    size_t place = (size_t)entry->value;
    if (added) {
        size_t begin = made->label_bytes.size;
        place = made->label_ranges.count;
        entry->value = (int64_t)place;
        if (make_labels(made, index, at) != 0) return -1;
        if (place + 2 > made->label_ranges.capacity) {
            made->label_ranges.capacity = made->label_ranges.capacity ? made->label_ranges.capacity * 2 : 64;
            made->label_ranges.list =
                xrealloc(made->label_ranges.list, made->label_ranges.capacity * sizeof *made->label_ranges.list);
        }
        made->label_ranges.list[place] = (int64_t)begin;
        made->label_ranges.list[place + 1] = (int64_t)(made->label_bytes.size - begin);
        made->label_ranges.count += 2;
    }
    const int64_t *range = made->label_ranges.list + place;
    buffer_add(&made->sample, buffer_text(&made->label_bytes) + range[0], (size_t)range[1]);
    return 0;
}

/* ---- samples ---- */

static int read_sample(struct otlp_reader *reader, struct wire message, struct otlp_sample *sample) {
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

static int put_stack(struct translation *made, int64_t index, const uint8_t *at) {
    struct wire stack;
    struct wire_field field = {0};
    int state;
    made->numbers.count = 0;
    if (otlp_item(made->reader, OTLP_STACKS, index, "stack_index", at, &stack) != 0) return -1;
    const uint8_t *start = stack.at;
    while ((state = otlp_next(made->reader, &stack, &field)) == 1)
        if (field.number == OTLP_STACK_LOCATIONS &&
            otlp_add_numbers(made->reader, &made->numbers, &stack, &field, WIRE_VARINT) != 0)
            return -1;
    if (state < 0) return -1;
    if (made->numbers.count > DEPTH_MAX) return otlp_fail(made->reader, start, "a stack of more than 65536 frames");
    size_t begin = protobuf_begin(&made->sample, 1);
    for (size_t i = 0; i < made->numbers.count; i++) {
        int64_t location = (int32_t)made->numbers.list[i];
        struct wire ignored;
        if (otlp_item(made->reader, OTLP_LOCATIONS, location, "location index", start, &ignored) != 0) return -1;
        use(&made->locations, location);
        protobuf_add_varint(&made->sample, (uint64_t)location + 1);
    }
    protobuf_end(&made->sample, begin);
    return 0;
}

static void put_time_label(struct translation *made, int64_t time) {
    size_t begin = protobuf_begin(&made->sample, 3);
    put_number(&made->sample, LABEL_KEY, (uint64_t)intern_text(made, OTLP_TIME_LABEL));
    put_number(&made->sample, LABEL_NUMBER, (uint64_t)time);
    put_number(&made->sample, LABEL_UNIT, (uint64_t)intern_text(made, OTLP_TIME_UNIT));
    protobuf_end(&made->sample, begin);
}

static void put_part_label(struct translation *made) {
    char number[24];
    snprintf(number, sizeof number, "%zu", made->group->part);
    size_t begin = protobuf_begin(&made->sample, 3);
    put_number(&made->sample, LABEL_KEY, (uint64_t)intern_text(made, OTLP_PART_LABEL));
    put_number(&made->sample, LABEL_TEXT, (uint64_t)intern_text(made, number));
    protobuf_end(&made->sample, begin);
}

/* What the samples of the group have in common: their stack, attributes and link. */
static int put_common(struct translation *made, const struct otlp_sample *sample, const uint8_t *at) {
    buffer_clear(&made->sample);
    if (put_stack(made, sample->stack, at) != 0) return -1;
    for (size_t i = 0; i < sample->attributes.count; i++)
        if (put_labels(made, (int32_t)sample->attributes.list[i], at) != 0) return -1;
    if (sample->link && put_labels(made, ~sample->link, at) != 0) return -1;
    if (made->group->has_part_label) put_part_label(made);
    return 0;
}

static int sum_values(struct translation *made, const struct otlp_sample *sample, const uint8_t *at, int64_t *sum) {
    *sum = 0;
    for (size_t i = 0; i < sample->values.count; i++)
        if (__builtin_add_overflow(*sum, sample->values.list[i], sum))
            return otlp_fail(made->reader, at, "the sum of the values exceeds 64 bits");
    return 0;
}

static void put_values(struct translation *made, const int64_t *values, size_t count) {
    size_t begin = protobuf_begin(&made->sample, 2);
    for (size_t i = 0; i < count; i++)
        protobuf_add_varint(&made->sample, (uint64_t)values[i]);
    protobuf_end(&made->sample, begin);
    protobuf_add_bytes(made->out, PPROF_SAMPLE, made->sample.data, made->sample.size);
}

/* Each observation with a time is a sample; without a value it counts 1. */
static void put_observations(struct translation *made, const struct otlp_sample *sample) {
    size_t common = made->sample.size;
    const int64_t one = 1;
    for (size_t i = 0; i < sample->times.count; i++) {
        made->sample.size = common;
        put_time_label(made, sample->times.list[i]);
        put_values(made, sample->values.count ? &sample->values.list[i] : &one, 1);
    }
}

static int put_sample(struct translation *made, const struct wire *messages) {
    size_t count = made->group->count;
    int64_t *values = xcalloc(count, sizeof *values);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = read_sample(made->reader, messages[i], &made->samples[i]);
        if (code == 0) code = sum_values(made, &made->samples[i], messages[i].at, &values[i]);
    }
    if (code == 0) code = put_common(made, &made->samples[0], messages[0].at);
    if (code == 0 && made->samples[0].times.count)
        put_observations(made, &made->samples[0]);
    else if (code == 0)
        put_values(made, values, count);
    free(values);
    return code;
}

/* ---- walking over the samples of all profiles of a group at once ---- */

/* The next sample of each: 1; 0 where all have ended, -1 with the error set; 2 where one has ended before another. */
static int next_samples(struct otlp_reader *reader, struct wire *profiles, size_t count, struct wire *samples) {
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

static bool same_numbers(const struct otlp_numbers *a, const struct otlp_numbers *b) {
    return a->count == b->count && (a->count == 0 || memcmp(a->list, b->list, a->count * sizeof *a->list) == 0);
}

static void free_sample(struct otlp_sample *sample) {
    free(sample->attributes.list);
    free(sample->values.list);
    free(sample->times.list);
}

enum { NOT_PLAIN, PLAIN, PLAIN_ID };

/* A text that would come back as a link. */
static bool is_link_id(const struct otlp_attribute *attribute) {
    bool is_trace = otlp_is_text(attribute->key, OTLP_TRACE_LABEL);
    size_t size = size_of(attribute->text);
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
        bool is_text = type == OTLP_VALUE_TEXT && !size_of(attribute.unit) && (is_array || size_of(attribute.text));
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
        if (read_sample(reader, messages[i], sample) != 0) return -1;
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
        if (field.type == WIRE_BYTES) buffer_add(out, field.bytes.at, size_of(field.bytes));
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
    struct wire *at = xcalloc(group->count + 1, sizeof *at), *messages = xcalloc(group->count + 1, sizeof *messages);
    struct otlp_sample samples[2] = {0};
    struct map plain = {0};
    memcpy(at, group->profiles, group->count * sizeof *at);
    int is_one = share_heads(reader, group), state = 1;
    reader->sample = 0;
    while (is_one == 1 && state == 1) {
        state = next_samples(reader, at, group->count, messages);
        if (state < 0) is_one = -1;
        if (state == 1) is_one = are_one(reader, messages, group->count, samples);
        if (state == 1 && is_one == 1) is_one = are_plain(reader, &plain, &samples[0], messages[0].at);
        if (state == 2) is_one = 0;
    }
    free_sample(&samples[0]);
    free_sample(&samples[1]);
    map_free(&plain);
    free(at);
    free(messages);
    reader->sample = 0;
    return is_one;
}

static int put_samples(struct translation *made) {
    size_t count = made->group->count;
    struct wire *at = xcalloc(count, sizeof *at), *messages = xcalloc(count, sizeof *messages);
    memcpy(at, made->group->profiles, count * sizeof *at);
    int state;
    made->reader->sample = 0;
    while ((state = next_samples(made->reader, at, count, messages)) == 1)
        if (put_sample(made, messages) != 0) {
            state = -1;
            break;
        }
    free(at);
    free(messages);
    made->reader->sample = 0;
    return state < 0 ? -1 : 0;
}

/* ---- what samples are made of ---- */

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
    struct wire file, build_id;
    uint64_t flags[OTLP_MAPPING_FLAG_COUNT];
    struct buffer build_id_text, tags; /* the attribute's value goes when the next is read */
    uint64_t hash;
};

static void free_mapping(struct otlp_mapping *mapping) {
    buffer_free(&mapping->build_id_text);
    buffer_free(&mapping->tags);
}

static int read_mapping_attribute(struct translation *made, int64_t index, const uint8_t *at,
                                  struct otlp_mapping *mapping) {
    static const char *const flags[] = OTLP_MAPPING_FLAGS;
    const struct otlp_attribute *attribute = &made->attribute;
    if (otlp_attribute_read(made->reader, index, at, &made->attribute) != 0) return -1;
    if (attribute->type == OTLP_VALUE_TEXT && otlp_is_text(attribute->key, OTLP_BUILD_ID) &&
        !mapping->build_id_text.size) {
        buffer_add(&mapping->build_id_text, attribute->text.at, size_of(attribute->text));
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

/* A text as far as a NUL, which it has not. */
static char *copy_text(struct wire text) {
    char *copy = xmalloc(size_of(text) + 1);
    if (size_of(text)) memcpy(copy, text.at, size_of(text));
    copy[size_of(text)] = '\0';
    return copy;
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
    char *file = copy_text(mapping->file);
    mapping->hash = otlp_hash_mapping(file, buffer_text(&mapping->build_id_text), mapping->values[OTLP_MAPPING_START],
                                      mapping->values[OTLP_MAPPING_LIMIT], mapping->values[OTLP_MAPPING_OFFSET]);
    free(file);
    return 0;
}

static int put_mapping(struct translation *made, int64_t index) {
    enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID, FLAGS };
    struct otlp_mapping mapping;
    int code = read_mapping(made, index, made->reader->input->data, &mapping);
    if (code == 0) {
        size_t begin = protobuf_begin(made->out, PPROF_MAPPING);
        put_number(made->out, ID, (uint64_t)index);
        put_number(made->out, START, mapping.values[OTLP_MAPPING_START]);
        put_number(made->out, LIMIT, mapping.values[OTLP_MAPPING_LIMIT]);
        put_number(made->out, OFFSET, mapping.values[OTLP_MAPPING_OFFSET]);
        put_text(made, FILENAME, mapping.file);
        put_text(made, BUILD_ID, wire_of(buffer_text(&mapping.build_id_text)));
        for (unsigned i = 0; i < OTLP_MAPPING_FLAG_COUNT; i++)
            put_number(made->out, FLAGS + i, mapping.flags[i]);
        protobuf_end(made->out, begin);
        add_tags(&made->mapping_tags, &mapping.tags, mapping.hash);
    }
    free_mapping(&mapping);
    return code;
}

static int put_function(struct translation *made, int64_t index) {
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE };
    struct wire message, texts[OTLP_FUNCTION_START];
    uint64_t values[OTLP_FUNCTION_START + 1] = {0};
    const uint8_t *file = made->reader->input->data;
    if (otlp_item(made->reader, OTLP_FUNCTIONS, index, "function_index", file, &message) != 0 ||
        otlp_read_numbers(made->reader, message, values, OTLP_FUNCTION_START + 1) != 0)
        return -1;
    for (int i = OTLP_FUNCTION_NAME; i < OTLP_FUNCTION_START; i++)
        if (text_at(made, values[i], "a strindex of a function,", message.at, &texts[i]) != 0) return -1;
    size_t begin = protobuf_begin(made->out, PPROF_FUNCTION);
    put_number(made->out, ID, (uint64_t)index);
    put_text(made, NAME, texts[OTLP_FUNCTION_NAME]);
    put_text(made, SYSTEM_NAME, texts[OTLP_FUNCTION_SYSTEM_NAME]);
    put_text(made, FILENAME, texts[OTLP_FUNCTION_FILE]);
    put_number(made->out, START_LINE, values[OTLP_FUNCTION_START]);
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
        if (location->lines.count == DEPTH_MAX)
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
    struct wire message, name, file;
    uint64_t values[OTLP_FUNCTION_START + 1] = {0};
    if (location->address) return 0;
    if (otlp_item(made->reader, OTLP_FUNCTIONS, (int32_t)line[OTLP_LINE_FUNCTION], "function_index", at, &message) ||
        otlp_read_numbers(made->reader, message, values, OTLP_FUNCTION_START + 1) ||
        text_at(made, values[OTLP_FUNCTION_NAME], "name_strindex", message.at, &name) ||
        text_at(made, values[OTLP_FUNCTION_FILE], "filename_strindex", message.at, &file))
        return -1;
    char *name_text = copy_text(name), *file_text = copy_text(file);
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
        if (function) use(&made->functions, function);
        size_t begin = protobuf_begin(made->out, LINE);
        put_number(made->out, LINE_FUNCTION, (uint64_t)function);
        put_number(made->out, LINE_LINE, line[OTLP_LINE_LINE]);
        put_number(made->out, LINE_COLUMN, line[OTLP_LINE_COLUMN]);
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
    if (location->mapping) use(&made->mappings, location->mapping);
    size_t begin = protobuf_begin(made->out, PPROF_LOCATION);
    protobuf_add_int(made->out, ID, index + 1);
    put_number(made->out, MAPPING, (uint64_t)location->mapping);
    put_number(made->out, ADDRESS, location->address);
    if (put_lines(made, location) != 0) return -1;
    put_number(made->out, IS_FOLDED, location->is_folded);
    protobuf_end(made->out, begin);
    add_tags(&made->location_tags, &location->tags, location->hash);
    return 0;
}

static int put_location(struct translation *made, int64_t index) {
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

/* ---- the head ---- */

int otlp_read_type(struct otlp_reader *reader, struct wire profile, unsigned wanted, struct wire *name,
                   struct wire *unit) {
    struct wire_field field = {0};
    struct wire type = {profile.at, profile.at};
    uint64_t values[OTLP_TYPE_UNIT + 1] = {0};
    int state;
    while ((state = otlp_next(reader, &profile, &field)) == 1) {
        if (field.number != wanted) continue;
        if (otlp_need(reader, &profile, &field, WIRE_BYTES) != 0) return -1;
        type = field.bytes;
    }
    if (state < 0 || otlp_read_numbers(reader, type, values, OTLP_TYPE_UNIT + 1) != 0 ||
        otlp_item(reader, OTLP_STRINGS, (int32_t)values[OTLP_TYPE_NAME], "type_strindex", type.at, name) != 0 ||
        otlp_item(reader, OTLP_STRINGS, (int32_t)values[OTLP_TYPE_UNIT], "unit_strindex", type.at, unit) != 0)
        return -1;
    return 0;
}

static void put_type(struct translation *made, unsigned field, struct wire name, struct wire unit) {
    size_t begin = protobuf_begin(made->out, field);
    put_number(made->out, OTLP_TYPE_NAME, (uint64_t)intern_wire(made, name));
    put_number(made->out, OTLP_TYPE_UNIT, (uint64_t)intern_wire(made, unit));
    protobuf_end(made->out, begin);
}

static void add_context_type(struct translation *made, unsigned field, struct wire name, struct wire unit) {
    size_t begin = protobuf_begin(&made->context, field);
    protobuf_add_bytes(&made->context, OTLP_TYPE_NAME, name.at, size_of(name));
    protobuf_add_bytes(&made->context, OTLP_TYPE_UNIT, unit.at, size_of(unit));
    protobuf_end(&made->context, begin);
}

/* Whether the context has what the head of a profile.proto says, too: that of several parts of a kind becomes one. */
static bool keeps_head(const struct otlp_group *group) {
    return !group->is_pprof || group->has_part_label;
}

static bool has_types(const struct otlp_group *group) {
    return !group->is_pprof ||
           group->head->order.size > 2; /* an empty list of sample types has one profile all the same */
}

static int put_types(struct translation *made) {
    struct wire name, unit;
    for (size_t i = 0; i < made->group->count && has_types(made->group); i++) {
        if (otlp_read_type(made->reader, made->group->profiles[i], OTLP_PROFILE_TYPE, &name, &unit) != 0) return -1;
        put_type(made, PPROF_TYPE, name, unit);
        if (keeps_head(made->group)) add_context_type(made, CONTEXT_TYPE, name, unit);
    }
    if (otlp_read_type(made->reader, made->group->profiles[0], OTLP_PROFILE_PERIOD_TYPE, &name, &unit) != 0) return -1;
    if (size_of(name) || size_of(unit)) put_type(made, PPROF_PERIOD_TYPE, name, unit);
    if (keeps_head(made->group) && (size_of(name) || size_of(unit)))
        add_context_type(made, CONTEXT_PERIOD_TYPE, name, unit);
    return 0;
}

/* The comments of a profile.proto: an array of texts; false where it is anything else. */
static bool put_comments(struct translation *made) {
    const struct otlp_attribute *attribute = &made->attribute;
    struct wire_field element = {0}, value = {0};
    for (int pass = 0; pass < 2; pass++) {
        struct wire array = attribute->text;
        while (wire_next(&array, &element) == WIRE_OK) {
            struct wire message = element.bytes;
            if (wire_next(&message, &value) != WIRE_OK || value.number != OTLP_VALUE_TEXT) return false;
            if (pass) protobuf_add_int(made->out, PPROF_COMMENT, intern_wire(made, value.bytes));
        }
    }
    return true;
}

/* Whether the attribute says something that profile.proto has a field for. */
static bool put_profile_attribute(struct translation *made) {
    static const struct {
        const char *key;
        unsigned field;
    } texts[] = {{OTLP_DOC_URL, PPROF_DOC}, {OTLP_DROP_FRAMES, PPROF_DROP}, {OTLP_KEEP_FRAMES, PPROF_KEEP}};
    const struct otlp_attribute *attribute = &made->attribute;
    if (size_of(attribute->unit)) return false;
    if (attribute->type == OTLP_VALUE_ARRAY && otlp_is_text(attribute->key, OTLP_COMMENT)) return put_comments(made);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && attribute->type == OTLP_VALUE_TEXT; i++) {
        if (!otlp_is_text(attribute->key, texts[i].key)) continue;
        put_text(made, texts[i].field, attribute->text);
        return true;
    }
    return false;
}

static int put_attributes(struct translation *made, const uint8_t *at) {
    struct otlp_numbers attributes = made->numbers;
    for (size_t i = 0; i < attributes.count; i++) {
        if (otlp_attribute_read(made->reader, (int32_t)attributes.list[i], at, &made->attribute) != 0) return -1;
        if (!put_profile_attribute(made) || made->group->has_part_label)
            otlp_attribute_add(&made->context, CONTEXT_ATTRIBUTE, &made->attribute);
    }
    return 0;
}

static enum wire_type type_of_field(uint64_t number) {
    if (number == OTLP_PROFILE_TIME) return WIRE_FIXED64;
    return number == OTLP_PROFILE_DURATION || number == OTLP_PROFILE_PERIOD || number == OTLP_PROFILE_DROPPED
               ? WIRE_VARINT
               : WIRE_BYTES;
}

/* What stands for itself goes into the context as it is, unless it is in the profile.proto and that alone is asked for. */
static void keep_field(struct buffer *out, const struct wire_field *field, bool keeps_head_too) {
    unsigned number = (unsigned)field->number;
    if (!keeps_head_too && number < OTLP_PROFILE_ID) return;
    if (field->type == WIRE_BYTES)
        protobuf_add_bytes(out, number, field->bytes.at, size_of(field->bytes));
    else if (field->type == WIRE_FIXED64)
        protobuf_add_fixed64(out, number, field->value);
    else
        protobuf_add_int(out, number, (int64_t)field->value);
}

static int put_head_field(struct translation *made, const struct wire *wire, const struct wire_field *field,
                          bool is_first, struct buffer *head) {
    static const unsigned fields[] = {[OTLP_PROFILE_TIME] = PPROF_TIME,
                                      [OTLP_PROFILE_DURATION] = PPROF_DURATION,
                                      [OTLP_PROFILE_PERIOD] = PPROF_PERIOD};
    uint64_t number = field->number;
    if (number < OTLP_PROFILE_TIME || number == OTLP_PROFILE_PERIOD_TYPE || number > OTLP_PROFILE_ATTRIBUTES) return 0;
    if (number == OTLP_PROFILE_ATTRIBUTES)
        return is_first ? otlp_add_numbers(made->reader, &made->numbers, wire, field, WIRE_VARINT) : 0;
    if (otlp_need(made->reader, wire, field, type_of_field(number)) != 0) return -1;
    if (is_first && field->type != WIRE_BYTES && number != OTLP_PROFILE_DROPPED)
        put_number(made->out, fields[number], field->value);
    keep_field(head, field, keeps_head(made->group));
    return 0;
}

static int put_heads(struct translation *made) {
    struct buffer heads = {0};
    bool has_any = false;
    int state = 0;
    made->numbers.count = 0;
    for (size_t i = 0; i < made->group->count && state == 0; i++) {
        struct wire profile = made->group->profiles[i];
        struct wire_field field = {0};
        size_t begin = protobuf_begin(&heads, CONTEXT_HEAD);
        while ((state = otlp_next(made->reader, &profile, &field)) == 1)
            if (put_head_field(made, &profile, &field, i == 0, &heads) != 0) break;
        if (state == 1) state = -1;
        has_any |= heads.size > begin;
        protobuf_end(&heads, begin);
    }
    if (has_any) buffer_add(&made->context, heads.data, heads.size);
    buffer_free(&heads);
    return state < 0 ? -1 : put_attributes(made, made->group->profiles[0].at);
}

static void put_default_type(struct translation *made) {
    const struct buffer *value = &made->group->head->default_type;
    const uint8_t *bytes = (const uint8_t *)value->data;
    struct wire message = {bytes, bytes + value->size};
    struct wire_field field = {0};
    if (!made->group->is_pprof || !value->size || wire_next(&message, &field) != WIRE_OK) return;
    if (field.number != OTLP_VALUE_TEXT) return;
    put_text(made, PPROF_DEFAULT, field.bytes);
    if (made->group->has_part_label)
        protobuf_add_bytes(&made->context, CONTEXT_DEFAULT_TYPE, field.bytes.at, size_of(field.bytes));
}

/* ---- the context ---- */

static void add_tag_groups(struct buffer *out, unsigned field, const struct otlp_tags *tags) {
    for (size_t i = 0; i < tags->groups.count; i++) {
        const struct map_entry *group = &tags->groups.entries[i];
        size_t begin = protobuf_begin(out, field);
        buffer_add(out, group->key, group->size);
        protobuf_add_bytes(out, TAGGED_HASHES, tags->hashes[i].data, tags->hashes[i].size);
        protobuf_end(out, begin);
    }
}

static void add_part(struct buffer *out, unsigned field, const void *bytes, size_t size) {
    if (size) protobuf_add_bytes(out, field, bytes, size);
}

/* A comment, where there is anything that the profile.proto does not have. */
static void put_context(struct translation *made) {
    const struct otlp_head *head = made->group->head;
    struct buffer *context = &made->context, comment = {0};
    add_part(context, CONTEXT_RESOURCE, head->resource.data, head->resource.size);
    add_part(context, CONTEXT_RESOURCE_SCHEMA, head->resource_schema.at, size_of(head->resource_schema));
    add_part(context, CONTEXT_SCOPE, head->scope.data, head->scope.size);
    add_part(context, CONTEXT_SCOPE_SCHEMA, head->scope_schema.at, size_of(head->scope_schema));
    add_tag_groups(context, CONTEXT_LOCATIONS, &made->location_tags);
    add_tag_groups(context, CONTEXT_MAPPINGS, &made->mapping_tags);
    if (made->group->is_pprof && !context->size && !made->group->has_part_label) return;
    if (made->group->is_pprof) protobuf_add_int(context, CONTEXT_IS_PPROF, 1);
    if (made->group->has_part_label) protobuf_add_int(context, CONTEXT_IS_WHOLE, 1);
    buffer_printf(&comment, OTLP_CONTEXT "%zu ", made->group->part);
    base64_add(&comment, context->data, context->size);
    protobuf_add_int(made->out, PPROF_COMMENT, intern(made, comment.data, comment.size));
    buffer_free(&comment);
}

/* ---- all of it ---- */

static int compare_indices(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* In the order of the dictionary: the first is the main binary. Of a file of one part all: one that no stack uses shows what was loaded. */
static int put_mappings(struct translation *made) {
    size_t count = made->group->has_all ? made->reader->tables[OTLP_MAPPINGS].count - 1 : made->mappings.count;
    int64_t *indices = xcalloc(count + 1, sizeof *indices);
    for (size_t i = 0; i < count; i++)
        indices[i] = made->group->has_all ? (int64_t)i + 1 : used(&made->mappings, i);
    qsort(indices, count, sizeof *indices, compare_indices);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = put_mapping(made, indices[i]);
    free(indices);
    return code;
}

static int translate(struct translation *made) {
    if (put_types(made) != 0 || put_samples(made) != 0) return -1;
    for (size_t i = 0; i < made->locations.count; i++)
        if (put_location(made, used(&made->locations, i)) != 0) return -1;
    for (size_t i = 0; i < made->functions.count; i++)
        if (put_function(made, used(&made->functions, i)) != 0) return -1;
    if (put_mappings(made) != 0 || put_heads(made) != 0) return -1;
    put_default_type(made);
    put_context(made);
    for (size_t i = 0; i < made->strings.count; i++)
        protobuf_add_bytes(made->out, PPROF_STRING, made->strings.entries[i].key, made->strings.entries[i].size);
    return 0;
}

static void free_tags(struct otlp_tags *tags) {
    for (size_t i = 0; i < tags->groups.count; i++)
        buffer_free(&tags->hashes[i]);
    free(tags->hashes);
    map_free(&tags->groups);
}

static void free_translation(struct translation *made) {
    for (size_t i = 0; i < made->group->count; i++)
        free_sample(&made->samples[i]);
    free(made->samples);
    map_free(&made->strings);
    map_free(&made->locations);
    map_free(&made->functions);
    map_free(&made->mappings);
    map_free(&made->labels);
    free(made->label_ranges.list);
    free(made->numbers.list);
    buffer_free(&made->label_bytes);
    buffer_free(&made->context);
    buffer_free(&made->sample);
    free_tags(&made->location_tags);
    free_tags(&made->mapping_tags);
    otlp_attribute_free(&made->attribute);
}

int otlp_write_pprof(struct otlp_reader *reader, const struct otlp_group *group, struct buffer *out) {
    struct translation made = {.reader = reader, .group = group, .out = out};
    made.samples = xcalloc(group->count, sizeof *made.samples);
    (void)intern(&made, "", 0);
    reader->profile = group->first_number;
    int code = translate(&made);
    reader->profile = 0;
    free_translation(&made);
    return code;
}
