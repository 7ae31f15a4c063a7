/* perf_data_bytes.h: takes little-endian fields from bytes that are not trusted. What lies behind the end reads as zero and
 * sets `is_short`, so that a decoder checks once at the end of a record and not after every field. */
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

/* An array of 64-bit fields, unread: take its members with words_at, because nothing says that they are aligned. */
static inline const unsigned char *bytes_words(struct bytes *bytes, uint64_t count) {
    if (count > bytes->left / 8) count = UINT64_MAX; /* no product to overflow */
    return bytes_take(bytes, count == UINT64_MAX ? count : count * 8);
}

static inline uint64_t words_at(const unsigned char *words, size_t index) {
    uint64_t value;
    memcpy(&value, words + index * 8, sizeof value);
    return value;
}

/* A text that ends at a NUL or at the end of the bytes. All of them are taken. */
static inline const char *bytes_text(struct bytes *bytes, size_t *size) {
    const char *text = (const char *)bytes->at;
    *size = bytes->left ? strnlen(text, bytes->left) : 0;
    bytes->at += bytes->left;
    bytes->left = 0;
    return text;
}

#endif
