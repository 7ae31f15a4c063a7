/* utf8.h: is it text? */
#ifndef CLEAR_BASE_UTF8_H
#define CLEAR_BASE_UTF8_H

#include <stddef.h>

/* The offset of the first byte that is a NUL or no part of a valid UTF-8 sequence (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF); `size` where there is none. */
size_t utf8_bad_byte(const char *text, size_t size);

#endif
