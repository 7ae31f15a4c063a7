/* utf8.h: checks UTF-8. */
#ifndef CLEAR_BASE_UTF8_H
#define CLEAR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at `text`, of which `left` can be read; 0 where there is no valid one. A NUL is a
 * character. */
size_t utf8_length(const char *text, size_t left);

/* The offset of the first byte that is a NUL or no part of a valid character; `size` where there is none. */
size_t utf8_bad_byte(const char *text, size_t size);

/* Characters of a text. Of one that is not UTF-8, the bytes that can begin a character. */
size_t utf8_count(const char *text);

/* Is the character there one that a terminal would obey: C0, DEL, or C1 (U+0080 to U+009F)? */
bool utf8_is_control(const char *text, size_t left);

#endif
