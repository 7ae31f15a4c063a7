#include "export/otlp/otlp_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/otlp_identity.h"
#include "base/protobuf.h"
#include "export/format.h"

/* Samples of one stack and the same attributes that differ in their time alone are one sample. */
struct otlp_observations {
    struct map common; /* stack, attributes and link -> index in `lists` */
    struct otlp_times {
        struct buffer values, times;
        bool counts_only; /* each value is 1, which need not be said */
    } * lists;
};

/* One part of a profile: what was one profile in a file of OTLP, or the N profiles of a profile of N sample types. */
struct otlp_part {
    const struct otlp_context *context; /* NULL: none was kept */
    bool is_pprof;
    size_t *types; /* of the profile, one for each that is written */
    size_t type_count;
    struct buffer *samples; /* of each */
    struct otlp_observations observations;
};

struct otlp_writer {
    struct otlp_dictionary dictionary;
    struct buffer *out;
    struct buffer last_head, resource; /* the ResourceProfiles that is open, and what tells it from another */
    const struct profile *profile;
    struct otlp_context *contexts; /* of the profile */
    size_t context_count;
    int64_t *functions, *locations, *mappings, *stacks; /* [index]: in the dictionary, -1 not yet, of this part */
    struct otlp_labels labels;
    struct buffer message, list; /* scratch */
};

static void put_wire(struct buffer *out, unsigned field, struct wire bytes) {
    size_t size = wire_size(bytes);
    if (size) protobuf_add_bytes(out, field, bytes.at, size);
}

static void put_list(struct buffer *out, unsigned field, const struct buffer *list) {
    if (list->size) protobuf_add_bytes(out, field, list->data, list->size);
}

static int64_t intern_message(struct otlp_writer *writer, enum otlp_table table) {
    int64_t index = otlp_intern(&writer->dictionary, table, writer->message.data, writer->message.size);
    buffer_clear(&writer->message);
    return index;
}

static void add_attribute(struct otlp_writer *writer, struct buffer *list, const char *key, struct buffer *value) {
    protobuf_add_varint(list, (uint64_t)otlp_intern_attribute(&writer->dictionary, key, value, ""));
    buffer_free(value);
}

static void add_text(struct otlp_writer *writer, struct buffer *list, const char *key, const char *text) {
    struct buffer value = {0};
    if (!*text) return;
    protobuf_add_text(&value, OTLP_VALUE_TEXT, text);
    add_attribute(writer, list, key, &value);
}

static void add_true(struct otlp_writer *writer, struct buffer *list, const char *key, bool is_true) {
    struct buffer value = {0};
    if (!is_true) return;
    protobuf_add_int(&value, OTLP_VALUE_BOOL, 1);
    add_attribute(writer, list, key, &value);
}

/* ---- names and stacks ---- */

static uint64_t hash_of_mapping(const struct profile_mapping *mapping) {
    return otlp_hash_mapping(mapping->file, mapping->build_id, mapping->start, mapping->limit, mapping->offset);
}

static void add_tags(const struct otlp_part *part, const struct map *tags, uint64_t hash, struct buffer *list) {
    const struct buffer *more = part->context ? otlp_tags_of(part->context, tags, hash) : NULL;
    if (more && more->size) buffer_add(list, more->data, more->size);
}

static int64_t mapping_index(struct otlp_writer *writer, const struct otlp_part *part, uint32_t index) {
    static const char *const flags[] = OTLP_MAPPING_FLAGS;
    if (writer->mappings[index] >= 0) return writer->mappings[index];
    const struct profile_mapping *mapping = &writer->profile->mappings[index];
    const bool has[] = {mapping->has_functions, mapping->has_filenames, mapping->has_line_numbers,
                        mapping->has_inline_frames};
    buffer_clear(&writer->list);
    add_text(writer, &writer->list, OTLP_BUILD_ID, mapping->build_id);
    for (size_t i = 0; i < OTLP_MAPPING_FLAG_COUNT; i++)
        add_true(writer, &writer->list, flags[i], has[i]);
    if (part->context) add_tags(part, &part->context->mappings, hash_of_mapping(mapping), &writer->list);
    protobuf_add_nonzero(&writer->message, OTLP_MAPPING_START, mapping->start);
    protobuf_add_nonzero(&writer->message, OTLP_MAPPING_LIMIT, mapping->limit);
    protobuf_add_nonzero(&writer->message, OTLP_MAPPING_OFFSET, mapping->offset);
    protobuf_add_nonzero(&writer->message, OTLP_MAPPING_FILE,
                         (uint64_t)otlp_intern_text(&writer->dictionary, mapping->file));
    put_list(&writer->message, OTLP_MAPPING_ATTRIBUTES, &writer->list);
    return writer->mappings[index] = intern_message(writer, OTLP_MAPPINGS);
}

static int64_t function_index(struct otlp_writer *writer, uint32_t index) {
    if (writer->functions[index] >= 0) return writer->functions[index];
    struct otlp_dictionary *dictionary = &writer->dictionary;
    const struct profile_function *function = &writer->profile->functions[index];
    struct buffer message = {0};
    protobuf_add_nonzero(&message, OTLP_FUNCTION_NAME, (uint64_t)otlp_intern_text(dictionary, function->name));
    protobuf_add_nonzero(&message, OTLP_FUNCTION_SYSTEM_NAME,
                         (uint64_t)otlp_intern_text(dictionary, function->system_name));
    protobuf_add_nonzero(&message, OTLP_FUNCTION_FILE, (uint64_t)otlp_intern_text(dictionary, function->file));
    protobuf_add_nonzero(&message, OTLP_FUNCTION_START, (uint64_t)function->start_line);
    writer->functions[index] = otlp_intern(dictionary, OTLP_FUNCTIONS, message.data, message.size);
    buffer_free(&message);
    return writer->functions[index];
}

static uint64_t hash_of_location(const struct profile *profile, const struct profile_location *location) {
    uint64_t mapping = location->mapping == PROFILE_NONE ? 0 : hash_of_mapping(&profile->mappings[location->mapping]);
    uint64_t hash = otlp_hash_location(mapping, location->address);
    for (uint32_t i = 0; i < location->line_count && !location->address; i++) {
        const struct profile_line *line = &profile->lines[location->first_line + i];
        const struct profile_function *function = &profile->functions[line->function];
        hash = otlp_hash_line(hash, function->name, function->file, line->line, line->column);
    }
    return hash;
}

static void put_lines(struct otlp_writer *writer, const struct profile_location *location) {
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &writer->profile->lines[location->first_line + i];
        size_t begin = protobuf_begin(&writer->message, OTLP_LOCATION_LINES);
        protobuf_add_nonzero(&writer->message, OTLP_LINE_FUNCTION, (uint64_t)function_index(writer, line->function));
        protobuf_add_nonzero(&writer->message, OTLP_LINE_LINE, (uint64_t)line->line);
        protobuf_add_nonzero(&writer->message, OTLP_LINE_COLUMN, (uint64_t)line->column);
        protobuf_end(&writer->message, begin);
    }
}

static int64_t location_index(struct otlp_writer *writer, const struct otlp_part *part, uint32_t index) {
    if (writer->locations[index] >= 0) return writer->locations[index];
    const struct profile_location *location = &writer->profile->locations[index];
    int64_t mapping = location->mapping == PROFILE_NONE ? 0 : mapping_index(writer, part, location->mapping);
    protobuf_add_nonzero(&writer->message, OTLP_LOCATION_MAPPING, (uint64_t)mapping);
    protobuf_add_nonzero(&writer->message, OTLP_LOCATION_ADDRESS, location->address);
    put_lines(writer, location);
    buffer_clear(&writer->list);
    add_true(writer, &writer->list, OTLP_IS_FOLDED, location->is_folded);
    if (part->context && part->context->locations.count)
        add_tags(part, &part->context->locations, hash_of_location(writer->profile, location), &writer->list);
    put_list(&writer->message, OTLP_LOCATION_ATTRIBUTES, &writer->list);
    return writer->locations[index] = intern_message(writer, OTLP_LOCATIONS);
}

static int64_t stack_index(struct otlp_writer *writer, const struct otlp_part *part, uint32_t index) {
    if (writer->stacks[index] >= 0) return writer->stacks[index];
    const struct profile_stack *stack = &writer->profile->stacks[index];
    struct buffer list = {0};
    for (uint32_t i = 0; i < stack->depth; i++)
        protobuf_add_varint(&list, (uint64_t)location_index(writer, part, writer->profile->frames[stack->first + i]));
    put_list(&writer->message, OTLP_STACK_LOCATIONS, &list);
    buffer_free(&list);
    return writer->stacks[index] = intern_message(writer, OTLP_STACKS);
}

/* ---- samples ---- */

static void put_value(struct buffer *out, const struct buffer *common, int64_t value) {
    struct buffer values = {0};
    size_t begin = protobuf_begin(out, OTLP_PROFILE_SAMPLES);
    buffer_add(out, buffer_text(common), common->size);
    protobuf_add_varint(&values, (uint64_t)value);
    put_list(out, OTLP_SAMPLE_VALUES, &values);
    protobuf_end(out, begin);
    buffer_free(&values);
}

static void observe(struct otlp_observations *observations, const struct buffer *common, int64_t time, int64_t value) {
    bool added;
    struct map_entry *entry = map_put(&observations->common, buffer_text(common), common->size, &added);
    if (added) {
        entry->value = (int64_t)observations->common.count - 1;
        observations->lists = xrealloc(observations->lists, observations->common.count * sizeof *observations->lists);
        observations->lists[entry->value] = (struct otlp_times){.counts_only = true};
    }
    struct otlp_times *lists = &observations->lists[entry->value];
    lists->counts_only &= value == 1;
    protobuf_add_varint(&lists->values, (uint64_t)value);
    buffer_add(&lists->times, &time, sizeof time);
}

static void put_observations(struct otlp_part *part) {
    struct otlp_observations *observations = &part->observations;
    for (size_t i = 0; i < observations->common.count; i++) {
        struct otlp_times *lists = &observations->lists[i];
        size_t begin = protobuf_begin(part->samples, OTLP_PROFILE_SAMPLES);
        buffer_add(part->samples, observations->common.entries[i].key, observations->common.entries[i].size);
        if (!lists->counts_only) put_list(part->samples, OTLP_SAMPLE_VALUES, &lists->values);
        put_list(part->samples, OTLP_SAMPLE_TIMES, &lists->times);
        protobuf_end(part->samples, begin);
        buffer_free(&lists->values);
        buffer_free(&lists->times);
    }
    free(observations->lists);
    map_free(&observations->common);
}

static void put_sample(struct otlp_writer *writer, struct otlp_part *part, size_t index) {
    const struct profile_sample *sample = &writer->profile->samples[index];
    struct buffer common = {0};
    protobuf_add_nonzero(&common, OTLP_SAMPLE_STACK, (uint64_t)stack_index(writer, part, sample->stack));
    otlp_labels_of(&writer->dictionary, writer->profile, sample->labels, part->is_pprof, &writer->labels);
    put_list(&common, OTLP_SAMPLE_ATTRIBUTES, &writer->labels.attributes);
    protobuf_add_nonzero(&common, OTLP_SAMPLE_LINK, (uint64_t)writer->labels.link);
    if (writer->labels.has_time)
        observe(&part->observations, &common, writer->labels.time,
                profile_value(writer->profile, index, part->types[0]));
    for (size_t i = 0; i < part->type_count && !writer->labels.has_time; i++)
        put_value(&part->samples[i], &common, profile_value(writer->profile, index, part->types[i]));
    buffer_free(&common);
}

/* ---- a profile ---- */

static void put_type(struct otlp_writer *writer, struct buffer *out, unsigned field, const struct profile_type *type) {
    size_t begin = protobuf_begin(out, field);
    protobuf_add_nonzero(out, OTLP_TYPE_NAME, (uint64_t)otlp_intern_text(&writer->dictionary, type->type));
    protobuf_add_nonzero(out, OTLP_TYPE_UNIT, (uint64_t)otlp_intern_text(&writer->dictionary, type->unit));
    protobuf_end(out, begin);
}

static void add_comments(struct otlp_writer *writer, struct buffer *list) {
    const struct profile *profile = writer->profile;
    struct buffer value = {0};
    size_t count = 0, array = protobuf_begin(&value, OTLP_VALUE_ARRAY);
    for (size_t i = 0; i < profile->comment_count; i++) {
        if (otlp_is_context(profile->comments[i])) continue;
        size_t element = protobuf_begin(&value, 1);
        protobuf_add_text(&value, OTLP_VALUE_TEXT, profile->comments[i]);
        protobuf_end(&value, element);
        count++;
    }
    protobuf_end(&value, array);
    if (count)
        add_attribute(writer, list, OTLP_COMMENT, &value);
    else
        buffer_free(&value);
}

/* Whether the context says all that the head of the profile does. */
static bool has_own_head(const struct otlp_part *part) {
    return !part->is_pprof || (part->context && part->context->is_whole);
}

static void put_attributes(struct otlp_writer *writer, const struct otlp_part *part, struct buffer *out) {
    struct buffer list = {0};
    if (!part->context || !part->context->is_whole) {
        add_comments(writer, &list);
        add_text(writer, &list, OTLP_DOC_URL, writer->profile->doc_url);
        add_text(writer, &list, OTLP_DROP_FRAMES, writer->profile->drop_frames);
        add_text(writer, &list, OTLP_KEEP_FRAMES, writer->profile->keep_frames);
    }
    if (part->context) buffer_add(&list, buffer_text(&part->context->attributes), part->context->attributes.size);
    put_list(out, OTLP_PROFILE_ATTRIBUTES, &list);
    buffer_free(&list);
}

/* The types of the context are texts; here they are indices. */
static void put_kept_type(struct otlp_writer *writer, struct buffer *out, unsigned field, struct wire type) {
    struct wire parts[OTLP_TYPE_UNIT + 1] = {0};
    struct wire_field one = {0};
    while (wire_next(&type, &one) == WIRE_OK)
        if (one.number <= OTLP_TYPE_UNIT && one.type == WIRE_BYTES) parts[one.number] = one.bytes;
    size_t begin = protobuf_begin(out, field);
    for (unsigned i = OTLP_TYPE_NAME; i <= OTLP_TYPE_UNIT; i++)
        protobuf_add_nonzero(
            out, i, (uint64_t)otlp_intern(&writer->dictionary, OTLP_STRINGS, parts[i].at, wire_size(parts[i])));
    protobuf_end(out, begin);
}

static void put_head(struct otlp_writer *writer, const struct otlp_part *part, size_t number, struct buffer *out) {
    const struct profile *profile = writer->profile;
    const struct otlp_context *context = part->context;
    const struct profile_type *period = &profile->period_type;
    if (!has_own_head(part)) {
        if (profile->time_ns) protobuf_add_fixed64(out, OTLP_PROFILE_TIME, (uint64_t)profile->time_ns);
        protobuf_add_nonzero(out, OTLP_PROFILE_DURATION, (uint64_t)profile->duration_ns);
        if (*period->type || *period->unit) put_type(writer, out, OTLP_PROFILE_PERIOD_TYPE, period);
        protobuf_add_nonzero(out, OTLP_PROFILE_PERIOD, (uint64_t)profile->period);
    } else if (context->period_type.at != context->period_type.end) {
        put_kept_type(writer, out, OTLP_PROFILE_PERIOD_TYPE, context->period_type);
    }
    if (context && number < context->head_count)
        buffer_add(out, context->heads[number].at, wire_size(context->heads[number]));
    put_attributes(writer, part, out);
}

static void put_profile(struct otlp_writer *writer, const struct otlp_part *part, size_t number, struct buffer *out) {
    size_t begin = protobuf_begin(out, SCOPE_PROFILES);
    if (number < part->type_count)
        put_type(writer, out, OTLP_PROFILE_TYPE, &writer->profile->types[part->types[number]]);
    if (number < part->type_count) buffer_add(out, buffer_text(&part->samples[number]), part->samples[number].size);
    put_head(writer, part, number, out);
    protobuf_end(out, begin);
}

/* ---- scopes and resources ---- */

/* An attribute of a scope: KeyValue. */
static size_t begin_scope_attribute(struct buffer *out, const char *key, size_t *value) {
    size_t begin = protobuf_begin(out, SCOPE_ATTRIBUTES);
    protobuf_add_text(out, KEY_VALUE_KEY, key);
    *value = protobuf_begin(out, KEY_VALUE_VALUE);
    return begin;
}

static void put_order(const struct otlp_part *part, struct buffer *out) {
    size_t value, begin = begin_scope_attribute(out, OTLP_TYPE_ORDER, &value);
    size_t array = protobuf_begin(out, OTLP_VALUE_ARRAY);
    for (size_t i = 0; i < part->type_count; i++) {
        size_t element = protobuf_begin(out, 1);
        protobuf_add_int(out, OTLP_VALUE_INT, (int64_t)i);
        protobuf_end(out, element);
    }
    protobuf_end(out, array);
    protobuf_end(out, value);
    protobuf_end(out, begin);
}

static void put_scope(struct otlp_writer *writer, const struct otlp_part *part, struct buffer *out) {
    bool is_whole = part->context && part->context->is_whole;
    const char *text = writer->profile->default_type;
    struct wire default_type = {(const uint8_t *)text, (const uint8_t *)text + strlen(text)};
    if (is_whole) default_type = part->context->default_type;
    size_t value, begin = protobuf_begin(out, SCOPE_SCOPE);
    if (part->context) buffer_add(out, part->context->scope.at, wire_size(part->context->scope));
    if (part->is_pprof) put_order(part, out);
    if (part->is_pprof && default_type.at != default_type.end) {
        size_t attribute = begin_scope_attribute(out, OTLP_DEFAULT_TYPE, &value);
        put_wire(out, OTLP_VALUE_TEXT, default_type);
        protobuf_end(out, value);
        protobuf_end(out, attribute);
    }
    protobuf_end(out, begin);
}

/* Ends the ResourceProfiles that is open. */
static void end_resource(struct otlp_writer *writer) {
    if (writer->resource.size)
        protobuf_add_bytes(writer->out, OTLP_RESOURCES, writer->resource.data, writer->resource.size);
    buffer_clear(&writer->resource);
}

/* Parts of one resource, one behind the other, stay together. */
static void begin_resource(struct otlp_writer *writer, const struct otlp_part *part) {
    struct buffer head = {0};
    const struct otlp_context *context = part->context;
    if (context) put_wire(&head, RESOURCE_RESOURCE, context->resource);
    if (context) put_wire(&head, RESOURCE_SCHEMA, context->resource_schema);
    bool is_same = writer->resource.size && head.size == writer->last_head.size &&
                   memcmp(buffer_text(&head), buffer_text(&writer->last_head), head.size) == 0;
    if (!is_same) {
        end_resource(writer);
        buffer_add(&writer->resource, buffer_text(&head), head.size);
    }
    buffer_free(&writer->last_head);
    writer->last_head = head;
}

static void put_scope_profiles(struct otlp_writer *writer, const struct otlp_part *part) {
    size_t begin = protobuf_begin(&writer->resource, RESOURCE_SCOPES);
    put_scope(writer, part, &writer->resource);
    /* Without a sample type there is one all the same, for what the profile says of itself. */
    for (size_t i = 0; i < part->type_count || i == 0; i++)
        put_profile(writer, part, i, &writer->resource);
    if (part->context) put_wire(&writer->resource, SCOPE_SCHEMA, part->context->scope_schema);
    protobuf_end(&writer->resource, begin);
}

/* ---- parts ---- */

/* The type that the context names, else the first. */
static size_t find_type(const struct profile *profile, struct wire named) {
    for (size_t i = 0; i < profile->type_count; i++) {
        struct wire type = named;
        struct wire_field one = {0};
        const char *const wanted[] = {NULL, profile->types[i].type, profile->types[i].unit};
        bool is_same = true;
        while (wire_next(&type, &one) == WIRE_OK)
            if (one.number <= OTLP_TYPE_UNIT && one.type == WIRE_BYTES)
                is_same &= strlen(wanted[one.number]) == wire_size(one.bytes) &&
                           memcmp(wanted[one.number], one.bytes.at, strlen(wanted[one.number])) == 0;
        if (is_same) return i;
    }
    return 0;
}

static void forget_indices(struct otlp_writer *writer) {
    const struct profile *profile = writer->profile;
    memset(writer->functions, -1, (profile->function_count + 1) * sizeof *writer->functions);
    memset(writer->locations, -1, (profile->location_count + 1) * sizeof *writer->locations);
    memset(writer->mappings, -1, (profile->mapping_count + 1) * sizeof *writer->mappings);
    memset(writer->stacks, -1, (profile->stack_count + 1) * sizeof *writer->stacks);
}

static void choose_types(struct otlp_writer *writer, struct otlp_part *part) {
    const struct profile *profile = writer->profile;
    part->is_pprof = !part->context || part->context->is_pprof || profile->type_count == 0;
    bool is_named = has_own_head(part) && part->context->type_count && profile->type_count;
    part->type_count = is_named ? part->context->type_count : part->is_pprof ? profile->type_count : 1;
    part->types = xcalloc(part->type_count + 1, sizeof *part->types);
    part->samples = xcalloc(part->type_count + 1, sizeof *part->samples);
    for (size_t i = 0; i < part->type_count; i++)
        part->types[i] = is_named ? find_type(profile, part->context->types[i]) : part->is_pprof ? i : 0;
}

/* Which samples are of the part: all of a profile that has only one; of no part in particular are those of the first. */
static bool is_of_part(const struct otlp_writer *writer, size_t number, size_t sample) {
    if (writer->context_count < 2) return true;
    int64_t named = otlp_part_of(writer->profile, writer->profile->samples[sample].labels);
    if (named == writer->contexts[number].part) return true;
    if (number) return false;
    for (size_t i = 0; i < writer->context_count; i++)
        if (writer->contexts[i].part == named) return false;
    return true;
}

static void put_part(struct otlp_writer *writer, size_t number) {
    struct otlp_part part = {.context = writer->context_count ? &writer->contexts[number] : NULL};
    const struct profile *profile = writer->profile;
    forget_indices(writer);
    choose_types(writer, &part);
    for (uint32_t i = 0; i < profile->mapping_count && writer->context_count < 2; i++)
        (void)mapping_index(writer, &part, i);
    for (size_t i = 0; i < profile->sample_count; i++)
        if (is_of_part(writer, number, i)) put_sample(writer, &part, i);
    put_observations(&part);
    begin_resource(writer, &part);
    put_scope_profiles(writer, &part);
    for (size_t i = 0; i < part.type_count; i++)
        buffer_free(&part.samples[i]);
    free(part.samples);
    free(part.types);
}

/* What was kept of several runs may have one number twice, and is then of neither. */
static void read_contexts(struct otlp_writer *writer) {
    const struct profile *profile = writer->profile;
    bool is_clear = true;
    for (size_t i = 0; i < profile->comment_count; i++) {
        if (!otlp_is_context(profile->comments[i])) continue;
        writer->contexts = xrealloc(writer->contexts, (writer->context_count + 1) * sizeof *writer->contexts);
        struct otlp_context *context = &writer->contexts[writer->context_count++];
        is_clear &= otlp_context_read(context, profile->comments[i], &writer->dictionary);
        for (size_t j = 0; j + 1 < writer->context_count; j++)
            is_clear &= writer->contexts[j].part != context->part;
    }
    for (size_t i = 0; i < writer->context_count && !is_clear; i++)
        otlp_context_free(&writer->contexts[i]);
    if (!is_clear) writer->context_count = 0;
}

static void put_parts(struct otlp_writer *writer, const struct profile *profile) {
    writer->profile = profile;
    writer->functions = xcalloc(profile->function_count + 1, sizeof *writer->functions);
    writer->locations = xcalloc(profile->location_count + 1, sizeof *writer->locations);
    writer->mappings = xcalloc(profile->mapping_count + 1, sizeof *writer->mappings);
    writer->stacks = xcalloc(profile->stack_count + 1, sizeof *writer->stacks);
    read_contexts(writer);
    for (size_t i = 0; i < writer->context_count || i == 0; i++)
        put_part(writer, i);
    for (size_t i = 0; i < writer->context_count; i++)
        otlp_context_free(&writer->contexts[i]);
    free(writer->contexts);
    writer->contexts = NULL;
    writer->context_count = 0;
    free(writer->functions);
    free(writer->locations);
    free(writer->mappings);
    free(writer->stacks);
}

static void put_dictionary(struct otlp_writer *writer) {
    size_t begin = protobuf_begin(writer->out, OTLP_DICTIONARY);
    for (unsigned table = 1; table < OTLP_TABLES_END; table++) {
        const struct map *map = &writer->dictionary.tables[table];
        for (size_t i = 0; i < map->count; i++)
            protobuf_add_bytes(writer->out, table, map->entries[i].key, map->entries[i].size);
    }
    protobuf_end(writer->out, begin);
}

int otlp_write(const struct profile *profiles, size_t count, struct buffer *out, struct error *err) {
    struct otlp_writer writer = {.out = out};
    otlp_dictionary_init(&writer.dictionary);
    for (size_t i = 0; i < count; i++)
        put_parts(&writer, &profiles[i]);
    end_resource(&writer);
    put_dictionary(&writer);
    bool is_too_much = false;
    for (int table = 1; table < OTLP_TABLES_END; table++)
        is_too_much |= writer.dictionary.tables[table].count > INT32_MAX;
    otlp_dictionary_free(&writer.dictionary);
    buffer_free(&writer.last_head);
    buffer_free(&writer.resource);
    buffer_free(&writer.labels.attributes);
    buffer_free(&writer.message);
    buffer_free(&writer.list);
    return is_too_much ? error_fail(err, "an OTLP dictionary of more than 2147483647 elements") : 0;
}
