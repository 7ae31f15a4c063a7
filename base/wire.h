/* wire.h: the wire format of protocol buffers, read field by field and without copies. For messages that are too many
 * or too large to be unpacked into structs: protobuf-c calls malloc for each part of each of 500,000 samples. */
#ifndef CLEAR_BASE_WIRE_H
#define CLEAR_BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire {
    const uint8_t *at, *end;
};

static inline size_t wire_size(struct wire bytes) {
    return (size_t)(bytes.end - bytes.at);
}

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint64_t number;
    enum wire_type type;
    uint64_t value;    /* of a varint or fixed one */
    struct wire bytes; /* of WIRE_BYTES */
};

enum wire_state {
    WIRE_END = 0,
    WIRE_OK = 1,
    WIRE_CUT = -1,       /* the message ends in the middle of a field */
    WIRE_TOO_LONG = -2,  /* a number of more than 64 bits */
    WIRE_BAD_FIELD = -3, /* field number 0, or a wire type that does not exist (any more) */
};

static inline const char *wire_problem(enum wire_state state) {
    return state == WIRE_TOO_LONG    ? "a number of more than 64 bits"
           : state == WIRE_BAD_FIELD ? "not a field of a protocol buffer"
                                     : "the message is truncated in a field";
}

static inline enum wire_state wire_varint(struct wire *wire, uint64_t *value) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *value = *wire->at++;
        return WIRE_OK;
    }
    uint64_t sum = 0;
    for (unsigned shift = 0; wire->at < wire->end; shift += 7) {
        uint8_t byte = *wire->at++;
        if (shift == 63 && byte > 1) return WIRE_TOO_LONG;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return WIRE_OK;
        }
    }
    return WIRE_CUT;
}

static inline enum wire_state wire_fixed(struct wire *wire, size_t size, uint64_t *value) {
    if ((size_t)(wire->end - wire->at) < size) return WIRE_CUT;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)wire->at[i] << (8 * i);
    wire->at += size;
    return WIRE_OK;
}

/* WIRE_OK: a field; WIRE_END: there is none left; else what is wrong, at about wire->at. */
static inline enum wire_state wire_next(struct wire *wire, struct wire_field *field) {
    uint64_t key;
    if (wire->at == wire->end) return WIRE_END;
    enum wire_state state = wire_varint(wire, &key);
    if (state != WIRE_OK) return state;
    field->number = key >> 3;
    field->type = (enum wire_type)(key & 7);
    if (field->number == 0) return WIRE_BAD_FIELD;
    switch (field->type) {
    case WIRE_VARINT: return wire_varint(wire, &field->value);
    case WIRE_FIXED64: return wire_fixed(wire, 8, &field->value);
    case WIRE_FIXED32: return wire_fixed(wire, 4, &field->value);
    case WIRE_BYTES:
        state = wire_varint(wire, &field->value);
        if (state != WIRE_OK) return state;
        if (field->value > (size_t)(wire->end - wire->at)) return WIRE_CUT;
        field->bytes = (struct wire){wire->at, wire->at + field->value};
        wire->at += field->value;
        return WIRE_OK;
    }
    return WIRE_BAD_FIELD;
}

#endif
