#include "base/protobuf.h"

#include <string.h>

static size_t encode_varint(unsigned char *bytes, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return size;
}

void protobuf_add_varint(struct buffer *out, uint64_t value) {
    buffer_reserve(out, PROTOBUF_VARINT_MAX);
    out->size += encode_varint((unsigned char *)out->data + out->size, value);
    out->data[out->size] = '\0';
}

static void add_tag(struct buffer *out, unsigned field, enum protobuf_wire wire) {
    protobuf_add_varint(out, (uint64_t)field << 3 | wire);
}

void protobuf_add_int(struct buffer *out, unsigned field, int64_t value) {
    add_tag(out, field, PROTOBUF_VARINT);
    protobuf_add_varint(out, (uint64_t)value);
}

void protobuf_add_fixed64(struct buffer *out, unsigned field, uint64_t value) {
    unsigned char bytes[sizeof value];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    add_tag(out, field, PROTOBUF_FIXED64);
    buffer_add(out, bytes, sizeof bytes);
}

void protobuf_add_bytes(struct buffer *out, unsigned field, const void *bytes, size_t size) {
    add_tag(out, field, PROTOBUF_BYTES);
    protobuf_add_varint(out, size);
    buffer_add(out, bytes, size);
}

void protobuf_add_text(struct buffer *out, unsigned field, const char *text) {
    protobuf_add_bytes(out, field, text, strlen(text));
}

/* The length stands before the content and is known after it. Most messages are short: one byte is left for it, and a longer content
 * moves up. */
size_t protobuf_begin(struct buffer *out, unsigned field) {
    add_tag(out, field, PROTOBUF_BYTES);
    buffer_add_char(out, '\0');
    return out->size;
}

void protobuf_end(struct buffer *out, size_t begin) {
    unsigned char length[PROTOBUF_VARINT_MAX];
    size_t content = out->size - begin, size = encode_varint(length, content);
    buffer_reserve(out, PROTOBUF_VARINT_MAX);
    if (size > 1) memmove(out->data + begin - 1 + size, out->data + begin, content);
    memcpy(out->data + begin - 1, length, size);
    out->size += size - 1;
    out->data[out->size] = '\0';
}

void protobuf_add_packed(struct buffer *out, unsigned field, const uint64_t *values, size_t count) {
    if (!count) return;
    size_t begin = protobuf_begin(out, field);
    buffer_reserve(out, count * PROTOBUF_VARINT_MAX);
    for (size_t i = 0; i < count; i++)
        out->size += encode_varint((unsigned char *)out->data + out->size, values[i]);
    protobuf_end(out, begin);
}
