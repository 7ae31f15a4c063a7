/* protobuf.h: writes fields of protocol buffers where no generated code is wanted: long streams of small messages, whose fields are written
 * as they come. A message is the concatenation of its fields; the reader's .proto says what their numbers mean. */
#ifndef CLEAR_BASE_PROTOBUF_H
#define CLEAR_BASE_PROTOBUF_H

#include "base/buffer.h"

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };
enum { PROTOBUF_VARINT_MAX = 10 }; /* bytes of the longest */

void protobuf_add_varint(struct buffer *out, uint64_t value);
/* A field of any integer type but sint32, sint64 and the fixed ones; a negative value takes 10 bytes. */
void protobuf_add_int(struct buffer *out, unsigned field, int64_t value);
/* Likewise, but 0, which a reader takes for a field that is not there, is left out. */
static inline void protobuf_add_nonzero(struct buffer *out, unsigned field, uint64_t value) {
    if (value) protobuf_add_int(out, field, (int64_t)value);
}
void protobuf_add_fixed64(struct buffer *out, unsigned field, uint64_t value);
void protobuf_add_bytes(struct buffer *out, unsigned field, const void *bytes, size_t size);
void protobuf_add_text(struct buffer *out, unsigned field, const char *text);
/* A repeated field of an integer type as protobuf_add_int, packed; nothing where there are none. */
void protobuf_add_packed(struct buffer *out, unsigned field, const uint64_t *values, size_t count);

/* A message in a message: what is added between the two calls is its content. They nest. */
size_t protobuf_begin(struct buffer *out, unsigned field); /* returns what protobuf_end takes */
void protobuf_end(struct buffer *out, size_t begin);

#endif
