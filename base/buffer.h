/* buffer.h: bytes that grow. `data` always ends in a NUL that `size` does not count, so text can be used as a string.
 * A zeroed struct is an empty buffer. The owner calls buffer_free; buffer_take hands the bytes to a new owner. */
#ifndef CLEAR_BASE_BUFFER_H
#define CLEAR_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *data; /* NULL while nothing was ever added: use buffer_text() where a string is wanted */
    size_t size;
    size_t capacity;
};

void buffer_reserve(struct buffer *buffer, size_t more);
void buffer_add(struct buffer *buffer, const void *bytes, size_t size);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_add_hex(struct buffer *buffer, const void *bytes, size_t size); /* two lower-case digits a byte */
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_clear(struct buffer *buffer); /* empties it and keeps the memory */
void buffer_free(struct buffer *buffer);
char *buffer_take(struct buffer *buffer);             /* NUL-terminated, free() it; the buffer is empty afterwards */
const char *buffer_text(const struct buffer *buffer); /* never NULL */

/* JSON: a quoted, escaped string. Invalid UTF-8 becomes U+FFFD, so that what we write is always valid JSON. */
void buffer_add_json_string(struct buffer *buffer, const char *text, size_t size);
void buffer_add_json_text(struct buffer *buffer, const char *text);                   /* up to its NUL */
void buffer_add_json_field(struct buffer *buffer, const char *key, const char *text); /* "key":"text" */
/* JSON that functions of SQLite made of texts, which leave bytes that are no UTF-8, DEL and C1 as they are: its strings become as above. */
void buffer_add_json_value(struct buffer *buffer, const char *json);

void buffer_add_json_integers(struct buffer *buffer, const int64_t *values, size_t count); /* [1,2] */

/* Replaces control characters other than tabs and line ends, which a terminal would obey, by \x1b and the like. */
void buffer_make_visible(struct buffer *buffer);

#endif
