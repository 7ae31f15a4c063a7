/* bytes.h: reads little-endian fields from bytes that are not trusted. A field beyond the end reads as zero and sets
 * `is_short`, so a decoder checks once at the end of a record. */
#ifndef CLEAR_INGEST_READ_PERF_BYTES_H
#define CLEAR_INGEST_READ_PERF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const unsigned char *at;
    size_t left;
    bool is_short;
};

/* The next `size` bytes, or NULL where there are not so many. */
static inline const unsigned char *bytes_take(struct bytes *bytes, uint64_t size) {
    if (size > bytes->left) {
        bytes->is_short = true;
        bytes->left = 0;
        return NULL;
    }
    const unsigned char *at = bytes->at;
    bytes->at += size;
    bytes->left -= size;
    return at;
}

static inline uint64_t bytes_u64(struct bytes *bytes) {
    uint64_t value = 0;
    const unsigned char *at = bytes_take(bytes, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t bytes_u32(struct bytes *bytes) {
    uint32_t value = 0;
    const unsigned char *at = bytes_take(bytes, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

static inline uint16_t bytes_u16(struct bytes *bytes) {
    uint16_t value = 0;
    const unsigned char *at = bytes_take(bytes, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

/* Skips an array of 64-bit fields and returns it. It may be unaligned: read its members with words_at. */
static inline const unsigned char *bytes_words(struct bytes *bytes, uint64_t count) {
    if (count > bytes->left / 8) count = UINT64_MAX; /* no product to overflow */
    return bytes_take(bytes, count == UINT64_MAX ? count : count * 8);
}

static inline uint64_t words_at(const unsigned char *words, size_t index) {
    uint64_t value;
    memcpy(&value, words + index * 8, sizeof value);
    return value;
}

/* The text up to a NUL or the end of the bytes. Takes all bytes. */
static inline const char *bytes_text(struct bytes *bytes, size_t *size) {
    const char *text = (const char *)bytes->at;
    *size = bytes->left ? strnlen(text, bytes->left) : 0;
    bytes->at += bytes->left;
    bytes->left = 0;
    return text;
}

#endif
