#include "base/base64.h"
#include "ingest/read/otlp/translation.h"

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
    protobuf_add_nonzero(made->out, OTLP_TYPE_NAME, (uint64_t)translation_intern_wire(made, name));
    protobuf_add_nonzero(made->out, OTLP_TYPE_UNIT, (uint64_t)translation_intern_wire(made, unit));
    protobuf_end(made->out, begin);
}

static void add_context_type(struct translation *made, unsigned field, struct wire name, struct wire unit) {
    size_t begin = protobuf_begin(&made->context, field);
    protobuf_add_bytes(&made->context, OTLP_TYPE_NAME, name.at, wire_size(name));
    protobuf_add_bytes(&made->context, OTLP_TYPE_UNIT, unit.at, wire_size(unit));
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

int translation_put_types(struct translation *made) {
    struct wire name, unit;
    for (size_t i = 0; i < made->group->count && has_types(made->group); i++) {
        if (otlp_read_type(made->reader, made->group->profiles[i], OTLP_PROFILE_TYPE, &name, &unit) != 0) return -1;
        put_type(made, PROFILE_SAMPLE_TYPE, name, unit);
        if (keeps_head(made->group)) add_context_type(made, CONTEXT_TYPE, name, unit);
    }
    if (otlp_read_type(made->reader, made->group->profiles[0], OTLP_PROFILE_PERIOD_TYPE, &name, &unit) != 0) return -1;
    if (wire_size(name) || wire_size(unit)) put_type(made, PROFILE_PERIOD_TYPE, name, unit);
    if (keeps_head(made->group) && (wire_size(name) || wire_size(unit)))
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
            if (pass) protobuf_add_int(made->out, PROFILE_COMMENT, translation_intern_wire(made, value.bytes));
        }
    }
    return true;
}

/* Whether the attribute says something that profile.proto has a field for. */
static bool put_profile_attribute(struct translation *made) {
    static const struct {
        const char *key;
        unsigned field;
    } texts[] = {{OTLP_DOC_URL, PROFILE_DOC_URL},
                 {OTLP_DROP_FRAMES, PROFILE_DROP_FRAMES},
                 {OTLP_KEEP_FRAMES, PROFILE_KEEP_FRAMES}};
    const struct otlp_attribute *attribute = &made->attribute;
    if (wire_size(attribute->unit)) return false;
    if (attribute->type == OTLP_VALUE_ARRAY && otlp_is_text(attribute->key, OTLP_COMMENT)) return put_comments(made);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && attribute->type == OTLP_VALUE_TEXT; i++) {
        if (!otlp_is_text(attribute->key, texts[i].key)) continue;
        translation_put_text(made, texts[i].field, attribute->text);
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
        protobuf_add_bytes(out, number, field->bytes.at, wire_size(field->bytes));
    else if (field->type == WIRE_FIXED64)
        protobuf_add_fixed64(out, number, field->value);
    else
        protobuf_add_int(out, number, (int64_t)field->value);
}

static int put_head_field(struct translation *made, const struct wire *wire, const struct wire_field *field,
                          bool is_first, struct buffer *head) {
    static const unsigned fields[] = {[OTLP_PROFILE_TIME] = PROFILE_TIME,
                                      [OTLP_PROFILE_DURATION] = PROFILE_DURATION,
                                      [OTLP_PROFILE_PERIOD] = PROFILE_PERIOD};
    uint64_t number = field->number;
    if (number < OTLP_PROFILE_TIME || number == OTLP_PROFILE_PERIOD_TYPE || number > OTLP_PROFILE_ATTRIBUTES) return 0;
    if (number == OTLP_PROFILE_ATTRIBUTES)
        return is_first ? otlp_add_numbers(made->reader, &made->numbers, wire, field, WIRE_VARINT) : 0;
    if (otlp_need(made->reader, wire, field, type_of_field(number)) != 0) return -1;
    if (is_first && field->type != WIRE_BYTES && number != OTLP_PROFILE_DROPPED)
        protobuf_add_nonzero(made->out, fields[number], field->value);
    keep_field(head, field, keeps_head(made->group));
    return 0;
}

int translation_put_heads(struct translation *made) {
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

void translation_put_default_type(struct translation *made) {
    const struct buffer *value = &made->group->head->default_type;
    const uint8_t *bytes = (const uint8_t *)value->data;
    struct wire message = {bytes, bytes + value->size};
    struct wire_field field = {0};
    if (!made->group->is_pprof || !value->size || wire_next(&message, &field) != WIRE_OK) return;
    if (field.number != OTLP_VALUE_TEXT) return;
    translation_put_text(made, PROFILE_DEFAULT_TYPE, field.bytes);
    if (made->group->has_part_label)
        protobuf_add_bytes(&made->context, CONTEXT_DEFAULT_TYPE, field.bytes.at, wire_size(field.bytes));
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

void translation_put_context(struct translation *made) {
    const struct otlp_head *head = made->group->head;
    struct buffer *context = &made->context, comment = {0};
    if (made->group->is_bare) return;
    add_part(context, CONTEXT_RESOURCE, head->resource.data, head->resource.size);
    add_part(context, CONTEXT_RESOURCE_SCHEMA, head->resource_schema.at, wire_size(head->resource_schema));
    add_part(context, CONTEXT_SCOPE, head->scope.data, head->scope.size);
    add_part(context, CONTEXT_SCOPE_SCHEMA, head->scope_schema.at, wire_size(head->scope_schema));
    add_tag_groups(context, CONTEXT_LOCATIONS, &made->location_tags);
    add_tag_groups(context, CONTEXT_MAPPINGS, &made->mapping_tags);
    if (made->group->is_pprof && !context->size && !made->group->has_part_label) return;
    if (made->group->is_pprof) protobuf_add_int(context, CONTEXT_IS_PPROF, 1);
    if (made->group->has_part_label) protobuf_add_int(context, CONTEXT_IS_WHOLE, 1);
    buffer_printf(&comment, OTLP_CONTEXT "%zu ", made->group->part);
    base64_add(&comment, context->data, context->size);
    protobuf_add_int(made->out, PROFILE_COMMENT, translation_intern(made, comment.data, comment.size));
    buffer_free(&comment);
}
