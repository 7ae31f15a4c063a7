#include "base/buffer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hex.h"
#include "base/utf8.h"

void buffer_reserve(struct buffer *buffer, size_t more) {
    size_t wanted = buffer->size + more + 1;
    if (wanted <= buffer->capacity) return;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < wanted)
        capacity *= 2;
    buffer->data = xrealloc(buffer->data, capacity);
    buffer->capacity = capacity;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t size) {
    buffer_reserve(buffer, size);
    if (size) memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void buffer_add_text(struct buffer *buffer, const char *text) {
    buffer_add(buffer, text, strlen(text));
}

void buffer_add_char(struct buffer *buffer, char c) {
    buffer_add(buffer, &c, 1);
}

void buffer_add_hex(struct buffer *buffer, const void *bytes, size_t size) {
    buffer_reserve(buffer, 2 * size);
    hex_bytes(buffer->data + buffer->size, bytes, size);
    buffer->size += 2 * size;
}

void buffer_printf(struct buffer *buffer, const char *format, ...) {
    enum { MOSTLY = 64 };
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    buffer_reserve(buffer, MOSTLY);
    size_t room = buffer->capacity - buffer->size;
    int length = vsnprintf(buffer->data + buffer->size, room, format, args);
    va_end(args);
    if (length < 0) bug("bad format %s", format);
    if ((size_t)length >= room) {
        buffer_reserve(buffer, (size_t)length);
        vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
    }
    va_end(again);
    buffer->size += (size_t)length;
}

static bool is_obeyed(const char *at, size_t left) {
    return *at != '\n' && *at != '\t' && *at != '\r' && utf8_is_control(at, left);
}

void buffer_make_visible(struct buffer *buffer) {
    struct buffer visible = {0};
    const char *bytes = buffer->data;
    size_t start = 0;
    for (size_t i = 0; i < buffer->size; i++) {
        if (!is_obeyed(bytes + i, buffer->size - i)) continue;
        size_t size = utf8_length(bytes + i, buffer->size - i);
        buffer_add(&visible, bytes + start, i - start);
        for (size_t at = i; at < i + size; at++)
            buffer_printf(&visible, "\\x%02x", (unsigned char)bytes[at]);
        start = i + size;
        i = start - 1;
    }
    if (!start) return;
    buffer_add(&visible, bytes + start, buffer->size - start);
    buffer_free(buffer);
    *buffer = visible;
}

void buffer_clear(struct buffer *buffer) {
    buffer->size = 0;
    if (buffer->data) buffer->data[0] = '\0';
}

void buffer_free(struct buffer *buffer) {
    free(buffer->data);
    *buffer = (struct buffer){0};
}

char *buffer_take(struct buffer *buffer) {
    buffer_reserve(buffer, 0);
    char *data = buffer->data;
    data[buffer->size] = '\0';
    *buffer = (struct buffer){0};
    return data;
}

const char *buffer_text(const struct buffer *buffer) {
    return buffer->data ? buffer->data : "";
}

/* A character of a JSON string; returns its bytes. */
static size_t add_json_character(struct buffer *buffer, const char *text, size_t left) {
    size_t length = utf8_length(text, left);
    if (length == 0)
        buffer_add_text(buffer, "\xef\xbf\xbd");
    else if (utf8_is_control(text, left))
        buffer_printf(buffer, "\\u%04x", (unsigned char)text[length - 1]); /* of C1 the second byte is the number */
    else
        buffer_add(buffer, text, length);
    return length ? length : 1;
}

void buffer_add_json_string(struct buffer *buffer, const char *text, size_t size) {
    buffer_add_char(buffer, '"');
    for (size_t i = 0; i < size;) {
        if (text[i] == '"' || text[i] == '\\') buffer_add_char(buffer, '\\');
        i += add_json_character(buffer, text + i, size - i);
    }
    buffer_add_char(buffer, '"');
}

void buffer_add_json_value(struct buffer *buffer, const char *json) {
    for (size_t left = strlen(json); left;) {
        bool is_blank = *json == '\n' || *json == '\r' || *json == '\t'; /* between values: a string has none */
        if (is_blank) buffer_add_char(buffer, *json);
        size_t length = is_blank ? 1 : add_json_character(buffer, json, left);
        json += length;
        left -= length;
    }
}

void buffer_add_json_text(struct buffer *buffer, const char *text) {
    buffer_add_json_string(buffer, text, strlen(text));
}

void buffer_add_json_field(struct buffer *buffer, const char *key, const char *text) {
    buffer_add_json_text(buffer, key);
    buffer_add_char(buffer, ':');
    buffer_add_json_text(buffer, text);
}

void buffer_add_json_integers(struct buffer *buffer, const int64_t *values, size_t count) {
    buffer_add_char(buffer, '[');
    for (size_t i = 0; i < count; i++)
        buffer_printf(buffer, "%s%" PRId64, i ? "," : "", values[i]);
    buffer_add_char(buffer, ']');
}
