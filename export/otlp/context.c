#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/protobuf.h"
#include "export/otlp/otlp_write.h"

bool otlp_is_context(const char *comment) {
    size_t prefix = strlen(OTLP_CONTEXT);
    if (strncmp(comment, OTLP_CONTEXT, prefix) != 0) return false;
    size_t digits = strspn(comment + prefix, "0123456789");
    return digits > 0 && digits < 10 && comment[prefix + digits] == ' ';
}

static bool add_index(struct otlp_dictionary *dictionary, struct wire attribute, struct buffer *indices) {
    int64_t index = otlp_intern_whole(dictionary, attribute);
    if (index >= 0) protobuf_add_varint(indices, (uint64_t)index);
    return index >= 0;
}

/* The first attributes of a hash count. */
static bool read_tags(struct otlp_context *context, struct wire message, struct map *map,
                      struct otlp_dictionary *dictionary) {
    struct wire_field field = {0};
    enum wire_state state;
    context->tags = xrealloc(context->tags, (context->tag_count + 1) * sizeof *context->tags);
    struct buffer *indices = &context->tags[context->tag_count++];
    *indices = (struct buffer){0};
    while ((state = wire_next(&message, &field)) == WIRE_OK) {
        if (field.type != WIRE_BYTES) return false;
        if (field.number == TAGGED_ATTRIBUTE && !add_index(dictionary, field.bytes, indices)) return false;
        for (uint64_t hash; field.number == TAGGED_HASHES && wire_fixed(&field.bytes, 8, &hash) == WIRE_OK;) {
            bool added;
            struct map_entry *entry = map_put(map, &hash, sizeof hash, &added);
            if (added) entry->value = (int64_t)context->tag_count - 1;
        }
    }
    return state == WIRE_END;
}

static void add_slice(struct wire **list, size_t *count, struct wire slice) {
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = slice;
}

static bool read_field(struct otlp_context *context, const struct wire_field *field,
                       struct otlp_dictionary *dictionary) {
    if (field->number == CONTEXT_IS_PPROF) context->is_pprof = field->value != 0;
    if (field->number == CONTEXT_IS_WHOLE) context->is_whole = field->value != 0;
    if (field->number == CONTEXT_IS_PPROF || field->number == CONTEXT_IS_WHOLE) return true;
    if (field->type != WIRE_BYTES) return false;
    switch ((enum otlp_context_field)field->number) {
    case CONTEXT_RESOURCE: context->resource = field->bytes; return true;
    case CONTEXT_RESOURCE_SCHEMA: context->resource_schema = field->bytes; return true;
    case CONTEXT_SCOPE: context->scope = field->bytes; return true;
    case CONTEXT_SCOPE_SCHEMA: context->scope_schema = field->bytes; return true;
    case CONTEXT_DEFAULT_TYPE: context->default_type = field->bytes; return true;
    case CONTEXT_TYPE: add_slice(&context->types, &context->type_count, field->bytes); return true;
    case CONTEXT_PERIOD_TYPE: context->period_type = field->bytes; return true;
    case CONTEXT_HEAD: add_slice(&context->heads, &context->head_count, field->bytes); return true;
    case CONTEXT_ATTRIBUTE: return add_index(dictionary, field->bytes, &context->attributes);
    case CONTEXT_LOCATIONS: return read_tags(context, field->bytes, &context->locations, dictionary);
    case CONTEXT_MAPPINGS: return read_tags(context, field->bytes, &context->mappings, dictionary);
    default: return true; /* of a newer clear */
    }
}

bool otlp_context_read(struct otlp_context *context, const char *comment, struct otlp_dictionary *dictionary) {
    *context = (struct otlp_context){0};
    if (!otlp_is_context(comment)) return false;
    char *end;
    context->part = strtol(comment + strlen(OTLP_CONTEXT), &end, 10);
    if (!base64_decode(&context->bytes, end + 1)) return false;
    const uint8_t *bytes = (const uint8_t *)buffer_text(&context->bytes);
    struct wire message = {bytes, bytes + context->bytes.size};
    struct wire_field field = {0};
    enum wire_state state;
    while ((state = wire_next(&message, &field)) == WIRE_OK)
        if (!read_field(context, &field, dictionary)) return false;
    return state == WIRE_END && context->part > 0;
}

void otlp_context_free(struct otlp_context *context) {
    for (size_t i = 0; i < context->tag_count; i++)
        buffer_free(&context->tags[i]);
    free(context->tags);
    free(context->heads);
    free(context->types);
    buffer_free(&context->bytes);
    buffer_free(&context->attributes);
    map_free(&context->locations);
    map_free(&context->mappings);
}

const struct buffer *otlp_tags_of(const struct otlp_context *context, const struct map *map, uint64_t hash) {
    const struct map_entry *entry = map->count ? map_find(map, &hash, sizeof hash) : NULL;
    return entry ? &context->tags[entry->value] : NULL;
}
