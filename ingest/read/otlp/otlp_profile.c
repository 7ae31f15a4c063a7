/* otlp_profile.c: a profile of a file, or several that belong together, as one profile.proto. */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/read/otlp/translation.h"

static int64_t used(const struct map *map, size_t place) {
    int64_t index;
    memcpy(&index, map->entries[place].key, sizeof index);
    return index;
}

/* ---- samples ---- */

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
    if (made->numbers.count > OTLP_DEPTH_MAX)
        return otlp_fail(made->reader, start, "a stack of more than 65536 frames");
    size_t begin = protobuf_begin(&made->sample, SAMPLE_LOCATION);
    for (size_t i = 0; i < made->numbers.count; i++) {
        int64_t location = (int32_t)made->numbers.list[i];
        struct wire ignored;
        if (otlp_item(made->reader, OTLP_LOCATIONS, location, "location index", start, &ignored) != 0) return -1;
        translation_use(&made->locations, location);
        protobuf_add_varint(&made->sample, (uint64_t)location + 1);
    }
    protobuf_end(&made->sample, begin);
    return 0;
}

static void put_time_label(struct translation *made, int64_t time) {
    translation_put_label(made, &made->sample, OTLP_TIME_LABEL, (struct wire){0}, time, wire_of(OTLP_TIME_UNIT));
}

static void put_part_label(struct translation *made) {
    char number[24];
    snprintf(number, sizeof number, "%zu", made->group->part);
    translation_put_label(made, &made->sample, OTLP_PART_LABEL, wire_of(number), 0, (struct wire){0});
}

/* What the samples of the group have in common: their stack, attributes and link. */
static int put_common(struct translation *made, const struct otlp_sample *sample, const uint8_t *at) {
    buffer_clear(&made->sample);
    if (put_stack(made, sample->stack, at) != 0) return -1;
    for (size_t i = 0; i < sample->attributes.count; i++)
        if (translation_put_labels(made, (int32_t)sample->attributes.list[i], at) != 0) return -1;
    if (sample->link && translation_put_labels(made, ~sample->link, at) != 0) return -1;
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
    size_t begin = protobuf_begin(&made->sample, SAMPLE_VALUE);
    for (size_t i = 0; i < count; i++)
        protobuf_add_varint(&made->sample, (uint64_t)values[i]);
    protobuf_end(&made->sample, begin);
    protobuf_add_bytes(made->out, PROFILE_SAMPLE, made->sample.data, made->sample.size);
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
    int64_t values[INGEST_TYPES_MAX];
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        code = otlp_sample_read(made->reader, messages[i], &made->samples[i]);
        if (code == 0) code = sum_values(made, &made->samples[i], messages[i].at, &values[i]);
    }
    if (code == 0) code = put_common(made, &made->samples[0], messages[0].at);
    if (code == 0 && made->samples[0].times.count)
        put_observations(made, &made->samples[0]);
    else if (code == 0)
        put_values(made, values, count);
    return code;
}

static int put_samples(struct translation *made) {
    size_t count = made->group->count;
    struct wire at[INGEST_TYPES_MAX], messages[INGEST_TYPES_MAX];
    memcpy(at, made->group->profiles, count * sizeof *at);
    int state;
    made->reader->sample = 0;
    while ((state = otlp_samples_next(made->reader, at, count, messages)) == 1)
        if (put_sample(made, messages) != 0) {
            state = -1;
            break;
        }
    made->reader->sample = 0;
    return state < 0 ? -1 : 0;
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
        code = translation_put_mapping(made, indices[i]);
    free(indices);
    return code;
}

static int translate(struct translation *made) {
    if (translation_put_types(made) != 0 || put_samples(made) != 0) return -1;
    for (size_t i = 0; i < made->locations.count; i++)
        if (translation_put_location(made, used(&made->locations, i)) != 0) return -1;
    for (size_t i = 0; i < made->functions.count; i++)
        if (translation_put_function(made, used(&made->functions, i)) != 0) return -1;
    if (put_mappings(made) != 0 || translation_put_heads(made) != 0) return -1;
    translation_put_default_type(made);
    translation_put_context(made);
    for (size_t i = 0; i < made->strings.count; i++)
        protobuf_add_bytes(made->out, PROFILE_STRING, made->strings.entries[i].key, made->strings.entries[i].size);
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
        otlp_sample_free(&made->samples[i]);
    free(made->samples);
    map_free(&made->strings);
    map_free(&made->locations);
    map_free(&made->functions);
    map_free(&made->mappings);
    map_free(&made->labels);
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
    (void)translation_intern(&made, "", 0);
    reader->profile = group->first_number;
    int code = translate(&made);
    reader->profile = 0;
    free_translation(&made);
    return code;
}
