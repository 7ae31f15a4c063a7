#include "ingest/receive/envelope.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/protobuf.h"

enum { ENVELOPE_PROTOCOL = 1, ENVELOPE_GZIP, ENVELOPE_JSON, ENVELOPE_QUERY, ENVELOPE_TYPE };

void envelope_add(struct buffer *out, const struct envelope *envelope) {
    struct buffer message = {0};
    protobuf_add_int(&message, ENVELOPE_PROTOCOL, envelope->protocol);
    protobuf_add_nonzero(&message, ENVELOPE_GZIP, envelope->is_gzip);
    protobuf_add_nonzero(&message, ENVELOPE_JSON, envelope->is_json);
    protobuf_add_text(&message, ENVELOPE_QUERY, envelope->query);
    protobuf_add_text(&message, ENVELOPE_TYPE, envelope->type);
    protobuf_add_varint(out, message.size);
    buffer_add(out, message.data, message.size);
    buffer_free(&message);
}

/* A text ends at its first NUL. */
static char *copy(struct wire text) {
    return xasprintf("%.*s", (int)wire_size(text), (const char *)text.at);
}

static void take(char **text, const struct wire_field *field) {
    if (field->type != WIRE_BYTES || wire_size(field->bytes) > INT32_MAX) return;
    free(*text);
    *text = copy(field->bytes);
}

bool envelope_read(struct envelope *envelope, struct wire *bytes) {
    struct wire message = *bytes;
    struct wire_field field = {0};
    enum wire_state state;
    uint64_t size;
    *envelope = (struct envelope){.query = xstrdup(""), .type = xstrdup("")};
    if (wire_varint(&message, &size) != WIRE_OK || size > wire_size(message)) return false;
    message.end = message.at + size;
    bytes->at = message.end;
    while ((state = wire_next(&message, &field)) == WIRE_OK) {
        if (field.number == ENVELOPE_QUERY) take(&envelope->query, &field);
        if (field.number == ENVELOPE_TYPE) take(&envelope->type, &field);
        if (field.type != WIRE_VARINT) continue;
        if (field.number == ENVELOPE_GZIP) envelope->is_gzip = field.value != 0;
        if (field.number == ENVELOPE_JSON) envelope->is_json = field.value != 0;
        if (field.number == ENVELOPE_PROTOCOL && field.value < RECEIVE_PROTOCOLS)
            envelope->protocol = (enum receive_protocol)field.value;
    }
    return state == WIRE_END && envelope->protocol != RECEIVE_NONE;
}

void envelope_free(struct envelope *envelope) {
    free(envelope->query);
    free(envelope->type);
    *envelope = (struct envelope){0};
}
